// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/config/reader.hpp>
#include <llmcost/forward/composite.hpp>
#include <llmcost/forward/encoder_decoder.hpp>
#include <llmcost/forward/t5_stacks.hpp>

// MusicGen: a decoder of several codebooks, conditioned on a text (arXiv 2306.05284).
namespace llmcost::codebook_decoder {

enum family_config_index : std::uint8_t { codebooks, crosses };

inline constexpr family_key family_keys[]{
    {"num_codebooks", 4},
    {.default_value = 1, .type = family_key_type::computed},  // layers hold attention to an encoder
};

/// Returns the logits of each codebook: (B · codebooks, S, vocabulary).
constexpr tensor compute_logits(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t n = ctx.config.family[codebooks], vocab_size = ctx.config.vocab_size;
    const tensor selected_states = logits_to_keep(t, x);
    tensor scores;
    const head_linear head{{ctx.config.hidden_size, vocab_size}};
    for (std::int64_t i = 0; i < n; ++i) scores = t.call({"lm_heads", i}, head, selected_states);
    // as large as all of them stacked
    const tensor all = scores.unsqueeze(1).expand({x.dim(0), n, selected_states.dim(1), vocab_size});
    return t.copy(all).view({-1, selected_states.dim(1), vocab_size});
}

/// A language model of codes, under this name.
constexpr tensor forward_causal_lm(const layer_context& ctx, trace& t, literal name, role module_role) {
    const module_info bare{.name = "model", .class_of_module = ctx.class_of("Model")};
    const module_info model_info{
        .name = name, .class_of_module = ctx.class_of("ForCausalLM"), .module_role = module_role};
    t.enter(model_info);
    const tensor x = forward_in_module(bare, ctx.spec.base_model, ctx, t);
    const recorder::not_executed_guard unused{t, t.load().head == logits::none};
    return t.leave(model_info, t.select_model_output(x, compute_logits(ctx, t, x)));
}

/// A text's states.
constexpr tensor encode_text(const layer_context& ctx, trace& t) {
    const recorder::workload_guard text_workload{t, encoder_workload(t.load())};
    const layer_context component_ctx = ctx.component(0);
    const module_info encoder{.name = "text_encoder",
                              .class_of_module = component_ctx.class_of("EncoderModel"),
                              .module_role = role::encoder};
    return forward_in_module(encoder, component_ctx.spec.base_model, component_ctx, t);
}

/// Projects conditioning states to the decoder's hidden size: (B, S, in) -> (B, S, hidden).
constexpr tensor widened(const layer_context& ctx, trace& t, const tensor& states) {
    const std::int64_t to = ctx.config.hidden_size;
    return states.dim(2) == to ? states : t.call("enc_to_dec_proj", linear{states.dim(2), to, true}, states);
}

/// A decoder under what conditions it; the codec is not called where codes are given.
constexpr tensor forward_conditioned_decoder(const layer_context& ctx, trace& t, const tensor& states) {
    (void)forward_encoder_component(ctx, t, 1, "audio_encoder", role::audio);
    attention_inputs read;
    read.family_tensors[0] = states;
    return forward_causal_lm({ctx.model, *ctx.model.text_spec, ctx.config, &read}, t, "decoder", role::decoder);
}

}  // namespace llmcost::codebook_decoder
