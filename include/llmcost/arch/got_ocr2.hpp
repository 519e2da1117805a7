// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/qwen2.hpp>
#include <llmcost/arch/sam.hpp>
#include <llmcost/reading/processor.hpp>
#include <llmcost/walks/media.hpp>

namespace llmcost::arch {

namespace got_ocr2_detail {

/// Two convolutions that make the grid smaller, and a projection.
struct convolving_projector {
    site here;

    static constexpr role what = role::projector;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("MultiModalProjector"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t channels = x.dim(1), width = here.dims.hidden_size;
        value h = t.call("conv_upsampler1", convolution_2d{channels, 2 * channels, 3, 2, 1, 1, false}, x);
        h = t.call("conv_upsampler2", convolution_2d{2 * channels, width, 3, 2, 1, 1, false}, h);
        return t.call("multimodal_projector", linear{width, width, true}, as_tokens(h));
    }
};

/// Every image is made as large as the tower's own; two convolutions halve its grid of patches twice.
constexpr media_shapes show(const model& m, const workload&) {
    const vision_sizes& image = m.beside[0].dims.vision;
    const auto halved = [](std::int64_t side) { return (side - 1) / 2 + 1; };
    const std::int64_t side = halved(halved(image.image_height / image.patch_size));
    return {.image = {.tokens = side * side, .height = image.image_height, .width = image.image_width}};
}

constexpr void read_processor(config_view told, model& m) {
    expect_resized(told), expect_picture(told, m.beside[0].dims.vision.image_height);
}

constexpr value base(const site& here, trace& t) {
    return describe_text_after(here, t, "language_model", [&](const value& words) {
        const recorder::idle_guard no_pixels{t, !sees_images(t)};
        const recorder::workload_guard shown{t, pictures(t.load(), images_in(t), 0, 0)};
        const value states = describe_tower(here, t, 0, "vision_tower", role::vision);
        return t.masked_scatter(words, t.call("multi_modal_projector", convolving_projector{here}, states));
    });
}

// what it takes where it names no text model (configuration_got_ocr2.py, `sub_configs_defaults`)
inline constexpr architecture text = [](architecture a) {
    a.defaults.vocab_size = 151860, a.defaults.hidden_size = 1024, a.defaults.intermediate_size = 2816;
    a.defaults.num_hidden_layers = 24, a.defaults.num_attention_heads = a.defaults.num_key_value_heads = 16;
    return a;
}(qwen2);

/// `GotOcr2VisionEncoder`: SAM's, without a module around it; its inner width has a default of its own.
inline constexpr architecture tower = [](architecture a) {
    a.prefix = "GotOcr2", a.base = sam_detail::describe_encoder, a.names.model_type = "VisionEncoder";
    a.defaults.intermediate_size = 3072;
    a.read = sam_detail::read_windows, a.keys[3] = {"intermediate_size", "mlp_dim", key_rule::written_only};
    return a;
}(sam_detail::tower);

}  // namespace got_ocr2_detail

// transformers/models/got_ocr2: SAM's encoder in front of Qwen2
inline constexpr architecture got_ocr2 = [](architecture a) {
    a.model_type = "got_ocr2", a.prefix = "GotOcr2", a.base = got_ocr2_detail::base;
    a.media = got_ocr2_detail::show, a.read_processor = got_ocr2_detail::read_processor, a.reads.images = true;
    a.text = {.key = "text_config", .otherwise = &qwen2, .missing = &got_ocr2_detail::text};
    a.beside[0] = {.key = "vision_config", .otherwise = &got_ocr2_detail::tower, .always = true};
    a.defaults.tie_word_embeddings = true;
    return a;
}(shared_composite);

// transformers/models/pp_chart2table: GOT-OCR 2's classes; bare it is not in the reference's table of models
inline constexpr architecture pp_chart2table = [](architecture a) {
    a.model_type = "pp_chart2table", a.heads = {head_kind::conditional_generation};
    return a;
}(got_ocr2);

}  // namespace llmcost::arch
