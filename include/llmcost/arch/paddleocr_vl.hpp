// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/qwen2_vl.hpp>

namespace llmcost::arch {

namespace paddleocr_vl_detail {

using qwen2_vl_detail::patch, qwen2_vl_detail::channels, qwen2_vl_detail::merge;
enum own : std::uint8_t { image = qwen2_vl_detail::width };
inline constexpr own_key keys[]{
    {"patch_size", 14},          {.otherwise = 1, .value = own_value::computed},  // a patch is of one frame
    {"num_channels", 3},         {"spatial_merge_size", 2},
    {"image_size", 384},
};
inline constexpr own_key bound_keys[]{
    {.otherwise = 384 * 384, .value = own_value::computed},
    {.otherwise = 1536 * 1536, .value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},
};

/// Patches with learned positions: (S, width).
constexpr value embed(const site& here, trace& t, std::int64_t patches) {
    const own_sizes& own = here.dims.own;
    const std::int64_t in = here.dims.hidden_size, rows = own[image] / own[patch];
    const module_info embeddings{.name = "embeddings", .type = here.type("VisionEmbeddings"), .what = role::embedding};
    t.enter(embeddings);
    const value pixels = t.input({patches, own[channels], own[patch], own[patch]});
    const convolution_2d convolution{own[channels], in, own[patch], own[patch]};
    const value embedded = t.call("patch_embedding", convolution, pixels).view({patches, in});
    const value places = resampled_middles(t, "position_embedding", rows * rows, in, patches);
    return t.leave(embeddings, t.add(embedded, t.to(places, embedded.type)));
}

/// Patches with learned and rotary positions, layers, a norm.
constexpr value see(const site& here, trace& t) {
    const std::int64_t in = here.dims.hidden_size;
    packed_context made{.pictures = qwen2_vl_detail::grid_of(here, t)};
    const module_info model{.name = "vision_model", .type = here.type("VisionTransformer")};
    const module_info encoder{.name = "encoder", .type = here.type("VisionEncoder")};
    t.enter(model);
    value x = embed(here, t, made.pictures.patches());
    t.enter(encoder);
    const packed_table table{in / here.dims.num_attention_heads, here.type("VisionRotaryEmbedding")};
    const two_values turns = t.call("rotary_pos_emb", table, made.pictures.patches());
    made.cos = turns.first, made.sin = turns.second;
    for (repetition each = t.repeat(here.dims.num_hidden_layers, x); each.next();)
        x = t.call({"layers", each.index()}, packed_layer{here, made}, x);
    x = t.leave(encoder, x);
    return t.leave(model, t.call("post_layernorm", norm<norm_kind::layer>{in}, x));
}

/// Several patches as one word, picture by picture: (S, width) -> (S / many, out).
struct projector_of_patches {
    std::int64_t merged;
    std::int64_t out;

    static constexpr role what = role::projector;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {"PaddleOCR", "Projector"}; }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t in = x.dim(1), all = in * merged * merged;
        const value normed = t.call("pre_norm", norm<norm_kind::layer>{in}, x);
        const value blocks = t.copy(normed).view({-1, all});
        const value h = t.call("act", activation_module{activation::gelu}, t.call("linear_1", linear{all, all, true}, blocks));
        return t.cat({t.call("linear_2", linear{all, out, true}, h)}, 0);
    }
};

/// The processor makes what is thinner than a merged patch as wide as one, before it rounds.
constexpr media_shapes show(const model& m, const workload& load) {
    const own_sizes& tower = m.beside[0].dims.own;
    const std::int64_t factor = tower[patch] * tower[merge];
    workload wide = load;
    const auto enlarge = [&](std::int64_t& side, std::int64_t& other) {
        if (side == 0 || side >= factor) return;
        other = nearest_multiple(other * factor, side) / side, side = factor;  // Python's round of a quotient
    };
    enlarge(wide.image_height, wide.image_width), enlarge(wide.image_width, wide.image_height);
    return qwen2_vl_detail::show_within(m, wide, {});
}

/// What sees, several patches as one word, and what reads.
constexpr value see_and_read(const site& here, trace& t) {
    return describe_text_after(here, t, "language_model", [&](value words) {
        words = place_pictures(here, t, words, [&] {
            const value seen = describe_tower(here, t, 0, "visual", role::vision);
            const std::int64_t merged = here.component(0).dims.own[merge];
            return t.call("projector", projector_of_patches{merged, here.dims.hidden_size}, seen);
        });
        qwen2_vl_detail::place_in_time(here, t);
        return words;
    });
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
    a.media = paddleocr_vl_detail::show, a.read_processor = qwen2_vl_detail::read_processor, a.reads.images = true,
    a.own = paddleocr_vl_detail::bound_keys;
    a.read_whole = paddleocr_vl_detail::tie, a.defaults.tie_word_embeddings = true;
    return a;
}(shared_composite);

}  // namespace llmcost::arch
