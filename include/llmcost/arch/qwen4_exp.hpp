// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/qwen3_5.hpp>
#include <llmcost/arch/qwen3_5_moe.hpp>
#include <llmcost/arch/qwen4_exp_layers.hpp>

namespace llmcost::arch {

namespace qwen4_exp_detail {

/// What a block reads of all streams (B, S, streams · width), and how its output goes to each: (B, S, width), (B, S,
/// streams).
struct gated_residual {
    layer_context ctx;
    bool injects = true;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("TextGatedResidual"); }
    constexpr tensor_pair forward(trace& t, const tensor& all) const {
        const std::int64_t n = ctx.config.family[streams], width = ctx.config.hidden_size,
                           rank = ctx.config.family[hc_lowrank];
        const tensor normed = t.call("hc_norm", stream_norm{n, width, ctx.class_of("TextRMSNorm")}, all);
        const tensor low = t.silu(t.div_scalar(t.call("input_mix_weight_down", linear{n * width, rank}, normed)));
        const tensor weights = t.sigmoid(t.call("input_mix_weight_up", linear{rank, n * width}, low));
        const shape stream_shape{all.dim(0), all.dim(1), n, width};
        const tensor mixed = t.mean(t.mul(weights.view(stream_shape), normed.view(stream_shape)), -2);
        if (!injects) return {mixed, tensor{}};
        return {mixed,
                t.mul_scalar(t.sigmoid(t.div_scalar(t.call("block_inject_weight", linear{n * width, n}, normed))))};
    }
};

/// Streams with a block's output added, to each by its weight.
constexpr tensor injected(trace& t, const tensor& all, const tensor& h, const tensor& weights) {
    const tensor spread = t.mul(h.unsqueeze(-2), weights.unsqueeze(-1));
    return t.add(all, t.reshape(spread, {all.dim(0), all.dim(1), all.dim(2)}));
}

constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    tensor all = x;
    if (ctx.layer.family_tag != 0) all = t.add(x, t.call("ple", text_ple_layer{ctx, ctx.layer.family_tag - 1}, x));
    tensor_pair in = t.call("attn_hyper_connection", gated_residual{ctx}, all);
    all = injected(t, all, mix_tokens(ctx, t, in.first), in.second);
    in = t.call("mlp_hyper_connection", gated_residual{ctx}, all);
    return injected(t, all, ctx.spec.mlp(ctx, t, in.first), in.second);
}

// ---- selection of the keys of each token

/// Number of complete token blocks that all queries attend to, and quantities derived from it.
struct visible_blocks {
    std::int64_t all = 0;      ///< blocks of all queries of a sequence
    std::int64_t picked = 0;   ///< those that are picked
    std::int64_t queries = 0;  ///< that see any
    std::int64_t rest = 0;     ///< tokens of queries that see none
};
constexpr visible_blocks count_blocks(trace& t, const attention_pattern& pattern, std::int64_t rate,
                                      std::int64_t maximum) {
    const auto add_block_edges = [&](workload_axis a, std::int64_t position) {
        t.add_region_edge(a, position / rate * rate);
        t.add_region_edge(a, (position / rate + 1) * rate);
    };
    add_block_edges(workload_axis::past, pattern.cached_length);
    add_block_edges(workload_axis::total, pattern.key_length());
    // Σ ⌊i / rate⌋, and Σ min(⌊i / rate⌋, most), over i = 1 … n
    const auto blocks_to = [&](std::int64_t n) {
        const std::int64_t full_blocks = n / rate;
        return rate * (full_blocks * (full_blocks - 1) / 2) + full_blocks * (n % rate + 1);
    };
    const auto picked_to = [&](std::int64_t n) {
        const std::int64_t full = (maximum + 1) * rate;
        return n < full ? blocks_to(n) : blocks_to(full - 1) + maximum * (n - full + 1);
    };
    const auto count_uncovered = [&](std::int64_t n) { return n < rate ? n : rate - 1; };
    const std::int64_t first_position = pattern.cached_length, last_position = pattern.key_length();
    return {blocks_to(last_position) - blocks_to(first_position), picked_to(last_position) - picked_to(first_position),
            last_position - count_uncovered(last_position) - first_position + count_uncovered(first_position),
            count_uncovered(last_position) * (count_uncovered(last_position) + 1) / 2 -
                count_uncovered(first_position) * (count_uncovered(first_position) + 1) / 2};
}

