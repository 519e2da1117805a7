// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bert.hpp>
#include <llmcost/forward/disentangled_attention.hpp>

// DeBERTa V2. Derived from BERT, with these differences:
//  - disentangled attention with separate scores for contents and positions;
//  - no pooler without a head.
//
// Source: transformers/models/deberta_v2

namespace llmcost::arch {

namespace deberta_v2_detail {

/// `family_tag` of the first layer if a convolution follows it.
inline constexpr std::uint8_t convolved = 1;

/// Sums word, position and segment embeddings; applies the norm and multiplies by a mask of ones.
constexpr tensor sum_embeddings(const layer_context& ctx, trace& t, const tensor& ones) {
    register_position_ids(ctx, t);
    const std::int64_t width = ctx.config.hidden_size;
    tensor x = word_embeddings(ctx, t);
    if (ctx.config.family[deberta_layers::adds_places] != 0)
        x = t.add(x, position_embeddings(ctx, t));
    else
        (void)t.zeros_like(x);
    if (ctx.config.type_vocab_size > 0) x = t.add(x, segment_embeddings(ctx, t));
    if (x.dim(-1) != width) x = t.call("embed_proj", linear{x.dim(-1), width}, x);
    x = t.call("LayerNorm", norm_module{norm_kind::layer, width}, x);
    return dropout(t, "dropout", t.mul(x, t.to(ones.unsqueeze(2), x.type)));
}

constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    return deberta_layers::disentangled_attention(ctx, t, x, {});
}

/// Convolution over the input of the first layer, added to its output (`ConvLayer`).
constexpr tensor convolve(const layer_context& ctx, trace& t, const tensor& in, const tensor& out, const tensor& ones) {
    const std::int64_t width = ctx.config.hidden_size, k = ctx.config.family[deberta_layers::kernel],
                       groups = ctx.config.family[deberta_layers::conv_groups];
    const module_info conv{.name = "conv", .class_of_module = {"", "ConvLayer"}};
    const module_info convolution{.name = "conv", .class_of_module = {"", "Conv1d"}, .is_leaf = true};
    t.enter(conv);
    tensor h = t.contiguous(in.permute({0, 2, 1}));
    t.enter(convolution);
    const tensor weight = t.param("weight", {width, width / groups, k});
    t.read_parameter_in_next_op(t.param("bias", {width}));
    h = t.leave(convolution, t.conv(h, weight, true, groups, 1, (k - 1) / 2));
    h = t.contiguous(h.permute({0, 2, 1}));
    (void)t.add_scalar(ones);  // 1 - mask
    t.masked_fill_(h);
    h = activate(t, static_cast<activation>(ctx.config.family[deberta_layers::conv_act]), dropout(t, "dropout", h));
    h = t.call("LayerNorm", norm_module{norm_kind::layer, width}, t.add(out, h));
    return t.leave(conv, t.mul(h, t.to(ones.unsqueeze(2), h.type)));
}

constexpr tensor encode(const layer_context& ctx, trace& t) {
    const std::int64_t batch = t.load().batch, sequence = t.load().sequence;
    const family_config& o = ctx.config.family;
    const tensor ones = t.full({batch, sequence});
    const module_info embeddings{
        .name = "embeddings", .class_of_module = ctx.class_of("Embeddings"), .module_role = role::embedding};
    t.enter(embeddings);
    const tensor embedded = t.leave(embeddings, sum_embeddings(ctx, t, ones));
    decoder_inputs shared = ctx.spec.prepare_inputs(ctx, t);
    const module_info encoder{.name = "encoder", .class_of_module = ctx.class_of("Encoder")};
    t.enter(encoder);
    // the mask of all pairs of tokens
    (void)t.mul(trace::buffer({batch, 1, 1, sequence}), trace::buffer({batch, 1, sequence, 1}));
    if (o[deberta_layers::relative] != 0 && o[deberta_layers::buckets] > 0) deberta_layers::make_buckets(t, sequence);
    if (o[deberta_layers::relative] != 0) {
        shared.full.family_tensors[0] = deberta_layers::embed_distances(ctx, t);
    } else if (o[deberta_layers::norms_places] != 0) {
        const recorder::not_executed_guard no_distances{t};
        (void)t.call("LayerNorm", norm_module{norm_kind::layer, ctx.config.hidden_size}, embedded);
    }
    tensor x = embedded;
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, ctx.config.layers, x); layer_loop.next();) {
        const tensor out =
            t.call({"layer", layer_loop.index()}, llmcost::decoder_layer{ctx.for_layer(layer_loop, shared.full)}, x);
        x = layer_loop.layer().family_tag == convolved ? convolve(ctx, t, x, out, ones) : out;
    }
    return t.leave(encoder, x);
}

