// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bert.hpp>

// ALBERT. Derived from BERT, with these differences:
//  - embeddings that are narrower than the hidden states;
//  - layers that share parameters in groups.
//
// Source: transformers/models/albert

namespace llmcost::arch {

namespace albert_detail {

enum family_config_index : std::uint8_t { groups, layers_of_group };
inline constexpr family_key family_keys[]{{"num_hidden_groups", 1}, {"inner_group_num", 1}};

/// A linear layer of the MLP. The MLP is not a separate module.
struct mlp_linear : linear {
    static constexpr role module_role = role::mlp;
};

constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t width = ctx.config.hidden_size;
    const tensor mixed = bert_attention(ctx, t, x);
    const tensor out = dropout(t, "output_dropout", t.call("dense", linear{width, width, true}, mixed));
    return t.call("LayerNorm", norm_module{norm_kind::layer, width}, t.add(x, out));
}

constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t width = ctx.config.hidden_size, inner = ctx.config.intermediate_size;
    const tensor a = attention_token_mixer(ctx, t, x);
    tensor h = t.call("ffn", mlp_linear{{width, inner, true}}, a);
    h = t.call("activation", activation_module{ctx.config.hidden_act}, h);
    h = t.call("ffn_output", mlp_linear{{inner, width, true}}, h);
    return t.call("full_layer_layer_norm", norm_module{norm_kind::layer, width}, t.add(h, a));
}

struct group {
    layer_context ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("LayerGroup"); }
    constexpr tensor forward(trace& t, tensor x) const {
        for (loop layer_loop = t.loop_modules(ctx.config.family[layers_of_group], x); layer_loop.next();)
            x = t.call({"albert_layers", layer_loop.index()}, layer_of_class{ctx, ctx.class_of("Layer")}, x);
        return x;
    }
};

/// Encodes tokens with groups of layers. Each group is called once per layer that it contains.
///
/// Source: transformers, modeling_albert.py, `AlbertTransformer.forward`.
constexpr tensor encode(const layer_context& ctx, trace& t) {
    const model_config& config = ctx.config;
    tensor x = ctx.spec.embed_tokens(ctx, t);
    const decoder_inputs shared = ctx.spec.prepare_inputs(ctx, t);
    layer_context encoder_ctx = ctx;
    encoder_ctx.inputs = &shared.full;
    const module_info encoder{.name = "encoder", .class_of_module = ctx.class_of("Transformer")};
    t.enter(encoder);
    x = t.call("embedding_hidden_mapping_in", linear{x.dim(-1), config.hidden_size, true}, x);
    const double per_group = static_cast<double>(config.num_hidden_layers) / static_cast<double>(config.family[groups]);
    std::int64_t called = 0;
    for (std::int64_t g = 0; g < config.family[groups]; ++g) {
        // binary search for the first layer after this group, because there can be many layers
        std::int64_t end = config.num_hidden_layers;
        for (std::int64_t low = called; low < end;) {
            const std::int64_t middle = low + (end - low) / 2;
            const bool is_later_group = static_cast<std::int64_t>(static_cast<double>(middle) / per_group) > g;
            (is_later_group ? end : low) = is_later_group ? middle : middle + 1;
        }
        const std::int64_t calls = end - called;
        called = end;
        const recorder::not_executed_guard uncalled{t, calls == 0};
        for (loop layer_loop = t.loop_calls(calls == 0 ? 1 : calls, x); layer_loop.next();) {
            const tensor out = t.call({"albert_layer_groups", g}, group{encoder_ctx}, x);
            if (calls != 0) x = out;
        }
    }
    return t.leave(encoder, x);
}

constexpr tensor pool(const layer_context& ctx, trace& t, const tensor& x) {
    const tensor first = t.call("pooler", linear{ctx.config.hidden_size, ctx.config.hidden_size, true}, t.select(x, 1));
    return t.call("pooler_activation", activation_module{activation::tanh}, first);
}

/// Logits over the vocabulary. Pretraining adds the sentence-order logits.
constexpr tensor lm_head_logits(const layer_context& ctx, trace& t, const tensor_pair& out) {
    const module_info predictions{
        .name = "predictions", .class_of_module = ctx.class_of("MLMHead"), .module_role = role::head};
    const std::int64_t width = embedding_width(ctx.config);
    t.enter(predictions);
    declare_lm_head_bias(ctx.config, t);
    tensor h = t.call("dense", linear{ctx.config.hidden_size, width, true}, out.first);
    h = t.call("activation", activation_module{ctx.config.hidden_act}, h);
    h = t.call("LayerNorm", norm_module{norm_kind::layer, width}, h);
    h = t.leave(predictions, mlm_logits(ctx.config, t, h));
    if (ctx.config.head != head_kind::pretraining) return h;
    const recorder::detach_guard unread{t};
    const module_info order{
        .name = "sop_classifier", .class_of_module = ctx.class_of("SOPHead"), .module_role = role::head};
    t.enter(order);
    const linear labels{ctx.config.hidden_size, ctx.config.num_labels, true};
    (void)t.leave(order, t.call("classifier", labels, dropout(t, "dropout", out.second, dropout_position::classifier)));
    return h;
}
constexpr tensor score(const layer_context& ctx, trace& t, const tensor_pair& out) {
    return forward_encoder_head(ctx, t, out, lm_head_logits);
}
inline constexpr encoder_heads heads{
    .score = score,
    .pooled = {head_kind::none, head_kind::pretraining, head_kind::sequence_classification, head_kind::multiple_choice},
    .pool = pool,
};
constexpr tensor forward(const layer_context& ctx, trace& t) { return forward_encoder_model(ctx, t, heads); }

constexpr void parse_config(config_view json, model_config& config) {
    parse_encoder_only(json, config);
    config.embedding_size = json.positive("embedding_size", config.embedding_size);
    if (config.family[groups] > 4096) throw_invalid_value(json, "num_hidden_groups", "at most 4096 groups");
}

inline constexpr dropout_key dropout_rates[]{{dropout_position::hidden, "hidden_dropout_prob"},
                                             {dropout_position::attention, "attention_probs_dropout_prob"},
                                             {dropout_position::classifier, "classifier_dropout_prob", 0.1}};

}  // namespace albert_detail

inline constexpr model_spec albert = [](model_spec spec) {
    spec.model_type = "albert";
    spec.class_prefix = "Albert";
    spec.forward = albert_detail::forward;
    spec.parse_config = albert_detail::parse_config;
    spec.family_keys = albert_detail::family_keys;
    spec.base_model = albert_detail::encode;
    spec.decoder_layer = albert_detail::decoder_layer;
    spec.attention = albert_detail::attention;
    spec.token_mixer = attention_token_mixer;
    spec.supported_heads = {head_kind::none,
                            head_kind::masked_lm,
                            head_kind::pretraining,
                            head_kind::sequence_classification,
                            head_kind::token_classification,
                            head_kind::question_answering,
                            head_kind::multiple_choice};
    spec.names.base_model = "albert";
    spec.names.attention = "attention";
    spec.defaults.vocab_size = 30000;
    spec.defaults.hidden_size = 4096;
    spec.defaults.intermediate_size = 16384;
    spec.defaults.num_attention_heads = 64;
    spec.defaults.embedding_size = 128;
    spec.defaults.hidden_act = activation::gelu_new;
    spec.defaults.head = head_kind::pretraining;
    spec.dropout_keys = albert_detail::dropout_rates;
    return spec;
}(bert);

}  // namespace llmcost::arch