/// The norm over the blocks visible to one query, applied to all queries in turn; each adds one to the weight again.
struct norm_by_query {
    std::int64_t width;
    std::int64_t queries;
    class_name named;

    static constexpr role module_role = role::norm;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor weight = t.to(t.param("weight", {width}), dtype::float32);
        if (x.numel == 0) return x;
        const tensor h = t.to(x, dtype::float32);
        const tensor out = t.mul(h, t.rsqrt(t.add_scalar(t.mean(t.pow(h, 2), -1, true))));
        const tensor grown = t.add_scalar(weight.unsqueeze(0).expand({queries, width}));
        return t.to(t.mul(out, grown.select(0)), x.type);
    }
};

/// Halves of the first elements turned by their positions, the others as they are.
constexpr tensor apply_partial_rotary(trace& t, const tensor& x, const tensor& cos, const tensor& sin) {
    const std::int64_t part = cos.dim(-1);
    const tensor first = t.slice(x, -1, part), plain = t.mul(first, cos);
    const tensor rotated_half = t.cat({t.neg(t.slice(first, -1, part / 2)), t.slice(first, -1, part / 2)}, -1);
    const tensor rotated = t.add(plain, t.mul(rotated_half, sin));
    return t.cat({rotated, t.slice(x, -1, x.dim(-1) - part)}, -1);
}

/// Each query picks blocks of tokens by the means of their keys, (B, T, width), which the cache holds: a loop over
/// queries, all of whose steps together are described here. What it finds out are integers, so that no gradient comes
/// back.
struct indexer {
    layer_context ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("TextQSAIndexer"); }
    constexpr void forward_steps(trace& t, const tensor& q, const tensor& keys) const {
        const family_config& family = ctx.config.family;
        const attention_inputs& s = *ctx.inputs;
        const std::int64_t batch = q.dim(0), d = family[index_width], rate = family[index_rate];
        const visible_blocks visible = count_blocks(t, s.pattern, rate, family[index_budget] / rate);
        const std::int64_t n = checked_product(batch, visible.all), part = s.cos.dim(-1);
        (void)t.full(
            // an empty tensor of blocks makes the concatenation with the tokens floating-point
            {checked_product(batch, visible.rest)});
        const norm_by_query norm{d, checked_product(batch, visible.queries), ctx.class_of("TextRMSNorm")};
        if (n == 0) {
            (void)t.call("k_layernorm", norm, trace::buffer({0, d}));
            return;
        }
        const tensor groups = t.gather(keys, {checked_product(n, rate), d}).view({n, rate, d});
        const tensor pooled = t.to(t.mean(t.to(groups, dtype::float32), 1), keys.type);
        const tensor normed = t.call("k_layernorm", norm, pooled).unsqueeze(1);
        const tensor cos = t.gather(s.family_tensors[0], {n, part}).unsqueeze(1),
                     sin = t.gather(s.family_tensors[1], {n, part}).unsqueeze(1);
        const tensor blocks = t.to(apply_partial_rotary(t, normed, cos, sin).squeeze(1), dtype::float32);
        const tensor query = t.to(q, dtype::float32).slice(0, 1).slice(1, 1).view({family[index_heads], d});
        const tensor found =
            t.unary(torch_function::relu_function, op::relu, t.matmul(query, blocks.transpose(0, 1)).transpose(0, 1));
        (void)t.topk(t.div_scalar(t.sum(found, -1)), checked_product(batch, visible.picked));
    }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const recorder::detach_guard indices{t};
        const family_config& family = ctx.config.family;
        const attention_inputs& s = *ctx.inputs;
        const std::int64_t batch = x.dim(0), sequence = x.dim(1), heads = family[index_heads], d = family[index_width];
        const tensor rotated = t.call("index_qk_proj", linear{ctx.config.hidden_size, (heads + 1) * d}, x);
        tensor q = t.reshape(rotated.slice(-1, heads * d), {batch, sequence, heads, d});
        tensor family_keys = t.reshape(rotated.slice(-1, d), {batch, sequence, d});
        q = call_norm(t, "q_layernorm", ctx.spec.norm, d, ctx.class_of("TextRMSNorm"), q);
        q = apply_partial_rotary(t, q, s.cos.unsqueeze(2), s.sin.unsqueeze(2));
        if (!t.is_training())
            family_keys = s.pattern.cached_length > 0
                              ? t.cat({trace::buffer({batch, s.pattern.cached_length, d}), family_keys}, 1)
                              : t.cat({family_keys}, 1);
        forward_steps(t, q, family_keys);
        return family_keys;
    }
};