/// Pooler: a dense layer and an activation over the first state. It is a child of the model with a head.
constexpr tensor pool(const layer_context& ctx, trace& t, const tensor& x) {
    const module_info pooler{.name = "pooler", .class_of_module = {"", "ContextPooler"}};
    const linear dense{ctx.config.hidden_size, ctx.config.hidden_size, true};
    t.enter(pooler);
    const tensor h = t.call("dense", dense, dropout(t, "dropout", t.select(x, 1), dropout_position::pooler));
    return t.leave(pooler, activate(t, static_cast<activation>(ctx.config.family[deberta_layers::pooler_act]), h));
}

/// The legacy masked-language-modeling head.
constexpr tensor score_in_cls(const layer_context& ctx, trace& t, const tensor& x) {
    const literal prefix = "LegacyDebertaV2";
    const module_info cls{.name = "cls", .class_of_module = {prefix, "OnlyMLMHead"}, .module_role = role::head};
    const module_info predictions{.name = "predictions", .class_of_module = {prefix, "LMPredictionHead"}};
    const module_info transform{.name = "transform", .class_of_module = {prefix, "PredictionHeadTransform"}};
    const std::int64_t width = embedding_width(ctx.config);
    t.enter(cls);
    t.enter(predictions);
    declare_lm_head_bias(ctx.config, t);
    t.enter(transform);
    tensor h = t.call("dense", linear{ctx.config.hidden_size, width, true}, x);
    h = t.call("transform_act_fn", activation_module{ctx.config.hidden_act}, h);
    h = t.leave(transform, t.call("LayerNorm", norm_module{norm_kind::layer, width}, h));
    return t.leave(cls, t.leave(predictions, mlm_logits(ctx.config, t, h)));
}

/// The newer masked-language-modeling head, which multiplies by the word embeddings.
constexpr tensor score_with_token_embeddings(const layer_context& ctx, trace& t, const tensor& x) {
    const module_info predictions{
        .name = "lm_predictions", .class_of_module = ctx.class_of("OnlyMLMHead"), .module_role = role::head};
    const module_info lm_head{.name = "lm_head", .class_of_module = ctx.class_of("LMPredictionHead")};
    const std::int64_t width = ctx.config.hidden_size;
    t.enter(predictions);
    t.enter(lm_head);
    const tensor bias = t.param("bias", {ctx.config.vocab_size});
    tensor h = t.call("dense", linear{width, width, true}, x);
    h = t.call("transform_act_fn", activation_module{ctx.config.hidden_act}, h);
    h = t.call("LayerNorm", norm_module{norm_kind::layer, width}, h);
    tensor token_embeddings = trace::buffer({ctx.config.vocab_size, width});
    token_embeddings.requires_grad = true;
    return t.leave(predictions, t.leave(lm_head, t.add(t.matmul(h, token_embeddings.transpose(0, 1)), bias)));
}

constexpr tensor lm_head_logits(const layer_context& ctx, trace& t, const tensor_pair& out) {
    return ctx.config.family[deberta_layers::written_anew] != 0 ? score_with_token_embeddings(ctx, t, out.first)
                                                                : score_in_cls(ctx, t, out.first);
}

constexpr tensor score(const layer_context& ctx, trace& t, const tensor_pair& out) {
    const bool pools =
        ctx.config.head == head_kind::sequence_classification || ctx.config.head == head_kind::multiple_choice;
    return forward_encoder_head(ctx, t, {out.first, pools ? pool(ctx, t, out.first) : tensor{}}, lm_head_logits);
}

constexpr tensor forward(const layer_context& ctx, trace& t) { return forward_encoder_model(ctx, t, {.score = score}); }

