// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/arch/sam.hpp>
#include <llmcost/arch/siglip.hpp>
#include <llmcost/walks/media.hpp>

namespace llmcost::arch {

namespace deepseek_vl_detail {

struct aligner {
    site here;

    static constexpr role what = role::projector;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Aligner"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size;
        const value h = t.call("activation", gelu_module{}, t.call("linear1", linear{x.dim(-1), width, true}, x));
        return t.call("linear2", linear{width, width, true}, h);
    }
};

constexpr value base(const site& here, trace& t) {
    return describe_text_after(here, t, "language_model", [&](const value& words) {
        const recorder::idle_guard no_pixels{t, !sees_images(t)};
        const recorder::workload_guard shown{t, pictures(t.load(), images_in(t), 0, 0)};
        const value states = describe_tower(here, t, 0, "vision_model", role::vision);
        return t.masked_scatter(words, t.call("aligner", aligner{here}, states));
    });
}

/// Both towers' states, projected to half of the width each.
struct hybrid_aligner {
    site here;

    static constexpr role what = role::projector;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Aligner"); }
    constexpr value describe(trace& t, const value& x, const value& sharp) const {
        const std::int64_t width = here.dims.hidden_size, half = width / 2;
        const value low = t.call("vision_proj", linear{x.dim(-1), half, true}, x);
        const value high = t.call("high_res_vision_proj", linear{sharp.dim(-1), half, true}, sharp);
        const value both = t.call("act", gelu_module{}, t.cat({high, low}, -1));
        return t.call("proj", linear{width, width, true}, both);
    }
};

/// SAM's states resized to four times SigLIP's grid, which two convolutions halve again; they are called twice.
struct narrowing {
    std::int64_t side;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {"DeepseekVL", "SamVisionProj"}; }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t channels = x.dim(1);
        const value resized = t.bilinear(x, 4 * side, 4 * side);
        const value h = t.call("conv1", convolution_2d{channels, 2 * channels, 3, 2, 1, 1, false}, resized);
        return t.call("conv2", convolution_2d{2 * channels, 4 * channels, 3, 2, 1, 1, false}, h);
    }
};

/// SAM's states of its last layer and of its first one that sees everything, each through necks: (B, patches, width).
constexpr value sharp_states(const site& here, trace& t) {
    const sizes& sam = here.whole.beside[1].dims;
    const vision_sizes& image = here.whole.beside[0].dims.vision;
    const narrowing narrow{image.image_height / image.patch_size};
    const value alpha = t.param("high_res_vision_alpha", {1});
    const value last = describe_tower(here, t, 1, "high_res_vision_model", role::vision);
    const value high = t.call("high_res_vision_proj", narrow, last);
    value inner = trace::buffer({last.dim(0), last.dim(2), last.dim(3), sam.hidden_size});
    inner.type = last.type, inner.requires_grad = last.requires_grad;
    const value first = sam_detail::describe_neck(t, "high_res_vision_neck", {"DeepseekVL", "SamVisionNeck"},
                                                  here.type("LayerNorm"), sam.own[sam_detail::output_channels], inner);
    const recorder::called_again_guard again{t};
    const value both = t.add(high, t.mul(t.call("high_res_vision_proj", narrow, first), alpha));
    return t.reshape(both.permute({0, 2, 3, 1}), {both.dim(0), -1, both.dim(1)});
}

constexpr value base_hybrid(const site& here, trace& t) {
    return describe_text_after(here, t, "language_model", [&](const value& words) {
        const recorder::idle_guard no_pixels{t, !sees_images(t)};
        const recorder::workload_guard shown{t, pictures(t.load(), images_in(t), 0, 0)};
        const value plain = describe_tower(here, t, 0, "vision_model", role::vision);
        const value sharp = sharp_states(here, t);
        return t.masked_scatter(words, t.call("aligner", hybrid_aligner{here}, plain, sharp));
    });
}

/// The two halves of the width are put together for a projection of the whole.
constexpr void read_hybrid(config_view config, model& m) {
    if (m.dims.hidden_size % 2 != 0) fail_unsupported(config, "text_config", "halves of an odd width do not make a whole");
}

}  // namespace deepseek_vl_detail

// transformers/models/deepseek_vl: SigLIP in front of Llama
inline constexpr architecture deepseek_vl = [](architecture a) {
    a.model_type = "deepseek_vl", a.prefix = "DeepseekVL", a.base = deepseek_vl_detail::base;
    a.media = patches_as_tokens, a.reads.images = true;
    a.text = {.key = "text_config", .otherwise = &llama};
    a.beside[0] = {.key = "vision_config", .otherwise = &siglip_vision_model};
    a.defaults.tie_word_embeddings = true;
    return a;
}(shared_composite);

// transformers/models/deepseek_vl_hybrid: SAM's encoder beside SigLIP
inline constexpr architecture deepseek_vl_hybrid = [](architecture a) {
    a.model_type = "deepseek_vl_hybrid", a.prefix = "DeepseekVLHybrid", a.base = deepseek_vl_detail::base_hybrid;
    a.read_whole = deepseek_vl_detail::read_hybrid;
    a.beside[1] = {.key = "high_res_vision_config", .otherwise = &sam_vision_model};
    return a;
}(deepseek_vl);

}  // namespace llmcost::arch
