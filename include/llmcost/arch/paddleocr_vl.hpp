// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/walks/idle.hpp>
#include <llmcost/arch/qwen2_vl.hpp>

namespace llmcost::arch {

namespace paddleocr_vl_detail {

enum own : std::uint8_t { patch, channels, merge, image };
inline constexpr own_key keys[]{{"patch_size", 14}, {"num_channels", 3}, {"spatial_merge_size", 2}, {"image_size", 384}};

constexpr void describe_layer(const site& here, idle_modules& held) {
    const std::int64_t in = here.dims.hidden_size, inner = here.dims.intermediate_size;
    held.layer_norm("layer_norm1", in);
    held.within("self_attn", here.type("VisionAttention"), [&] {
        for (const literal name : {"k_proj", "v_proj", "q_proj", "out_proj"}) held.linear(name, in, in);
    });
    held.layer_norm("layer_norm2", in);
    held.within("mlp", here.type("VisionMLP"), [&] {
        held.act("activation_fn", here.dims.hidden_act);
        held.linear("fc1", in, inner);
        held.linear("fc2", inner, in);
    });
}

/// Patches with learned and rotary positions, layers, a norm.
constexpr value see(const site& here, trace& t) {
    const own_sizes& own = here.dims.own;
    const std::int64_t in = here.dims.hidden_size, rows = own[image] / own[patch];
    idle_modules held{t};
    held.within("vision_model", here.type("VisionTransformer"), [&] {
        held.within("embeddings", here.type("VisionEmbeddings"), [&] {
            held.weighted("patch_embedding", {"", "Conv2d"}, {in, own[channels], own[patch], own[patch]});
            held.embedding("position_embedding", rows * rows, in);
        });
        held.within("encoder", here.type("VisionEncoder"), [&] {
            held.list("layers", here.dims.num_hidden_layers, here.type("VisionEncoderLayer"),
                      [&] { describe_layer(here, held); });
            held.plain("rotary_pos_emb", here.type("VisionRotaryEmbedding"));
        });
        held.layer_norm("post_layernorm", in);
    });
    return {};
}

/// What sees, what reads, and between them several patches as one word.
constexpr value see_and_read(const site& here, trace& t) {
    const value x = qwen2_vl_detail::see_and_read<false>(here, t);
    const sizes& vision = here.component(0).dims;
    const std::int64_t all = vision.hidden_size * vision.own[merge] * vision.own[merge];
    idle_modules held{t};
    held.within("projector", {"PaddleOCR", "Projector"}, [&] {
        held.layer_norm("pre_norm", vision.hidden_size);
        held.linear("linear_1", all, all);
        held.act("act", activation::gelu);
        held.linear("linear_2", all, here.dims.hidden_size);
    });
    return x;
}

/// Biases everywhere or nowhere.
constexpr void read_text(config_view config, sizes& s) {
    s.attention_bias = s.output_bias = s.mlp_bias = config.boolean("use_bias", false);
    plan_one_mask(config, s);
    if (2 * read_sections(config, {3, 64}).frequencies != s.rotary_dim)
        fail_sections(config, "frequencies per axis that add up to half of a head");
}

/// A text model without a part of its own is one by default, whose embeddings are tied.
constexpr void tie(config_view config, model& m) {
    if (!config.optional_object("text_config")) m.dims.tie_word_embeddings = true;
}

}  // namespace paddleocr_vl_detail

// transformers/models/paddleocr_vl: Ernie 4.5 with positions of three axes
inline constexpr architecture paddleocr_vl_text = [](architecture a) {
    a.model_type = "paddleocr_vl_text", a.prefix = "PaddleOCR", a.read = paddleocr_vl_detail::read_text;
    a.axes = rotary_axes::sections, a.heads = {head_kind::none}, a.names.model_type = "TextModel";
    a.keys[0] = no_mlp_bias, a.keys[1] = no_attention_bias;
    a.defaults = {.vocab_size = 103424,
                  .hidden_size = 1024,
                  .intermediate_size = 3072,
                  .num_hidden_layers = 18,
                  .num_attention_heads = 16,
                  .num_key_value_heads = 2,
                  .head_dim = 128,
                  .max_position_embeddings = 131072,
                  .head = head_kind::none,
                  .tie_word_embeddings = true};
    return a;
}(shared_decoder);

// transformers/models/paddleocr_vl, PaddleOCRVisionConfig
inline constexpr architecture paddleocr_vl_vision{
    .model_type = "paddleocr_vl_vision",
    .prefix = "PaddleOCR",
    .base = paddleocr_vl_detail::see,
    .own = paddleocr_vl_detail::keys,
    .rotated = rotation::none,
    .names = {.model_type = "VisionModel"},
    .defaults = {.hidden_size = 1152,
                 .intermediate_size = 4304,
                 .num_hidden_layers = 27,
                 .num_attention_heads = 16,
                 .hidden_act = activation::gelu_pytorch_tanh},
};

// transformers/models/paddleocr_vl: the text model's keys stand at the root in older files
inline constexpr architecture paddleocr_vl = [](architecture a) {
    a.model_type = "paddleocr_vl", a.prefix = "PaddleOCRVL", a.base = paddleocr_vl_detail::see_and_read;
    a.text = {.key = "text_config", .otherwise = &paddleocr_vl_text, .always = true, .ties = true, .flat = true};
    a.beside[0] = {.key = "vision_config", .otherwise = &paddleocr_vl_vision, .always = true};
    a.read_whole = paddleocr_vl_detail::tie, a.defaults.tie_word_embeddings = true;
    return a;
}(shared_composite);

}  // namespace llmcost::arch
