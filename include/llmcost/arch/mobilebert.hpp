// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bert.hpp>
#include <llmcost/forward/encoder_model.hpp>

namespace llmcost::arch {

namespace mobilebert_detail {

enum family_config_index : std::uint8_t {
    trigrams,
    has_bottleneck,
    intra_bottleneck_size,
    use_bottleneck_attention,
    shares_queries,
    num_feedforward_networks,
    activates_pooler,
    spelled_norms
};
inline constexpr family_key family_keys[]{
    {"trigram_input", 1, family_key_type::boolean},
    {"use_bottleneck", 1, family_key_type::boolean},
    {"intra_bottleneck_size", 128},
    {"use_bottleneck_attention", 0, family_key_type::boolean},
    {"key_query_shared_bottleneck", 1, family_key_type::boolean},
    {"num_feedforward_networks", 4},
    {"classifier_activation", 1, family_key_type::boolean},
    {.type = family_key_type::computed},  // `normalization_type`: a scale and a bias alone
};

/// The width inside of layers.
[[nodiscard]] constexpr std::int64_t layer_width(const layer_context& ctx) {
    return ctx.config.family[has_bottleneck] != 0 ? ctx.config.family[intra_bottleneck_size] : ctx.config.hidden_size;
}

/// A scale and a bias, which take the place of a norm.
struct no_norm {
    std::int64_t width;

