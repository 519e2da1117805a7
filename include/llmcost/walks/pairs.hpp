// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/walks/encoder_model.hpp>
#include <llmcost/walks/images.hpp>
#include <llmcost/walks/media.hpp>
#include <llmcost/walks/tower.hpp>

// Models that compare texts with images: a half for each, and scores of every text and image.
namespace llmcost {

// ---- the texts' half

/// What a text's tokens see.
enum class text_mask : std::uint8_t {
    none,   ///< every token
    causal  ///< those before, without a cache
};

/// Attention under the mask that was made for all layers, where there is one: (B, S, width) -> the same.
constexpr value attend_words(const site& here, trace& t, const value& x) {
    const decoder_names& n = here.row.names;
    const std::int64_t width = here.dims.hidden_size;
    value q, k, v;
    project_in_heads(t, x, width, here.dims.num_attention_heads, {n.q, n.k, n.v}, q, k, v);
    const shared_values& made = *here.shared;
    const value* const mask = made.mask.rank > 0 ? &made.mask : nullptr;
    const value mixed = eager_attention(t, q, k, v, made.where, {.mask = mask});
    const value joined = t.contiguous(t.reshape(mixed, {x.dim(0), x.dim(1), -1}));
    return t.call(n.o, linear{width, width, here.dims.output_bias}, joined);
}

/// Words and learned positions, layers, a norm: (B, S, width).
constexpr value describe_words(const site& here, trace& t, text_mask sees) {
    const workload& load = t.load();
    const std::int64_t width = here.dims.hidden_size;
    const module_info embeddings{.name = "embeddings", .type = here.type("TextEmbeddings"), .what = role::embedding};
    t.positions(here.dims.max_position_embeddings, load.sequence);
    t.enter(embeddings);
    const value words = t.call("token_embedding", embedding{here.dims.vocab_size, width}, extents{load.batch, load.sequence});
    const embedding places{here.dims.max_position_embeddings, width};
    value x = t.add(words, t.call("position_embedding", places, extents{1, load.sequence}));
    t.leave(embeddings);
    shared_values made{.where = {.sequence = load.sequence, .causal = sees == text_mask::causal}};
    if (sees == text_mask::causal) made.mask = eager_mask(t, made.where, load.batch);
    x = encode(here, t, x, "Encoder", made);
    return t.call("final_layer_norm", norm<norm_kind::layer>{width}, x);
}

/// What pools the texts of a pair.
template <class Text>
constexpr value pool_text(const site& here, trace& t, const Text& part, literal name = "text_model") {
    const site text = here.text();
    const module_info m{.name = name, .type = text.type(text.row.names.model_type), .what = role::encoder};
    t.enter(m);
    return t.leave(m, part());
}

/// Where rows of such halves begin.
inline constexpr architecture text_tower = [](architecture a) {
    a.names.model_type = "TextModel", a.attend = attend_words;
    return a;
}(shared_tower);

// ---- the images' half

/// What pools the images of a pair: one for each text, or as many as the workload shows, each as large as the tower's own.
template <class Tower>
constexpr value pool_images(const site& here, trace& t, const Tower& tower, literal name = "vision_model") {
    const site images = here.component(0);
    const module_info m{.name = name, .type = images.type(images.row.names.model_type), .what = role::vision};
    const recorder::workload_guard shown{t, pictures(t.load(), images_in(t), 0, 0)};
    t.enter(m);
    return t.leave(m, tower());
}

/// The images' half by itself, under a classifier of its states.
template <class Classify>
constexpr value describe_image_half(const site& here, trace& t, const Classify& classify, literal name = "vision_model") {
    const module_info whole{.type = {here.row.prefix, name_of(here.dims.head)}};
    const site tower = here.text();
    t.enter(whole);
    const module_info m{.name = name, .type = tower.type(tower.row.names.model_type), .what = role::vision};
    const value x = describe_within(m, tower.row.base, tower, t);
    const recorder::idle_guard unused{t, t.load().head == logits::none};
    return t.leave(whole, t.returns(x, classify(here, t, x)));
}

/// A class that holds the images' half alone reads pixels: that half's sizes become the model's.
constexpr void keep_image_half(model& m) {
    if (m.dims.head != head_kind::image_classification) return;
    sizes dims = m.beside[0].dims;
    dims.head = m.dims.head, dims.num_labels = m.dims.num_labels;
    dims.type = m.dims.type, dims.quantized = m.dims.quantized;
    m.text = m.beside[0].kind, m.dims = dims;
}

// ---- scores

/// x over its length, which is spelled by powers (modeling_clip.py, `_get_vector_norm`): (B, width) -> the same.
constexpr value direction_by_power(trace& t, const value& x) {
    return t.div(x, t.unary(op::root_power, t.sum(t.pow(x, 2), -1, true)));
}
/// x over its length, `x / x.norm(p=2, dim=-1, keepdim=True)`.
constexpr value direction(trace& t, const value& x) { return t.div(x, t.vector_norm(x, -1, true)); }

/// Products of every text with every image times the exponential of a learned scale: (texts, images).
constexpr value score_pairs(trace& t, const value& texts, const value& images, const value& scale) {
    return t.mul(t.matmul(texts, images.transpose(0, 1)), t.exp(scale));
}

/// A processor makes every image as large as the tower's own; none of them stands in the text.
constexpr media_shapes show_pair(const model& m, const workload&) {
    const vision_sizes& image = m.beside[0].dims.vision;
    return {.image = {.height = image.image_height, .width = image.image_width}};
}

/// Where rows of such pairs begin.
inline constexpr architecture shared_pair = [](architecture a) {
    a.heads = {head_kind::none, head_kind::image_classification}, a.defaults.head = head_kind::none;
    a.media = show_pair, a.reads.images = true;
    a.text = {.key = "text_config", .always = true}, a.beside[0] = {.key = "vision_config", .always = true};
    return a;
}(shared_composite);

}  // namespace llmcost
