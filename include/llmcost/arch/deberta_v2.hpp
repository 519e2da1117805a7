// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bert.hpp>

// DeBERTa V2. Derived from BERT, with these differences:
//  - disentangled attention with separate scores for contents and positions;
//  - no pooler without a head.
//
// Source: transformers/models/deberta_v2

namespace llmcost::arch {

namespace deberta_v2_detail {

enum family_config_index : std::uint8_t {
    relative,
    furthest,
    buckets,
    content_to_place,
    place_to_content,
    shares_projections,
    norms_places,
    adds_places,
    kernel,
    conv_groups,
    conv_act,
    pooler_act,
    written_anew
};
inline constexpr family_key family_keys[]{
    {"relative_attention", 0, family_key_type::boolean},
    {.type = family_key_type::computed},  // `max_relative_positions`
    {.type = family_key_type::computed},  // `position_buckets`; 0: none
    {.type = family_key_type::computed},  // `pos_att_type`
    {.type = family_key_type::computed},
    {"share_att_key", 0, family_key_type::boolean},
    {.type = family_key_type::computed},  // `norm_rel_ebd`
    {"position_biased_input", 1, family_key_type::boolean},
    {"conv_kernel_size", 0, family_key_type::non_negative},
    {"conv_groups", 1},
    {.default_value = static_cast<std::int64_t>(activation::tanh), .type = family_key_type::computed},
    {.default_value = static_cast<std::int64_t>(activation::gelu), .type = family_key_type::computed},
    {.type = family_key_type::computed},  // not `legacy`
};

/// `family_tag` of the first layer if a convolution follows it.
inline constexpr std::uint8_t convolved = 1;

/// Number of relative positions with an embedding, in one direction.
[[nodiscard]] constexpr std::int64_t span(const model_config& config) {
    return config.family[buckets] > 0 ? config.family[buckets] : config.family[furthest];
}

/// Returns true if no attention score uses the relative position embeddings.
[[nodiscard]] constexpr bool scores_contents_alone(const model_config& config) {
    return config.family[content_to_place] == 0 && config.family[place_to_content] == 0;
}

/// Sums word, position and segment embeddings; applies the norm and multiplies by a mask of ones.
constexpr tensor sum_embeddings(const layer_context& ctx, trace& t, const tensor& ones) {
    const std::int64_t width = ctx.config.hidden_size;
    tensor x = word_embeddings(ctx, t);
    if (ctx.config.family[adds_places] != 0)
        x = t.add(x, position_embeddings(ctx, t));
    else
        (void)t.zeros_like(x);
    if (ctx.config.type_vocab_size > 0) x = t.add(x, segment_embeddings(ctx, t));
    if (x.dim(-1) != width) x = t.call("embed_proj", linear{x.dim(-1), width}, x);
    x = t.call("LayerNorm", norm_module{norm_kind::layer, width}, x);
    return dropout(t, "dropout", t.mul(x, t.to(ones.unsqueeze(2), x.type)));
}

/// Buckets of the distances between queries and keys; buckets beyond the middle are logarithmic
/// (`make_log_bucket_position`).
constexpr void make_buckets(trace& t, std::int64_t sequence) {
    const tensor distance = t.full({sequence, sequence});  // in floating point
    tensor log_position = t.log(t.div_scalar(trace::buffer({sequence, sequence})));
    log_position = t.mul_scalar(t.div(log_position, t.log(trace::buffer({}))));
    log_position = t.add_scalar(t.ceil(log_position));  // rounded up
    (void)t.masked_fill(t.mul(log_position, distance));
}

/// (B, S, heads · d) -> (B · heads, S, d).
constexpr tensor in_heads(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t heads = ctx.config.num_attention_heads, d = ctx.config.head_dim;
    const tensor split = x.view({x.dim(0), x.dim(1), heads, d}).permute({0, 2, 1, 3});
    return t.contiguous(split).view({x.dim(0) * heads, x.dim(1), d});
}
/// Square root of head_dim · (number of score types), as a tensor.
constexpr tensor root(trace& t, const tensor& x) { return t.to(t.sqrt(t.mul_scalar(trace::buffer({}))), x.type); }

/// Projects the relative position embeddings; one copy per sequence.
constexpr tensor project_places(const layer_context& ctx, trace& t, literal name, const tensor& places) {
    const std::int64_t width = ctx.config.num_attention_heads * ctx.config.head_dim, batch = t.load().batch;
    tensor x = in_heads(ctx, t, t.call(name, linear{ctx.config.hidden_size, width, true}, places)).unsqueeze(0);
    const tensor spread = t.copy(x.expand({batch, x.dim(1), x.dim(2), x.dim(3)}));
    return spread.view({batch * x.dim(1), x.dim(2), x.dim(3)});
}
constexpr tensor project_places_with_shared_weights(const layer_context& ctx, trace& t, literal name,
                                                    const tensor& places) {
    const recorder::shared_parameters_guard known{t};
    return project_places(ctx, t, name, places);
}

/// Gathers the scores of the relative positions. The backward reads the scores that it gathers from.
constexpr tensor pick(trace& t, const tensor& scores) {
    t.save_for_backward(scores);
    return t.gather(scores, {scores.dim(0), scores.dim(1), scores.dim(1)});
}

/// Applies the mask and the softmax: scores -> probabilities.
constexpr tensor hide_and_soften(trace& t, const tensor& scores) { return t.softmax(t.masked_fill(scores)); }

/// Differences between families with disentangled attention.
struct disentangled_attention_style {
    tensor (*soften)(trace& t, const tensor& scores) = hide_and_soften;
    literal dropout = "Dropout";
};

/// Content-to-position and position-to-content scores.
constexpr tensor score_places(const layer_context& ctx, trace& t, const tensor& q, const tensor& k,
                              const tensor& distances) {
    const family_config& o = ctx.config.family;
    const std::int64_t num_distances = 2 * span(ctx.config);
    const tensor relative_embeddings = t.slice(distances, 0, num_distances).unsqueeze(0);
    tensor place_k, place_q;
    if (o[shares_projections] != 0) {
        place_q = project_places_with_shared_weights(ctx, t, "query_proj", relative_embeddings);
        place_k = project_places_with_shared_weights(ctx, t, "key_proj", relative_embeddings);
    } else {
        if (o[content_to_place] != 0) place_k = project_places(ctx, t, "pos_key_proj", relative_embeddings);
        if (o[place_to_content] != 0) place_q = project_places(ctx, t, "pos_query_proj", relative_embeddings);
    }
    tensor sum;
    if (o[content_to_place] != 0) {
        const tensor scale = root(t, q);
        const tensor found = pick(t, t.bmm(q, place_k.transpose(-1, -2)));
        sum = t.add_scalar(t.div(found, scale));  // added to zero
    }
    if (o[place_to_content] != 0) {
        const tensor scale = root(t, k);
        const tensor found = pick(t, t.bmm(k, place_q.transpose(-1, -2)));
        const tensor scaled = t.div(found.transpose(-1, -2), scale);
        if (o[content_to_place] != 0)
            t.add_(sum, scaled);
        else
            sum = t.add_scalar(scaled);
    }
    return sum;
}

/// Attention with separate scores for contents and positions (`DisentangledSelfAttention`).
constexpr tensor disentangled_attention(const layer_context& ctx, trace& t, const tensor& x,
                                        const disentangled_attention_style& style) {
    const family_config& o = ctx.config.family;
    const std::int64_t batch = x.dim(0), sequence = x.dim(1), heads = ctx.config.num_attention_heads,
                       d = ctx.config.head_dim;
    const linear projection{ctx.config.hidden_size, heads * d, true};
    const tensor q = in_heads(ctx, t, t.call("query_proj", projection, x));
    const tensor k = in_heads(ctx, t, t.call("key_proj", projection, x));
    const tensor v = in_heads(ctx, t, t.call("value_proj", projection, x));
    const recorder::fused_kernel_guard fused{
        t, fused_attention_kernel(q.view({batch, heads, sequence, d}), heads, ctx.inputs->pattern, sequence)};
    tensor scores = t.bmm(q, t.div(k.transpose(-1, -2), root(t, q)));
    if (o[relative] != 0) {
        const bool none = scores_contents_alone(ctx.config);
        const recorder::detach_guard unread{t, none};
        const dropout_module drops{.named = style.dropout};
        const tensor distances = t.call("pos_dropout", drops, ctx.inputs->family_tensors[0]);
        tensor places;
        if (!none || o[shares_projections] != 0) places = score_places(ctx, t, q, k, distances);
        if (!none) scores = t.add(scores, places);
    }
    if (o[relative] != 0 && scores_contents_alone(ctx.config)) scores = t.add_scalar(scores);  // adds zero
    const tensor soft = style.soften(t, scores.view({batch, heads, sequence, sequence}));
    const dropout_module drops{dropout_position::attention, style.dropout};
    const tensor features = t.call("dropout", drops, soft).view({batch * heads, sequence, sequence});
    const tensor mixed = t.bmm(features, v).view({batch, heads, sequence, d}).permute({0, 2, 1, 3});
    return t.contiguous(mixed).view({batch, sequence, heads * d});
}

constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    return disentangled_attention(ctx, t, x, {});
}

/// Convolution over the input of the first layer, added to its output (`ConvLayer`).
constexpr tensor convolve(const layer_context& ctx, trace& t, const tensor& in, const tensor& out, const tensor& ones) {
    const std::int64_t width = ctx.config.hidden_size, k = ctx.config.family[kernel],
                       groups = ctx.config.family[conv_groups];
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
    h = activate(t, static_cast<activation>(ctx.config.family[conv_act]), dropout(t, "dropout", h));
    h = t.call("LayerNorm", norm_module{norm_kind::layer, width}, t.add(out, h));
    return t.leave(conv, t.mul(h, t.to(ones.unsqueeze(2), h.type)));
}

constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const module_info attention{
        .name = "attention", .class_of_module = ctx.class_of("Attention"), .module_role = role::attn};
    const module_info self{.name = "self", .class_of_module = {"", "DisentangledSelfAttention"}};
    const std::int64_t width = ctx.config.hidden_size;
    t.enter(attention);
    t.enter(self);
    const tensor mixed = t.leave(self, ctx.spec.attention(ctx, t, x));
    const bert_layers::output_block joins{mixed.dim(-1), width, ctx.class_of("SelfOutput")};
    return bert_mlp(ctx, t, t.leave(attention, t.call("output", joins, mixed, x)));
}