/// Qwen3-Next's gated attention, to keys that an indexer picks.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const decoder_module_names& n = ctx.spec.names;
    const std::int64_t d = ctx.config.head_dim, heads = ctx.config.num_attention_heads;
    const std::int64_t kv_width = ctx.config.num_key_value_heads * d, batch = x.dim(0), sequence = x.dim(1);
    const tensor family_keys = t.call("indexer", indexer{ctx}, x);
    const bool sparse = t.load().attention == attention_scores::causal;
    const tensor mask = sparse ? ctx.inputs->mask : t.masked_fill(ctx.inputs->mask);
    query_key_value qkv;
    qkv.query = project(ctx, t, n.q_proj, 2 * heads * d, x).view({batch, sequence, heads, 2 * d}).slice(-1, d);
    const tensor gate = t.reshape(qkv.query, {batch, sequence, -1});
    qkv.key = project(ctx, t, n.k_proj, kv_width, x);
    qkv.value = project(ctx, t, n.v_proj, kv_width, x);
    split_heads(ctx, qkv);
    apply_qk_norm(ctx, t, qkv, d, d);
    transpose_heads(qkv);
    apply_rotary(ctx, t, qkv);
    update_kv_cache(ctx, t, qkv);
    if (!t.is_training()) t.add_to_cache(family_keys);
    const tensor mixed = attention_forward(t, qkv.query, qkv.key, qkv.value, ctx.inputs->pattern, {.mask = &mask});
    const tensor found = t.reshape(mixed, {batch, sequence, -1});
    return output_projection(ctx, t, t.mul(found, t.sigmoid(gate)));
}

constexpr tensor recurrent_block(const layer_context& ctx, trace& t, const tensor& x) {
    const gated_delta_net_config& d = ctx.config.delta;
    const gated_delta_net_dims rule{ctx.config.hidden_size, d.num_key_heads, d.num_value_heads,    d.key_head_dim,
                                    d.value_head_dim,       d.conv_kernel,   ctx.config.hidden_act};
    const shape ngram_state_shape =
        ctx.layer.family_tag != 0 ? text_ple_layer{ctx, ctx.layer.family_tag - 1}.state_of(x.dim(0)) : shape{};
    const gated_delta_net net{rule, "Qwen4ExpText", true, static_cast<activation>(ctx.config.family[gate_act]),
                              ngram_state_shape};
    return t.call(ctx.spec.names.recurrent_block, net, x);
}

/// Tables of all positions where an indexer looks up those of keys, and the part of them that is new.
constexpr decoder_inputs prepare_inputs(const layer_context& ctx, trace& t) {
    decoder_inputs c = make_masks(ctx, t);
    const std::int64_t sequence = t.load().sequence;
    const bool indexed = ctx.config.layers.contains(token_mixer_kind::full_attention, ctx.config.num_hidden_layers);
    const rotary_table table{ctx.config.rotary_dim, ctx.class_of("TextRotaryEmbedding"),
                             rotary_frequencies{ctx.config, false}, ctx.spec.rotary, ctx.spec.rotary_axes};
    const tensor_pair tables = t.call("rotary_emb", table, indexed ? c.full.pattern.key_length() : sequence);
    c.full.family_tensors[0] = tables.first;
    c.full.family_tensors[1] = tables.second;
    c.full.cos = tables.first.slice(1, sequence);
    c.full.sin = tables.second.slice(1, sequence);
    return c;
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    const tensor token_embeddings = ctx.spec.embed_tokens(ctx, t);
    const decoder_inputs shared = ctx.spec.prepare_inputs(ctx, t);
    const std::int64_t n = ctx.config.family[streams], batch = token_embeddings.dim(0),
                       sequence = token_embeddings.dim(1), width = token_embeddings.dim(2);
    const tensor x =
        t.copy(token_embeddings.unsqueeze(2).expand({batch, sequence, n, width})).view({batch, sequence, n * width});
    const tensor out = forward_layers(ctx, t, shared, x);
    return t.call("hyper_connection_mixer", gated_residual{ctx, false}, out).first;
}