constexpr void parse_convolution(config_view json, model_config& config) {
    family_config& o = config.family;
    if (o[deberta_layers::kernel] == 0) return;
    if (o[deberta_layers::kernel] % 2 == 0) throw_invalid_value(json, "conv_kernel_size", "an odd number");
    if (config.hidden_size % o[deberta_layers::conv_groups] != 0)
        throw_invalid_value(json, "conv_groups", "a divisor of hidden_size");
    if (const auto act = json.optional_string("conv_act"))
        o[deberta_layers::conv_act] = static_cast<std::int64_t>(activation_named(json, "conv_act", *act));
    set_layers(json, config,
               [](std::int64_t i) { return layer_spec{.family_tag = i == 0 ? convolved : std::uint8_t{0}}; });
}

constexpr void parse_config(config_view json, model_config& config) {
    family_config& o = config.family;
    parse_encoder_only(json, config);
    config.type_vocab_size = json.non_negative("type_vocab_size", 0);
    config.embedding_size = json.positive("embedding_size", config.hidden_size);
    if (json.positive("attention_head_size", config.head_dim) != config.head_dim)
        throw_invalid_value(json, "attention_head_size", "hidden_size / num_attention_heads");
    const bool pools = config.head == head_kind::sequence_classification || config.head == head_kind::multiple_choice;
    if (pools && json.positive("pooler_hidden_size", config.hidden_size) != config.hidden_size)
        throw_invalid_value(json, "pooler_hidden_size", "hidden_size");
    const std::int64_t maximum = json.signed_integer("max_relative_positions", -1);
    const std::int64_t n = json.signed_integer("position_buckets", -1);
    o[deberta_layers::furthest] = maximum < 1 ? config.max_position_embeddings : maximum;
    o[deberta_layers::buckets] = n > 0 ? n : 0;
    (void)checked_size(json, "max_relative_positions", 2, o[deberta_layers::furthest]);
    (void)checked_size(json, "position_buckets", 2, o[deberta_layers::buckets]);
    o[deberta_layers::content_to_place] = deberta_layers::has_kind(json, "c2p");
    o[deberta_layers::place_to_content] = deberta_layers::has_kind(json, "p2c");
    o[deberta_layers::norms_places] = deberta_layers::contains(json.string("norm_rel_ebd", "none"), "layer_norm");
    if (const auto act = json.optional_string("pooler_hidden_act"))
        o[deberta_layers::pooler_act] = static_cast<std::int64_t>(activation_named(json, "pooler_hidden_act", *act));
    o[deberta_layers::written_anew] = !json.boolean("legacy", true);
    if (o[deberta_layers::written_anew] != 0 && config.head == head_kind::masked_lm &&
        config.embedding_size != config.hidden_size)
        throw_invalid_value(json, "embedding_size", "hidden_size with this head");
    parse_convolution(json, config);
}

inline constexpr dropout_key dropout_rates[]{{dropout_position::hidden, "hidden_dropout_prob", 0.1},
                                             {dropout_position::attention, "attention_probs_dropout_prob", 0.1},
                                             {dropout_position::pooler, "pooler_dropout"},
                                             {dropout_position::classifier, "hidden_dropout_prob", 0.1},
                                             {dropout_position::classifier, "cls_dropout", same_as_previous}};

}  // namespace deberta_v2_detail

inline constexpr model_spec deberta_v2 = [](model_spec spec) {
    spec.model_type = "deberta-v2";
    spec.class_prefix = "DebertaV2";
    spec.forward = deberta_v2_detail::forward;
    spec.parse_config = deberta_v2_detail::parse_config;
    spec.family_keys = deberta_layers::family_keys;
    spec.base_model = deberta_v2_detail::encode;
    spec.decoder_layer = deberta_layers::decoder_layer;
    spec.attention = deberta_v2_detail::attention;
    spec.supported_layers.max_family_tag = deberta_v2_detail::convolved;
    spec.supported_heads = {head_kind::none,
                            head_kind::masked_lm,
                            head_kind::sequence_classification,
                            head_kind::token_classification,
                            head_kind::question_answering,
                            head_kind::multiple_choice};
    spec.names.base_model = "deberta";
    spec.defaults.vocab_size = 128100;
    spec.defaults.hidden_size = 1536;
    spec.defaults.intermediate_size = 6144;
    spec.defaults.num_hidden_layers = spec.defaults.num_attention_heads = 24;
    spec.defaults.type_vocab_size = 0;
    spec.defaults.head = head_kind::masked_lm;
    spec.dropout_keys = deberta_v2_detail::dropout_rates;
    return spec;
}(bert);

}  // namespace llmcost::arch
