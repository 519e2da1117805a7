// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/lfm2.hpp>
#include <llmcost/arch/siglip.hpp>
#include <llmcost/walks/composite.hpp>

namespace llmcost::arch {

namespace lfm2_vl_detail {

enum own : std::uint8_t { downsample_factor, projector_width, projector_bias, projector_norm, projector_act };
inline constexpr own_key keys[]{
    {"downsample_factor", 2},  // patches along a side that become one token
    {"projector_hidden_size", 2560},
    {"projector_bias", 1, own_value::boolean},
    {"projector_use_layernorm", 1, own_value::boolean},
    {.otherwise = static_cast<std::int64_t>(activation::gelu), .value = own_value::computed},
};

/// Squares of patches side by side, normed, through two projections.
struct square_projector {
    site here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("MultiModalProjector"); }
    constexpr value describe(trace& t, const value& x) const {
        const own_sizes& own = here.whole.own;
        const std::int64_t square = own[downsample_factor] * own[downsample_factor], in = x.dim(2) * square;
        value h = t.constant({x.dim(0), x.dim(1) / square, in}, x.type);
        if (own[projector_norm] != 0) h = t.call("layer_norm", norm<norm_kind::layer>{in}, h);
        const projector both{type(),
                             in,
                             own[projector_width],
                             here.dims.hidden_size,
                             own[projector_bias] != 0,
                             static_cast<activation>(own[projector_act])};
        return both.describe(t, h);
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

constexpr void read_whole(config_view config, model& m) {
    if (const auto name = config.optional_string("projector_hidden_act"))
        m.own[projector_act] = static_cast<std::int64_t>(activation_named(config, "projector_hidden_act", *name));
}

}  // namespace lfm2_vl_detail

// transformers/models/lfm2_vl: SigLIP 2 in front of LFM2, squares of patches merged
inline constexpr architecture lfm2_vl = [](architecture a) {
    a.model_type = "lfm2_vl", a.prefix = "Lfm2Vl", a.base = lfm2_vl_detail::base, a.own = lfm2_vl_detail::keys;
    a.read_whole = lfm2_vl_detail::read_whole;
    a.text = {.key = "text_config", .otherwise = &lfm2};
    a.beside[0] = {.key = "vision_config", .otherwise = &siglip2_vision_model};
    a.keys[0] = {"tie_word_embeddings", "tie_embedding"}, a.defaults.tie_word_embeddings = true;
    return a;
}(shared_composite);

}  // namespace llmcost::arch