    static constexpr role module_role = role::norm;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "NoNorm"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor bias = t.param("bias", {width}), weight = t.param("weight", {width});
        return t.add(t.mul(x, weight), bias);
    }
};
constexpr tensor normed(const layer_context& ctx, trace& t, const tensor& x) {
    if (ctx.config.family[spelled_norms] != 0) return t.call("LayerNorm", no_norm{x.dim(-1)}, x);
    return t.call("LayerNorm", norm_module{norm_kind::layer, x.dim(-1)}, x);
}

/// Concatenates each token embedding with the previous and the next one, then adds positions and segments.
constexpr tensor sum_embeddings(const layer_context& ctx, trace& t) {
    const std::int64_t width = ctx.config.hidden_size, embedding_width = ctx.config.embedding_size,
                       sequence = t.load().sequence;
    const std::int64_t expanded_width = ctx.config.family[trigrams] != 0 ? 3 * embedding_width : embedding_width;
    register_position_ids(ctx, t);
    tensor x = word_embeddings(ctx, t);
    if (ctx.config.family[trigrams] != 0) {
        const tensor next_tokens = t.pad(t.slice(x, 1, sequence - 1), 1, 1);
        x = t.cat({next_tokens, x, t.pad(t.slice(x, 1, sequence - 1), 1, 1)}, 2);
    }
    {
        const recorder::not_executed_guard unused{t, expanded_width == width && embedding_width == width};
        const tensor h = t.call("embedding_transformation", linear{expanded_width, width, true}, x);
        if (!t.is_not_executed()) x = h;
    }
    t.check_positions(ctx.config.max_position_embeddings, sequence);
    const embedding places{ctx.config.max_position_embeddings, width}, kinds{ctx.config.type_vocab_size, width};
    x = t.add(x, t.call("position_embeddings", places, shape{1, sequence}));
    x = t.add(x, t.call("token_type_embeddings", kinds, shape{t.load().batch, sequence}));
    return dropout(t, "dropout", mobilebert_detail::normed(ctx, t, x));
}
constexpr tensor embed(const layer_context& ctx, trace& t) { return embed_in_module(ctx, t, sum_embeddings); }

/// A projection and a norm, after the sum with what went around where there is any.
constexpr tensor project(const layer_context& ctx, trace& t, const module_info& m, std::int64_t width, const tensor& x,
                         const tensor* residual, bool drops = false) {
    t.enter(m);
    tensor h = t.call("dense", linear{x.dim(-1), width, true}, x);
    if (drops) h = dropout(t, "dropout", h);
    if (residual != nullptr) h = t.add(h, *residual);
    return t.leave(m, mobilebert_detail::normed(ctx, t, h));
}

constexpr tensor widen(const layer_context& ctx, trace& t, const tensor& x) {
    const module_info m{.name = "intermediate",
                        .class_of_module = ctx.class_of("Intermediate"),
                        .module_role = role::mlp,
                        .continues_block = true};
    t.enter(m);
    const tensor h = t.call("dense", linear{x.dim(-1), ctx.config.intermediate_size, true}, x);
    return t.leave(m, t.call("intermediate_act_fn", activation_module{ctx.config.hidden_act}, h));
}

/// What attention reads: queries with keys, values, and what goes around.
struct attention_inputs {
    tensor queries, values, residual;
};
constexpr attention_inputs narrowed(const layer_context& ctx, trace& t, const tensor& x) {
    if (ctx.config.family[has_bottleneck] == 0) return {x, x, x};
    const module_info m{.name = "bottleneck", .class_of_module = {"", "Bottleneck"}};
    const module_info input{.name = "input", .class_of_module = {"", "BottleneckLayer"}};
    const module_info shared{.name = "attention", .class_of_module = {"", "BottleneckLayer"}};
    const std::int64_t width = ctx.config.family[intra_bottleneck_size];
    t.enter(m);
    const tensor bottleneck_states = project(ctx, t, input, width, x, nullptr);
    tensor queries = x;
    if (ctx.config.family[shares_queries] != 0) {
        const recorder::not_executed_guard unused{t, ctx.config.family[use_bottleneck_attention] != 0};
        queries = project(ctx, t, shared, width, x, nullptr);
    }
    t.leave(m);
    if (ctx.config.family[use_bottleneck_attention] != 0)
        return {bottleneck_states, bottleneck_states, bottleneck_states};
    return {queries, x, bottleneck_states};
}

constexpr tensor attend_to(const layer_context& ctx, trace& t, const attention_inputs& in) {
    const std::int64_t width = layer_width(ctx), heads = ctx.config.num_attention_heads;
    const bool plain = ctx.config.family[has_bottleneck] == 0;
    const module_info attention{
        .name = "attention", .class_of_module = ctx.class_of("Attention"), .module_role = role::attn};
    const module_info self{.name = "self", .class_of_module = ctx.class_of("SelfAttention")};
    t.enter(attention);
    t.enter(self);
    const auto split = [&](literal name, const tensor& input) {
        const tensor all = t.call(name, linear{input.dim(-1), width, true}, input);
        return all.view({input.dim(0), input.dim(1), heads, width / heads}).transpose(1, 2);
    };
    query_key_value qkv;
    qkv.query = split("query", in.queries);
    qkv.key = split("key", in.queries);
    qkv.value = split("value", in.values);
    const tensor mixed = t.leave(self, bidirectional_sdpa(ctx, t, qkv, false));
    const module_info output{.name = "output", .class_of_module = ctx.class_of("SelfOutput")};
    return t.leave(attention, project(ctx, t, output, width, mixed, &in.residual, plain));
}

constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t width = layer_width(ctx);
    tensor a = attend_to(ctx, t, narrowed(ctx, t, x));
    for (loop layer_loop = t.loop_modules(ctx.config.family[num_feedforward_networks] - 1, a); layer_loop.next();) {
        const module_info ffn{
            .name = "ffn", .index = layer_loop.index(), .class_of_module = {"", "FFNLayer"}, .module_role = role::mlp};
        t.enter(ffn);
        a = t.leave(ffn, project(ctx, t, {.name = "output", .class_of_module = {"", "FFNOutput"}}, width,
                                 widen(ctx, t, a), &a));
    }
    const tensor h = widen(ctx, t, a);
    const module_info output{.name = "output", .class_of_module = ctx.class_of("Output"), .module_role = role::mlp};
    if (ctx.config.family[has_bottleneck] == 0) return project(ctx, t, output, width, h, &a, true);
    t.enter(output);
    tensor out = t.add(t.call("dense", linear{ctx.config.intermediate_size, width, true}, h), a);
    out = mobilebert_detail::normed(ctx, t, out);
    const module_info bottleneck{.name = "bottleneck", .class_of_module = {"", "OutputBottleneck"}};
    return t.leave(output, project(ctx, t, bottleneck, ctx.config.hidden_size, out, &x, true));
}