/// An indexer's sizes, all of which must be given: the reference builds one for every layer that attends.
constexpr void parse_indexer(config_view json, model_config& config) {
    if (!config.layers.contains(token_mixer_kind::full_attention, config.num_hidden_layers)) return;
    config.family[index_heads] = json.positive("indexer_n_heads");
    config.family[index_width] = json.positive("indexer_head_dim");
    config.family[index_budget] = json.positive("indexer_budget");
    config.family[index_rate] = json.positive("indexer_compress_ratio");
    (void)checked_size(json, "indexer_head_dim", config.family[index_heads] + 1, config.family[index_width]);
    if (json.positive("indexer_kv_heads") != 1) throw_invalid_value(json, "indexer_kv_heads", "1");
    if (config.family[index_budget] % config.family[index_rate] != 0)
        throw_invalid_value(json, "indexer_budget", "a multiple of indexer_compress_ratio");
    if (config.rotary_dim > config.family[index_width])
        throw_invalid_value(json, "indexer_head_dim", "at least the rotated elements of a head");
}

constexpr void parse_config(config_view json, model_config& config) {
    parse_experts(json, config, "num_experts");
    parse_load_balancing(json, config);
    validate_experts(json, config);
    config.moe.shared_intermediate_size = json.positive("shared_expert_intermediate_size", 512);
    parse_gated_delta_net(json, config);
    config.rotary_dim = round_rotary_dim(config.head_dim, detail::parse_partial_rotary_factor(json, 1.0));
    check_three_axes(json);
    if (config.family[streams] < 2) throw_invalid_value(json, "hc_count", "at least 2");
    (void)checked_size(json, "hc_count", config.family[streams], config.hidden_size);
    const auto gate = json.find("output_gate_type");
    const activation act =
        gate && !gate->is_null() ? activation_named(json, "output_gate_type", gate->as_string()) : config.hidden_act;
    if (act != activation::sigmoid && act != activation::silu)
        throw_invalid_value(json, "output_gate_type", "sigmoid or silu");
    config.family[gate_act] = static_cast<std::int64_t>(act);
    set_ngram_layers(json, config);
    parse_indexer(json, config);
}

}  // namespace qwen4_exp_detail

// transformers/models/qwen4_exp: several residual streams, layers that add features of token pairs and triples, and
// attention to keys that an indexer picks
inline constexpr model_spec qwen4_exp_text = [](model_spec spec) {
    spec.model_type = "qwen4_exp_text";
    spec.class_prefix = "Qwen4Exp";
    spec.multi_token_prediction = nullptr;  // the layers have several residual streams
    spec.parse_config = qwen4_exp_detail::parse_config;
    spec.family_keys = qwen4_exp_detail::family_keys;
    spec.forward = forward_decoder;
    spec.base_model = qwen4_exp_detail::base;
    spec.prepare_inputs = qwen4_exp_detail::prepare_inputs;
    spec.decoder_layer = qwen4_exp_detail::decoder_layer;
    spec.attention = qwen4_exp_detail::attention;
    spec.recurrent_block = qwen4_exp_detail::recurrent_block;
    spec.supported_layers.max_family_tag = 255;
    spec.names.layer_class = spec.names.recurrent_layer_class = "TextDecoderLayer";
    spec.names.attention_class = "TextAttention";
    spec.names.norm_class = "TextRMSNorm";
    spec.names.mlp_class = "TextMLP";
    spec.names.moe_class = "TextSparseMoeBlock";
    spec.names.experts_class = "TextExperts";
    spec.names.router_class = "TextTopKRouter";
    spec.defaults.moe.num_experts = 512;
    spec.defaults.moe.num_experts_per_tok = 10;
    spec.defaults.moe.norm_topk_prob = true;
    return spec;
}(qwen3_5_moe_text);

// transformers/models/qwen4_exp, Qwen4ExpVisionConfig
inline constexpr submodel_spec qwen4_exp_vision = [](model_spec spec) {
    spec.model_type = "qwen4_exp_vision";
    spec.class_prefix = "Qwen4Exp";
    return spec;
}(qwen3_5_vision);

// transformers/models/qwen4_exp; old files use the name of the complete model for the vision encoder
inline constexpr model_spec qwen4_exp = [](model_spec spec) {
    spec.model_type = "qwen4_exp";
    spec.class_prefix = "Qwen4Exp";
    spec.text_model.default_spec = &qwen4_exp_text;
    spec.components[0].default_spec = &qwen4_exp_vision;
    spec.components[0].alternative_model_type = "qwen4_exp";
    return spec;
}(qwen3_5_moe);

}  // namespace llmcost::arch
