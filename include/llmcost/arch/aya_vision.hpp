// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/cohere.hpp>
#include <llmcost/arch/llava.hpp>

namespace llmcost::arch {

namespace aya_vision_detail {

enum own : std::uint8_t { downsample, inner_width };
inline constexpr own_key keys[]{
    {"downsample_factor", 2}, {.value = own_value::computed},  // `alignment_intermediate_size`
};

/// Squares of patches side by side, normed, through a gated block (`AyaVisionMultiModalProjector`).
struct square_projector {
    site here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("MultiModalProjector"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t inner = here.whole.own[inner_width],
                           square = here.whole.own[downsample] * here.whole.own[downsample];
        const std::int64_t width = x.dim(-1) * square;
        const value squares = t.constant({x.dim(0), x.dim(1) / square, width}, x.type);
        const value normed = t.call("layernorm", norm<norm_kind::layer>{width}, squares);
        const value both = t.call("linear_1", linear{width, inner, true}, normed);
        const value half = both.slice(-1, inner / 2);
        const value h = t.mul(t.call("act", activation_module{activation::silu}, half), half);
        return t.call("linear_2", linear{inner / 2, here.dims.hidden_size, true}, h);
    }
};

constexpr value base(const site& here, trace& t) {
    {
        const recorder::idle_guard no_pixels{t};
        (void)t.call("multi_modal_projector", square_projector{here},
                     describe_tower(here, t, 0, "vision_tower", role::vision));
    }
    return describe_text(here, t, "language_model");
}

constexpr void read(config_view config, model& m) {
    m.own[inner_width] = config.positive("alignment_intermediate_size", m.dims.hidden_size);
    (void)checked_width(config, "downsample_factor", m.own[downsample] * m.own[downsample], m.beside[0].dims.hidden_size);
    const string_ref strategy = config.string("vision_feature_select_strategy", "full");
    if (strategy != "full" && strategy != "default")
        fail_value(config, "vision_feature_select_strategy", "\"default\" or \"full\"");
}

inline constexpr architecture siglip_of_aya = llava_detail::siglip_of(14);

}  // namespace aya_vision_detail

// transformers/models/aya_vision: SigLIP and Cohere 2, squares of patches through a gated block
inline constexpr architecture aya_vision = [](architecture a) {
    a.model_type = "aya_vision", a.prefix = "AyaVision", a.base = aya_vision_detail::base;
    a.read_whole = aya_vision_detail::read, a.own = aya_vision_detail::keys, a.defaults.tie_word_embeddings = true;
    a.text = {.key = "text_config", .otherwise = &cohere2};
    a.beside[0] = {.key = "vision_config", .otherwise = &siglip_vision_model, .missing = &aya_vision_detail::siglip_of_aya};
    return a;
}(shared_composite);

}  // namespace llmcost::arch
