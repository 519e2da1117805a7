// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/gemma.hpp>
#include <llmcost/arch/siglip.hpp>
#include <llmcost/reading/processor.hpp>
#include <llmcost/walks/media.hpp>

namespace llmcost::arch {

namespace gemma3_detail {

enum own : std::uint8_t { tokens_per_image };
inline constexpr own_key keys[]{{"mm_tokens_per_image", 256}};

/// Patches averaged to fewer tokens, normed, brought to the width of the text.
struct projector_of_pools {
    site here;

    static constexpr role what = role::projector;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("MultiModalProjector"); }
    constexpr value describe(trace& t, const value& x) const {
        const sizes& tower = here.whole.beside[0].dims;
        const std::int64_t side = tower.vision.image_height / tower.vision.patch_size, width = tower.hidden_size;
        const value weight = t.param("mm_input_projection_weight", {width, here.dims.hidden_size});
        const value grid = t.contiguous(x.transpose(1, 2)).view({x.dim(0), width, side, side});
        const std::int64_t tokens = root(here.whole.own[tokens_per_image]);
        if (tokens > side && !t.idle()) report_description("an image has fewer patches than tokens");
        const std::int64_t kernel = tokens > side ? 1 : side / tokens;
        const value pooled = as_tokens(t.call("avg_pool", average_pool_2d{kernel, kernel}, grid));
        const norm<norm_kind::rms_plus_one> scale{width, here.type("RMSNorm")};
        return t.matmul(t.call("mm_soft_emb_norm", scale, pooled), weight);
    }
    /// The side of a square of so many tokens.
    [[nodiscard]] static constexpr std::int64_t root(std::int64_t tokens) {
        std::int64_t n = 1;
        while ((n + 1) * (n + 1) <= tokens) ++n;
        return n;
    }
};

/// Every image is made as large as the tower's own, and its patches to as many tokens.
constexpr media_shapes show(const model& m, const workload&) {
    const vision_sizes& image = m.beside[0].dims.vision;
    const std::int64_t wanted = projector_of_pools::root(m.own[tokens_per_image]), side = image.image_height / image.patch_size;
    const std::int64_t tokens = wanted > side ? wanted : side / (side / wanted);
    return {.image = {.tokens = tokens * tokens, .height = image.image_height, .width = image.image_width}};
}

/// No crops are made: `Gemma3Processor` says so, whatever the file does.
constexpr void read_processor(config_view told, model& m) {
    expect_resized(told), expect_picture(told, m.beside[0].dims.vision.image_height);
}

constexpr value base(const site& here, trace& t) {
    return describe_masked_text_after(here, t, "language_model", [&](const value& words) {
        const recorder::idle_guard no_pixels{t, !sees_images(t)};
        const recorder::workload_guard shown{t, pictures(t.load(), images_in(t), 0, 0)};
        const value states = describe_tower(here, t, 0, "vision_tower", role::vision);
        return t.masked_scatter(words, t.call("multi_modal_projector", projector_of_pools{here}, states));
    });
}

/// Inside of a model with a tower, which makes the masks of those kinds of layers that there are.
inline constexpr architecture text = [](architecture a) {
    a.masks = mask_rule::present;
    return a;
}(gemma3_text);

}  // namespace gemma3_detail

// transformers/models/gemma3: SigLIP in front of Gemma 3, patches averaged to fewer tokens
inline constexpr architecture gemma3 = [](architecture a) {
    a.model_type = "gemma3", a.prefix = "Gemma3", a.base = gemma3_detail::base, a.own = gemma3_detail::keys;
    a.heads = {head_kind::none, head_kind::conditional_generation, head_kind::sequence_classification};
    a.media = gemma3_detail::show, a.read_processor = gemma3_detail::read_processor, a.reads.images = true;
    a.text = {.key = "text_config", .otherwise = &gemma3_detail::text, .always = true};
    a.beside[0] = {.key = "vision_config", .otherwise = &siglip_vision_model};
    a.defaults.tie_word_embeddings = true;
    return a;
}(shared_composite);

}  // namespace llmcost::arch
