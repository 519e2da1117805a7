// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/forward/encoder_model.hpp>
#include <llmcost/forward/images.hpp>
#include <llmcost/forward/multimodal.hpp>
#include <llmcost/forward/vision_encoder.hpp>

// Dual encoders (CLIP): a text encoder, an image encoder, and similarity scores of all texts and images.
//
// Shapes: B = batch, S = sequence.
namespace llmcost {

// ---- text encoder

/// Attention mask of the text encoder.
enum class text_mask : std::uint8_t {
    none,   ///< bidirectional
    causal  ///< causal, without a KV cache
};

/// Self-attention with the mask of the encoder, if there is one: (B, S, width) -> (B, S, width).
constexpr tensor text_attention(const layer_context& ctx, trace& t, const tensor& x) {
    const decoder_module_names& n = ctx.spec.names;
    const std::int64_t width = ctx.config.hidden_size;
    tensor q, k, v;
    project_to_heads(t, x, width, ctx.config.num_attention_heads, {n.q_proj, n.k_proj, n.v_proj}, q, k, v);
    const attention_inputs& inputs = *ctx.inputs;
    const tensor* const mask = inputs.mask.rank > 0 ? &inputs.mask : nullptr;
    const tensor mixed = attention_forward(t, q, k, v, inputs.pattern, {.mask = mask});
    const tensor attention_output = t.contiguous(t.reshape(mixed, {x.dim(0), x.dim(1), -1}));
    return t.call(n.o_proj, linear{width, width, ctx.config.output_bias}, attention_output);
}

/// Text encoder: token and position embeddings, layers, final norm. Returns (B, S, width).
constexpr tensor forward_text_encoder(const layer_context& ctx, trace& t, text_mask mask) {
    const workload& load = t.load();
    const std::int64_t width = ctx.config.hidden_size;
    const module_info embeddings{
        .name = "embeddings", .class_of_module = ctx.class_of("TextEmbeddings"), .module_role = role::embedding};
    t.check_positions(ctx.config.max_position_embeddings, load.sequence);
    t.enter(embeddings);
    t.register_integer_buffer(ctx.config.max_position_embeddings);  // `position_ids`
    const tensor token_embeddings =
        t.call("token_embedding", embedding{ctx.config.vocab_size, width}, shape{load.batch, load.sequence});
    const embedding places{ctx.config.max_position_embeddings, width};
    tensor x = t.add(token_embeddings, t.call("position_embedding", places, shape{1, load.sequence}));
    t.leave(embeddings);
    attention_inputs inputs{.pattern = {.query_length = load.sequence, .is_causal = mask == text_mask::causal}};
    if (mask == text_mask::causal) inputs.mask = eager_mask(t, inputs.pattern, load.batch);
    x = encode(ctx, t, x, "Encoder", inputs);
    return t.call("final_layer_norm", norm_module{norm_kind::layer, width}, x);
}

/// Calls `part`, which returns the pooled text features, in the text model's module.
template <class Text>
constexpr tensor forward_pooled_text(const layer_context& ctx, trace& t, const Text& part,
                                     literal name = "text_model") {
    const layer_context text = ctx.text_model();
    const module_info m{
        .name = name, .class_of_module = text.class_of(text.spec.names.model_class), .module_role = role::encoder};
    t.enter(m);
    return t.leave(m, part());
}

/// Base model spec of text encoders.
inline constexpr model_spec text_tower = [](model_spec spec) {
    spec.names.model_class = "TextModel";
    spec.attention = text_attention;
    return spec;
}(shared_tower);

// ---- image encoder

/// Calls `tower`, which returns the pooled image features, in the image model's module.
///
/// The number of images is that of the workload, or one per text. All images have the encoder's image size.
template <class Tower>
constexpr tensor forward_pooled_images(const layer_context& ctx, trace& t, const Tower& tower,
                                       literal name = "vision_model") {
    const layer_context images = ctx.component(0);
    const module_info m{
        .name = name, .class_of_module = images.class_of(images.spec.names.model_class), .module_role = role::vision};
    const recorder::workload_guard encoder_workload{t, image_workload(t.load(), images_in(t), 0, 0)};
    t.enter(m);
    return t.leave(m, tower());
}

/// The image encoder with a classification head.
template <class Classify>
constexpr tensor forward_image_encoder(const layer_context& ctx, trace& t, const Classify& classify,
                                       literal name = "vision_model") {
    const module_info model_info{.class_of_module = {ctx.spec.class_prefix, name_of(ctx.config.head)}};
    const layer_context tower = ctx.text_model();
    t.enter(model_info);
    const module_info m{
        .name = name, .class_of_module = tower.class_of(tower.spec.names.model_class), .module_role = role::vision};
    const tensor x = forward_in_module(m, tower.spec.base_model, tower, t);
    const recorder::not_executed_guard unused{t, t.load().head == logits::none};
    return t.leave(model_info, t.select_model_output(x, classify(ctx, t, x)));
}

/// Makes the image encoder's sizes those of the model, for classes with the image encoder only.
constexpr void select_image_encoder(model& m) {
    if (m.config.head != head_kind::image_classification) return;
    model_config config = m.components[0].config;
    config.head = m.config.head;
    config.num_labels = m.config.num_labels;
    config.dtype_of_weights = m.config.dtype_of_weights;
    config.quantized = m.config.quantized;
    m.text_spec = m.components[0].spec;
    m.config = config;
}

// ---- similarity scores

/// x / ‖x‖₂, with the norm computed with powers: (B, width) -> (B, width).
///
/// Source: transformers/models/clip/modeling_clip.py, `_get_vector_norm`.
constexpr tensor normalize_l2_by_power(trace& t, const tensor& x) {
    return t.div(x, t.pow_half(t.sum(t.pow(x, 2), -1, true)));
}
/// x / ‖x‖₂, `x / x.norm(p=2, dim=-1, keepdim=True)`: (B, width) -> (B, width).
constexpr tensor normalize_l2(trace& t, const tensor& x) { return t.div(x, t.vector_norm(x, -1, true)); }

/// Similarity scores texts · imagesᵀ · exp(scale): (texts, images).
constexpr tensor similarity_logits(trace& t, const tensor& texts, const tensor& images, const tensor& scale) {
    const tensor similarities = t.matmul(texts, images.transpose(0, 1));
    return t.mul(similarities, t.exp(scale));
}

/// Size of the preprocessed images: that of the encoder. Images add no tokens to the text.
constexpr media_shapes expand_image_inputs(const model& m, const workload&) {
    const vision_config& image = m.components[0].config.vision;
    return {.image = {.height = image.image_height, .width = image.image_width}};
}

/// Base model spec of dual encoders.
inline constexpr model_spec shared_pair = [](model_spec spec) {
    spec.supported_heads = {head_kind::none, head_kind::image_classification};
    spec.defaults.head = head_kind::none;
    spec.compute_media_shapes = expand_image_inputs;
    spec.modalities.has_images = true;
    spec.text_model = {.key = "text_config", .ignores_model_type = true};
    spec.components[0] = {.key = "vision_config", .ignores_model_type = true};
    return spec;
}(shared_composite);

}  // namespace llmcost
