// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bart.hpp>

namespace llmcost::arch {

namespace marian_detail {

enum family_config_index : std::uint8_t { decoder_vocab_size = stack_config::count, shares };
inline constexpr family_key family_keys[]{{"decoder_layers", 12},
                                          {"decoder_attention_heads", 16},
                                          {"decoder_ffn_dim", 4096},
                                          {"encoder_ffn_dim", 4096},
                                          {.type = family_key_type::computed},  // rows of the decoder's embedding table
                                          {"share_encoder_decoder_embeddings", 1, family_key_type::boolean}};

inline constexpr stack_style style{.norm_embedding = "",
                                   .scale = embedding_scaling::stack,
                                   .conditional_type = "MTModel",
                                   .positions = frozen_positions};
inline constexpr stack_style separate_embeddings_style = [](stack_style s) {
    s.uses_shared_embeddings = false;
    return s;
}(style);

/// An encoder and a decoder with separate embeddings, or with one shared table. The shared table is tied to those of
/// the stacks, or it is unused.
constexpr tensor forward_encoder_and_decoder(const layer_context& ctx, trace& t) {
    const bool tied = ctx.config.tie_word_embeddings;
    if (ctx.config.family[shares])
        return forward_encoder_decoder(ctx, t, style,
                                       tied ? ctx.config.vocab_size : ctx.config.family[decoder_vocab_size]);
    const tensor encoded = forward_encoder_module(ctx, t, separate_embeddings_style);
    return forward_decoder_module(ctx, t, separate_embeddings_style, &encoded, ctx.config.family[decoder_vocab_size]);
}

constexpr tensor forward_standalone_decoder(const layer_context& ctx, trace& t) {
    return forward_decoder_module(ctx, t, style, nullptr, ctx.config.family[decoder_vocab_size]);
}

constexpr tensor scores(const layer_context& ctx, trace& t, const tensor& x) {
    const recorder::not_executed_guard unused{t, t.load().head == logits::none};
    const bool translates = ctx.config.head == head_kind::conditional_generation;
    // of the decoder by itself, only a tied head has the rows of the decoder's table
    const bool of_decoder = translates ? ctx.config.family[shares] == 0 : ctx.config.tie_word_embeddings;
    const std::int64_t rows = of_decoder ? ctx.config.family[decoder_vocab_size] : ctx.config.vocab_size;
    return stack_lm_head_logits(ctx, t, x, rows, translates);
}

}  // namespace marian_detail

/// An encoder-decoder with sinusoidal positions and norms after blocks.
///
/// Source: transformers/models/marian/modeling_marian.py.
constexpr tensor forward_marian(const layer_context& ctx, trace& t) {
    const class_name type = ctx.class_of("Model");
    if (ctx.config.head == head_kind::none)
        return forward_in_module({.class_of_module = type}, marian_detail::forward_encoder_and_decoder, ctx, t);
    const bool is_causal_lm = ctx.config.head == head_kind::causal_lm;
    const module_info model_info{.class_of_module = ctx.class_of(is_causal_lm ? "ForCausalLM" : "MTModel")};
    const module_info base{.name = "model", .class_of_module = is_causal_lm ? ctx.class_of("DecoderWrapper") : type};
    t.enter(model_info);
    const tensor x = forward_in_module(
        base, is_causal_lm ? marian_detail::forward_standalone_decoder : marian_detail::forward_encoder_and_decoder,
        ctx, t);
    return t.leave(model_info, t.select_model_output(x, marian_detail::scores(ctx, t, x)));
}

constexpr void parse_marian(config_view json, model_config& config) {
    using namespace marian_detail;
    parse_stacks(json, config);
    const std::int64_t rows = json.non_negative("decoder_vocab_size", 0);
    config.family[decoder_vocab_size] = rows == 0 ? config.vocab_size : rows;
}

// transformers/models/marian: configuration_marian.py, modeling_marian.py
inline constexpr model_spec marian = [](model_spec spec) {
    spec.model_type = "marian";
    spec.class_prefix = "Marian";
    spec.forward = forward_marian;
    spec.parse_config = parse_marian;
    spec.family_keys = marian_detail::family_keys;
    spec.supported_heads = {head_kind::none, head_kind::causal_lm, head_kind::conditional_generation};
    spec.defaults.vocab_size = 58101;
    spec.defaults.num_labels = 2;
    return spec;
}(bart);

}  // namespace llmcost::arch