/// Relative position embeddings, which the encoder passes to all layers.
constexpr tensor embed_distances(const layer_context& ctx, trace& t) {
    const std::int64_t rows = 2 * span(ctx.config), width = ctx.config.hidden_size;
    const recorder::detach_guard unread{t, scores_contents_alone(ctx.config)};
    const module_info table{.name = "rel_embeddings", .class_of_module = {"", "Embedding"}, .is_leaf = true};
    t.enter(table);
    const tensor weight = t.param("weight", {rows, width});
    t.leave(table);
    return ctx.config.family[norms_places] != 0 ? t.call("LayerNorm", norm_module{norm_kind::layer, width}, weight)
                                                : weight;
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
    if (o[relative] != 0 && o[buckets] > 0) make_buckets(t, sequence);
    if (o[relative] != 0) {
        shared.full.family_tensors[0] = embed_distances(ctx, t);
    } else if (o[norms_places] != 0) {
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
    return t.leave(pooler, activate(t, static_cast<activation>(ctx.config.family[pooler_act]), h));
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
    return ctx.config.family[written_anew] != 0 ? score_with_token_embeddings(ctx, t, out.first)
                                                : score_in_cls(ctx, t, out.first);
}

constexpr tensor score(const layer_context& ctx, trace& t, const tensor_pair& out) {
    const bool pools =
        ctx.config.head == head_kind::sequence_classification || ctx.config.head == head_kind::multiple_choice;
    return forward_encoder_head(ctx, t, {out.first, pools ? pool(ctx, t, out.first) : tensor{}}, lm_head_logits);
}
constexpr tensor forward(const layer_context& ctx, trace& t) { return forward_encoder_model(ctx, t, {.score = score}); }

/// Returns true if `text` contains `name`. `pos_att_type` is a list of kinds or one string with all names.
constexpr bool contains(string_ref text, string_ref name) noexcept {
    for (std::size_t i = 0; i + name.size() <= text.size(); ++i)
        if (text.substr(i, name.size()) == name) return true;
    return false;
}
constexpr bool has_kind(config_view json, literal kind) {
    const auto found = json.find("pos_att_type");
    if (!found || found->is_null()) return false;
    if (found->is_string()) return contains(found->as_string(), kind);
    for (const config_view entry : found->as_array())
        if (entry.as_string() == kind) return true;
    return false;
}

constexpr void parse_convolution(config_view json, model_config& config) {
    family_config& o = config.family;
    if (o[kernel] == 0) return;
    if (o[kernel] % 2 == 0) throw_invalid_value(json, "conv_kernel_size", "an odd number");
    if (config.hidden_size % o[conv_groups] != 0) throw_invalid_value(json, "conv_groups", "a divisor of hidden_size");
    if (const auto act = json.optional_string("conv_act"))
        o[conv_act] = static_cast<std::int64_t>(activation_named(json, "conv_act", *act));
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
    o[furthest] = maximum < 1 ? config.max_position_embeddings : maximum;
    o[buckets] = n > 0 ? n : 0;
    (void)checked_size(json, "max_relative_positions", 2, o[furthest]);
    (void)checked_size(json, "position_buckets", 2, o[buckets]);
    o[content_to_place] = has_kind(json, "c2p");
    o[place_to_content] = has_kind(json, "p2c");
    o[norms_places] = contains(json.string("norm_rel_ebd", "none"), "layer_norm");
    if (const auto act = json.optional_string("pooler_hidden_act"))
        o[pooler_act] = static_cast<std::int64_t>(activation_named(json, "pooler_hidden_act", *act));
    o[written_anew] = !json.boolean("legacy", true);
    if (o[written_anew] != 0 && config.head == head_kind::masked_lm && config.embedding_size != config.hidden_size)
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
    spec.family_keys = deberta_v2_detail::family_keys;
    spec.base_model = deberta_v2_detail::encode;
    spec.decoder_layer = deberta_v2_detail::decoder_layer;
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