/// The first state, or a dense layer over it.
constexpr tensor pool(const layer_context& ctx, trace& t, const tensor& x) {
    const bool plain = ctx.config.family[activates_pooler] == 0;
    const module_info pooler{.name = "pooler", .class_of_module = ctx.class_of("Pooler"), .is_leaf = plain};
    const std::int64_t width = ctx.config.hidden_size;
    t.enter(pooler);
    const tensor first = t.select(x, 1);
    if (plain) return t.leave(pooler, first);
    return t.leave(pooler, t.tanh(t.call("dense", linear{width, width, true}, first)));
}

/// A weight of a module that is not called.
constexpr tensor weight_of(trace& t, literal name, shape weight_shape, bool tied) {
    const module_info m{.name = name, .class_of_module = {"", "Linear"}, .is_leaf = true};
    t.enter(m);
    const tensor weight = tied ? t.tied("weight", weight_shape) : t.param("weight", weight_shape);
    t.leave(m);
    return weight;
}

/// Computes logits from the word embeddings concatenated with additional features in every pass.
constexpr tensor mobilebert_lm_head_logits(const layer_context& ctx, trace& t, const tensor& x) {
    const model_config& config = ctx.config;
    const std::int64_t width = config.hidden_size, embedding_width = config.embedding_size,
                       vocab_size = config.vocab_size;
    const bool tied = config.tie_word_embeddings;
    const module_info predictions{.name = "predictions", .class_of_module = ctx.class_of("LMPredictionHead")};
    const module_info transform{.name = "transform", .class_of_module = ctx.class_of("PredictionHeadTransform")};
    t.enter(predictions);
    declare_lm_head_bias(config, t);
    t.enter(transform);
    tensor h = t.call("dense", linear{width, width, true}, x);
    h = t.call("transform_act_fn", activation_module{config.hidden_act}, h);
    h = t.leave(transform, t.call("LayerNorm", norm_module{norm_kind::layer, width}, h));
    const tensor extra_weight = weight_of(t, "dense", {width - embedding_width, vocab_size}, false);
    const module_info decoder{.name = "decoder", .class_of_module = {"", "Linear"}, .is_leaf = true};
    t.enter(decoder);
    const tensor weight =
        tied ? t.tied("weight", {vocab_size, embedding_width}) : t.param("weight", {vocab_size, embedding_width});
    const tensor bias = tied ? t.tied("bias", {vocab_size}) : t.param("bias", {vocab_size});
    t.leave(decoder);
    h = t.matmul(h, t.cat({weight.transpose(0, 1), extra_weight}, 0));
    t.add_(h, bias);
    return t.leave(predictions, h);
}
constexpr tensor score_in_cls(const layer_context& ctx, trace& t, const tensor_pair& out) {
    const bool is_next_sentence = ctx.config.head == head_kind::next_sentence,
               pretrains = ctx.config.head == head_kind::pretraining;
    const literal type = is_next_sentence ? "OnlyNSPHead" : pretrains ? "PreTrainingHeads" : "OnlyMLMHead";
    const module_info cls{.name = "cls", .class_of_module = ctx.class_of(type), .module_role = role::head};
    const linear is_next{ctx.config.hidden_size, 2, true};
    t.enter(cls);
    if (is_next_sentence) return t.leave(cls, t.call("seq_relationship", is_next, out.second));
    const tensor token_embeddings = mobilebert_lm_head_logits(ctx, t, out.first);
    if (pretrains) {
        const recorder::detach_guard unread{t};
        (void)t.call("seq_relationship", is_next, out.second);
    }
    return t.leave(cls, token_embeddings);
}
constexpr tensor score(const layer_context& ctx, trace& t, const tensor_pair& out) {
    return forward_encoder_head(ctx, t, out, score_in_cls);
}
constexpr tensor forward(const layer_context& ctx, trace& t) {
    return forward_encoder_model(ctx, t, {score, bert_heads.pooled, pool});
}

