// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bert.hpp>
#include <llmcost/forward/encoder_model.hpp>

// FNet. Derived from BERT, with Fourier transforms instead of attention.
//
// Source: transformers/models/fnet: configuration_fnet.py, modeling_fnet.py

namespace llmcost::arch {

namespace fnet_detail {

/// Sums word, segment and position embeddings, then applies a norm and a projection.
constexpr tensor sum_embeddings(const layer_context& ctx, trace& t) {
    register_position_buffers(ctx, t);
    const tensor tokens = word_embeddings(ctx, t);
    tensor x = t.add(tokens, segment_embeddings(ctx, t));
    t.add_(x, position_embeddings(ctx, t));
    const std::int64_t width = ctx.config.hidden_size;
    x = t.call("LayerNorm", norm_module{norm_kind::layer, width}, x);
    return dropout(t, "dropout", t.call("projection", linear{width, width, true}, x));
}
constexpr tensor embed(const layer_context& ctx, trace& t) { return embed_in_module(ctx, t, sum_embeddings); }

/// Fourier transform over tokens and features (`torch.fft.fftn`); returns the real part.
///
/// The transform has no operation cost here. It is traced as a complex copy of the input and a complex result.
struct fourier_transform {
    const layer_context& ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("BasicFourierTransform"); }
    constexpr tensor forward(trace& t, const tensor& x) const { return t.copy(t.copy(x)); }
};

constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const module_info fourier{
        .name = "fourier", .class_of_module = ctx.class_of("FourierTransform"), .module_role = role::mixer};
    const module_info output{.name = "output", .class_of_module = ctx.class_of("BasicOutput")};
    t.enter(fourier);
    const tensor h = t.call("self", fourier_transform{ctx}, x);
    t.enter(output);
    const tensor normed = t.call("LayerNorm", norm_module{norm_kind::layer, ctx.config.hidden_size}, t.add(x, h));
    return bert_mlp(ctx, t, t.leave(fourier, t.leave(output, normed)));
}

/// The heads of FNet. Every class has a pooler, even if unused.
inline constexpr encoder_heads heads{
    .score = bert_head_logits,
    .pooled = {head_kind::none, head_kind::masked_lm, head_kind::pretraining, head_kind::next_sentence,
               head_kind::sequence_classification, head_kind::token_classification, head_kind::question_answering,
               head_kind::multiple_choice},
};
constexpr tensor forward(const layer_context& ctx, trace& t) { return forward_encoder_model(ctx, t, heads); }

constexpr void parse_config(config_view json, model_config& config) {
    if (json.boolean("use_tpu_fourier_optimizations", false))
        throw_unsupported(json, "use_tpu_fourier_optimizations",
                          "Fourier transforms as matrix products are not supported");
    parse_encoder_heads(json, config);
    config.num_attention_heads = config.num_key_value_heads = 0;
}

}  // namespace fnet_detail

inline constexpr model_spec fnet = [](model_spec spec) {
    spec.model_type = "fnet";
    spec.class_prefix = "FNet";
    spec.forward = fnet_detail::forward;
    spec.parse_config = fnet_detail::parse_config;
    spec.embed_tokens = fnet_detail::embed;
    spec.decoder_layer = fnet_detail::decoder_layer;
    spec.attention = nullptr;
    spec.supported_heads = {head_kind::none,
                            head_kind::masked_lm,
                            head_kind::pretraining,
                            head_kind::next_sentence,
                            head_kind::sequence_classification,
                            head_kind::token_classification,
                            head_kind::question_answering,
                            head_kind::multiple_choice};
    spec.names.base_model = "fnet";
    spec.config_keys.remove("num_key_value_heads");
    spec.config_keys.add("num_attention_heads", key_rule::absent);
    spec.config_keys.add("head_dim", key_rule::absent);
    spec.defaults.vocab_size = 32000;
    spec.defaults.type_vocab_size = 4;
    spec.defaults.num_attention_heads = 0;
    spec.defaults.hidden_act = activation::gelu_new;
    spec.defaults.head = head_kind::pretraining;
    spec.dropout_keys = headless_encoder_dropout;
    return spec;
}(bert);

}  // namespace llmcost::arch
