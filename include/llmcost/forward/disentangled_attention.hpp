// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/base/config_view.hpp>
#include <llmcost/forward/encoder.hpp>

// Disentangled attention: separate scores for contents and positions (arXiv 2006.03654).
//
// Shapes: B = batch, S = sequence, d = head size.
namespace llmcost::deberta_layers {

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

/// Number of relative positions with an embedding, in one direction.
[[nodiscard]] constexpr std::int64_t span(const model_config& config) {
    return config.family[buckets] > 0 ? config.family[buckets] : config.family[furthest];
}

/// Returns true if no attention score uses the relative position embeddings.
[[nodiscard]] constexpr bool scores_contents_alone(const model_config& config) {
    return config.family[content_to_place] == 0 && config.family[place_to_content] == 0;
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
constexpr tensor split_heads(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t heads = ctx.config.num_attention_heads, d = ctx.config.head_dim;
    const tensor split = x.view({x.dim(0), x.dim(1), heads, d}).permute({0, 2, 1, 3});
    return t.contiguous(split).view({x.dim(0) * heads, x.dim(1), d});
}

/// Square root of head_dim · (number of score types), as a tensor.
constexpr tensor root(trace& t, const tensor& x) { return t.to(t.sqrt(t.mul_scalar(trace::buffer({}))), x.type); }

/// Projects the relative position embeddings; one copy per sequence.
constexpr tensor project_places(const layer_context& ctx, trace& t, literal name, const tensor& places) {
    const std::int64_t width = ctx.config.num_attention_heads * ctx.config.head_dim, batch = t.load().batch;
    tensor x = split_heads(ctx, t, t.call(name, linear{ctx.config.hidden_size, width, true}, places)).unsqueeze(0);
    const tensor spread = t.copy(x.expand({batch, x.dim(1), x.dim(2), x.dim(3)}));
    return spread.view({batch * x.dim(1), x.dim(2), x.dim(3)});
}

constexpr tensor project_places_with_shared_weights(const layer_context& ctx, trace& t, literal name,
                                                    const tensor& places) {
    const recorder::shared_parameters_guard known{t};
    return project_places(ctx, t, name, places);
}

/// Gathers the scores of the relative positions. The backward reads the scores that it gathers from.
constexpr tensor route(trace& t, const tensor& scores) {
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
        const tensor found = route(t, t.bmm(q, place_k.transpose(-1, -2)));
        sum = t.add_scalar(t.div(found, scale));  // added to zero
    }
    if (o[place_to_content] != 0) {
        const tensor scale = root(t, k);
        const tensor found = route(t, t.bmm(k, place_q.transpose(-1, -2)));
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
    const tensor q = split_heads(ctx, t, t.call("query_proj", projection, x));
    const tensor k = split_heads(ctx, t, t.call("key_proj", projection, x));
    const tensor v = split_heads(ctx, t, t.call("value_proj", projection, x));
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

}  // namespace llmcost::deberta_layers