constexpr void parse_config(config_view json, model_config& config) {
    parse_encoder_heads(json, config);
    if (json.boolean("is_decoder", false))
        throw_unsupported(json, "is_decoder", "this model type is not supported as a decoder");
    config.embedding_size = json.positive("embedding_size", config.embedding_size);
    const string_ref kind = json.string("normalization_type", "no_norm");
    config.family[spelled_norms] = kind == "no_norm";
    if (kind != "no_norm" && kind != "layer_norm")
        throw_invalid_value(json, "normalization_type", "\"no_norm\" or \"layer_norm\"");
    const bool uses_bottleneck = config.family[has_bottleneck] != 0;
    const std::int64_t width = uses_bottleneck ? config.family[intra_bottleneck_size] : config.hidden_size;
    if (width % config.num_attention_heads != 0)
        throw_invalid_value(json, "num_attention_heads", "a divisor of the width of layers");
    config.head_dim = width / config.num_attention_heads;
    if (uses_bottleneck && config.family[use_bottleneck_attention] == 0 && config.family[shares_queries] == 0 &&
        width != config.hidden_size)
        throw_invalid_value(json, "key_query_shared_bottleneck", "true, where attention does not read the bottleneck");
    if (!uses_bottleneck && config.family[use_bottleneck_attention] == 0 && config.family[intra_bottleneck_size] == 0)
        throw_invalid_value(json, "use_bottleneck", "true");
    if (config.embedding_size > config.hidden_size) throw_invalid_value(json, "embedding_size", "at most hidden_size");
    (void)checked_size(json, "embedding_size", 3, config.embedding_size);
}

inline constexpr dropout_key dropout_rates[]{{dropout_position::hidden, "hidden_dropout_prob"},
                                             {dropout_position::attention, "attention_probs_dropout_prob", 0.1},
                                             {dropout_position::classifier, "classifier_dropout", same_as_hidden}};

}  // namespace mobilebert_detail

// transformers/models/mobilebert: BERT whose layers are narrow inside, with several feed-forward blocks each
inline constexpr model_spec mobilebert = [](model_spec spec) {
    spec.model_type = "mobilebert";
    spec.class_prefix = "MobileBert";
    spec.forward = mobilebert_detail::forward;
    spec.parse_config = mobilebert_detail::parse_config;
    spec.family_keys = mobilebert_detail::family_keys;
    spec.embed_tokens = mobilebert_detail::embed;
    spec.decoder_layer = mobilebert_detail::decoder_layer;
    spec.supported_heads = {head_kind::none,
                            head_kind::masked_lm,
                            head_kind::pretraining,
                            head_kind::next_sentence,
                            head_kind::sequence_classification,
                            head_kind::token_classification,
                            head_kind::question_answering,
                            head_kind::multiple_choice};
    spec.names.base_model = "mobilebert";
    spec.defaults.hidden_size = spec.defaults.intermediate_size = 512;
    spec.defaults.num_hidden_layers = 24;
    spec.defaults.num_attention_heads = 4;
    spec.defaults.embedding_size = 128;
    spec.defaults.hidden_act = activation::relu;
    spec.defaults.head = head_kind::pretraining;
    spec.dropout_keys = mobilebert_detail::dropout_rates;
    return spec;
}(bert);

}  // namespace llmcost::arch
