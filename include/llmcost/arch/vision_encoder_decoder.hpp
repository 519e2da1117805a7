// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bart.hpp>
#include <llmcost/arch/encoder_decoder.hpp>
#include <llmcost/arch/mbart.hpp>
#include <llmcost/arch/trocr.hpp>
#include <llmcost/forward/encoder_decoder_stacks.hpp>
#include <llmcost/forward/multimodal.hpp>

namespace llmcost::arch {

namespace vision_encoder_decoder_detail {

enum family_config_index : std::uint8_t { has_encoder_width };
inline constexpr family_key family_keys[]{{.type = family_key_type::computed}};  // states are read as wide as they are

/// A text decoder with cross-attention to image states and a language head.
using writer = tensor (*)(const layer_context&, trace&, const tensor& states);

/// BART's decoder and its relatives'.
template <const stack_style& Style>
constexpr tensor write_as_stack(const layer_context& ctx, trace& t, const tensor& states) {
    const module_info decoder{.name = "decoder",
                              .class_of_module = ctx.class_of(name_of(head_kind::causal_lm)),
                              .module_role = role::decoder};
    const module_info base{.name = "model", .class_of_module = ctx.class_of("DecoderWrapper")};
    t.enter(decoder);
    t.enter(base);
    const tensor x = t.leave(base, forward_decoder_module(ctx, t, Style, &states, ctx.config.vocab_size));
    const recorder::not_executed_guard unused{t, t.load().head == logits::none};
    return t.leave(decoder, t.select_model_output(x, stack_lm_head_logits(ctx, t, x, ctx.config.vocab_size, false)));
}

/// BERT and its relatives (encoder_decoder.hpp).
constexpr tensor write_as_bert(const layer_context& ctx, trace& t, const tensor& states) {
    return encoder_decoder_blocks::forward_decoder_half(ctx, t, states);
}

/// Runs TrOCR's decoder; the encoder states have their own width if the configuration contains it.
constexpr tensor write_as_trocr(const layer_context& ctx, trace& t, const tensor& states) {
    attention_inputs read;
    read.family_tensors[0] = states;
    const layer_context decoder_ctx{ctx.model, ctx.spec, ctx.config, &read};
    const module_info decoder{.name = "decoder",
                              .class_of_module = ctx.class_of(name_of(head_kind::causal_lm)),
                              .module_role = role::decoder};
    t.enter(decoder);
    const tensor x = forward_in_module({.name = "model", .class_of_module = ctx.class_of("DecoderWrapper")},
                                       ctx.spec.base_model, decoder_ctx, t);
    const recorder::not_executed_guard unused{t, t.load().head == logits::none};
    const literal name = ctx.spec.names.lm_head;
    return t.leave(decoder,
                   t.select_model_output(x, stack_lm_head_logits(ctx, t, x, ctx.config.vocab_size, false, name)));
}

/// The types that may write.
struct writing_type {
    const model_spec* row;
    writer write;
};
inline constexpr writing_type writing_types[]{
    {&bart, write_as_stack<bart_stack_style>},
    {&mbart, write_as_stack<mbart_stack_style>},
    {&bert, write_as_bert},
    {&bert_generation, write_as_bert},
    {&trocr, write_as_trocr},
};
constexpr const writing_type* writing_type_of(const model_spec& row) {
    for (const writing_type& candidate : writing_types)
        if (candidate.row->forward == row.forward && candidate.row->base_model == row.base_model) return &candidate;
    return nullptr;
}

/// States of another width are projected in every pass; those of an image are made in the first.
constexpr tensor forward(const layer_context& ctx, trace& t) {
    const module_info model_info{.class_of_module = ctx.class_of("Model")};
    const std::int64_t width = ctx.config.hidden_size;
    t.enter(model_info);
    tensor states;
    {
        const recorder::not_executed_guard done{t, is_encoder_cached(t.load())};
        const recorder::workload_guard encoder_workload{t, image_workload(t.load(), t.load().batch, 0, 0)};
        states = forward_encoder_component(ctx, t, 0, "encoder", role::vision);
    }
    if (is_encoder_cached(t.load())) states = t.input({t.load().batch, states.dim(1), states.dim(2)});
    if (states.dim(2) != width && ctx.model.family[has_encoder_width] == 0)
        states = t.call("enc_to_dec_proj", linear{states.dim(2), width, true}, states);
    model_config config = ctx.model.config;
    config.head = head_kind::causal_lm;
    const layer_context text{ctx.model, *ctx.model.text_spec, config};
    return t.leave(model_info, writing_type_of(*ctx.model.text_spec)->write(text, t, states));
}

/// Every image is made as large as the encoder's own.
constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    if (load.images > 1) throw_description_error("more than one image per sequence is not supported");
    const vision_config& image = m.components[0].config.vision;
    return {.image = {.height = image.image_height, .width = image.image_width}};
}

constexpr void parse_config(config_view json, model& m) {
    if (writing_type_of(*m.text_spec) == nullptr) throw_unsupported(json, "decoder", "unsupported text decoder");
    if (m.components[0].config.vision.image_height == 0 || m.components[0].config.vocab_size != 0)
        throw_unsupported(json, "encoder", "unsupported vision encoder");
    const auto decoder = json.optional_object("decoder");
    if (!decoder) throw_missing_key(json, "decoder", "a text model");
    const auto cross_width_json = decoder->find("cross_attention_hidden_size");
    if (!cross_width_json || cross_width_json->is_null()) return;
    const std::int64_t width = m.components[0].config.hidden_size;
    if (cross_width_json->as_positive() != width)
        throw_invalid_value(*decoder, "cross_attention_hidden_size", "the width of the encoder");
    if (writing_type_of(*m.text_spec)->row != &trocr && width != m.config.hidden_size)
        throw_unsupported(*decoder, "cross_attention_hidden_size", "encoder states of another width are not supported");
    m.family[has_encoder_width] = 1;
}

}  // namespace vision_encoder_decoder_detail

// transformers/models/vision_encoder_decoder: an encoder of images and a model of texts that reads its states
inline constexpr model_spec vision_encoder_decoder = [](model_spec spec) {
    spec.model_type = "vision-encoder-decoder";
    spec.class_prefix = "VisionEncoderDecoder";
    spec.forward = vision_encoder_decoder_detail::forward;
    spec.parse_composite_config = vision_encoder_decoder_detail::parse_config;
    spec.supported_heads = {head_kind::none};
    spec.defaults.head = head_kind::none;
    spec.family_keys = vision_encoder_decoder_detail::family_keys;
    spec.compute_media_shapes = vision_encoder_decoder_detail::compute_media_shapes;
    spec.modalities.has_images = true;
    spec.text_model = {.key = "decoder", .ties_embeddings = true};
    spec.components[0] = {.key = "encoder"};
    spec.config_keys.add("tie_word_embeddings", key_rule::absent);
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
