// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/config/experts.hpp>

namespace llmcost::arch {

namespace hy_v4_detail {

enum family_config_index : std::uint8_t { streams, index_heads, index_width, index_picks };

inline constexpr family_key family_keys[]{
    {"hc_mult", 4},
    {"index_n_heads", 16},
    {"index_head_dim", 128},
    {"index_topk", 2048},
};

/// Layer flag: the layer reuses the keys that an earlier layer selected.
inline constexpr std::uint8_t shares_picks = 1;

/// The reciprocal of each row's length, (…, width) -> (…, 1).
struct reciprocal_length {
    class_name named;

    static constexpr role module_role = role::norm;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor squares = t.pow(t.to(x, dtype::float32), 2);
        return t.to(t.rsqrt(t.add_scalar(t.mean(squares, -1, true))), x.type);
    }
};

/// Logits of all streams together, (B, S, logits): a product, then the norm of what was multiplied.
constexpr tensor mixes(const layer_context& ctx, trace& t, const tensor& all, const tensor& weight) {
    const tensor flat = t.to(all.view({all.dim(0), all.dim(1), -1}), dtype::float32);
    const tensor product = t.linear(flat, t.to(weight, dtype::float32));
    return t.mul(product, t.call("input_norm", reciprocal_length{ctx.class_of("UnweightedRMSNorm")}, flat));
}

/// The sum of streams (B, S, streams, width), each weighed by its gate (B, S, streams).
constexpr tensor weighed(trace& t, const tensor& gates, const tensor& all) {
    return t.to(t.sum(t.mul(gates.unsqueeze(-1), all), 2), all.type);
}

/// How a block writes to each stream, (B, S, streams), and what it reads of them, (B, S, width).
struct connection {
    layer_context ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("HyperConnection"); }
    constexpr tensor_pair forward(trace& t, const tensor& all) const {
        const std::int64_t n = ctx.config.family[streams];
        const tensor weight = t.float32_param("fn", {2 * n, n * ctx.config.hidden_size});
        const tensor base = t.float32_param("base", {2 * n}), scale = t.float32_param("scale", {2});
        const tensor half = mixes(ctx, t, all, weight).slice(-1, n);
        const auto gate = [&] { return t.sigmoid(t.add(t.mul(half, scale.select(0)), base.slice(-1, n))); };
        const tensor reads = t.add_scalar(gate());
        const tensor writes = t.add_scalar(t.mul_scalar(gate()));
        return {writes, weighed(t, reads, all)};
    }
};

/// What the head reads of all streams.
struct last_connection {
    layer_context ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("HyperHead"); }
    constexpr tensor forward(trace& t, const tensor& all) const {
        const std::int64_t n = ctx.config.family[streams];
        const tensor weight = t.float32_param("hc_fn", {n, n * ctx.config.hidden_size});
        const tensor base = t.float32_param("hc_base", {n}), scale = t.float32_param("hc_scale", {1});
        const tensor mixed = mixes(ctx, t, all, weight);
        const tensor logits = t.mul(mixed, t.to(scale, dtype::float32));
        return weighed(t, t.add_scalar(t.sigmoid(t.add(logits, t.to(base, dtype::float32)))), all);
    }
};

/// Selects the keys of each token: the best ones of a separate small attention, whose keys are also cached.
struct indexer {
    layer_context ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Indexer"); }
    constexpr tensor forward(trace& t, const tensor& x, const tensor& latent) const {
        const trace::no_grad_guard quiet{t};
        const model_config& config = ctx.config;
        const attention_inputs& s = *ctx.inputs;
        const std::int64_t batch = x.dim(0), sequence = x.dim(1), heads = config.family[index_heads];
        const std::int64_t d = config.family[index_width], rope = config.mla.qk_rope_head_dim,
                           length = s.pattern.key_length();
        const tensor cos = s.cos.unsqueeze(1).transpose(1, 2), sin = s.sin.unsqueeze(1).transpose(1, 2);
        const auto apply_rotary = [&](const tensor& h) {
            const tensor part = h.slice(-1, rope), plain = t.mul(part, cos);
            const tensor rotated_half = t.cat({t.neg(part.slice(-1, rope / 2)), part.slice(-1, rope / 2)}, -1);
            return t.add(plain, t.mul(rotated_half, sin));
        };
        const tensor q =
            t.call("wq_b", linear{config.mla.q_lora_rank, heads * d}, latent).view({batch, sequence, heads, d});
        tensor k = t.call("wk", linear{config.hidden_size, d}, x);
        tensor weights;
        {
            const trace::float32_parameters_guard typed{t};
            const dtype type = t.load().keeps_float32_parameters ? dtype::float32 : x.type;
            k = t.to(t.call("k_norm", norm_module{norm_kind::layer, d}, t.to(k, type)), x.type).unsqueeze(2);
            weights = t.call("weights_proj", linear{config.hidden_size, heads}, t.to(x, type));
        }
        const tensor q_rotated = apply_rotary(q), k_rotated = apply_rotary(k);
        const tensor queries = t.cat({q.slice(-1, d - rope), q_rotated}, -1);
        k = t.cat({k.slice(-1, d - rope), k_rotated}, -1).squeeze(2);
        if (!t.is_training()) {
            k = s.pattern.cached_length > 0 ? t.cat({trace::buffer({batch, s.pattern.cached_length, d}), k}, 1)
                                            : t.cat({k}, 1);
            t.add_to_cache(k);
        }
        const tensor float_queries = t.to(queries, dtype::float32);
        const tensor float_keys = t.to(k.transpose(-1, -2), dtype::float32);
        const tensor scores = t.relu(t.matmul(float_queries, float_keys.unsqueeze(1)));
        weights = t.mul_scalar(t.mul_scalar(t.to(weights, dtype::float32)));
        tensor found = t.matmul(weights.unsqueeze(-2), scores).squeeze(-2);
        found = t.add(found, s.mask.view({batch, sequence, length}));
        const std::int64_t picks = config.family[index_picks];
        t.add_region_edge(workload_axis::total, picks + 1);
        return t.topk(found, length < picks ? length : picks);
    }
};

/// What queries find in the picked keys, expanded from latents (B, 1, T, rank) and turned parts (B, 1, T, rope).
constexpr tensor sparse_attention(const layer_context& ctx, trace& t, const tensor& q, const tensor& latent,
                                  const tensor& k_rope, const tensor& sinks) {
    const mla_config& m = ctx.config.mla;
    const attention_pattern& pattern = ctx.inputs->pattern;
    const std::int64_t batch = q.dim(0), heads = q.dim(1), length = pattern.key_length();
    const std::int64_t nope = m.qk_nope_head_dim, rope = m.qk_rope_head_dim;
    const linear expansion{m.kv_lora_rank, heads * (nope + m.v_head_dim)};
    const tensor kv = t.call("kv_b_proj", expansion, latent).view({batch, length, heads, -1}).transpose(1, 2);
    tensor k = t.full({batch, heads, length, nope + rope}, q.type);
    t.copy_into_slice(k, kv.slice(-1, nope));
    t.copy_into_slice(k, k_rope.expand({batch, heads, length, rope}));
    const bool sparse = t.load().attention == attention_scores::causal;
    const tensor mask = sparse ? ctx.inputs->mask : t.masked_fill(ctx.inputs->mask);
    return attention_forward(t, q, k, kv.slice(-1, m.v_head_dim), pattern, {.mask = &mask, .sinks = &sinks});
}

/// Attention with a low-rank cache, to keys that an indexer picks, with sinks and a gate.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const model_config& config = ctx.config;
    const mla_config& m = config.mla;
    const attention_inputs& s = *ctx.inputs;
    const std::int64_t batch = x.dim(0), sequence = x.dim(1), heads = config.num_attention_heads;
    const std::int64_t nope = m.qk_nope_head_dim, rope = m.qk_rope_head_dim, rank = m.kv_lora_rank, v = m.v_head_dim;
    const tensor sinks = t.float32_param("sinks", {heads});
    const tensor gate = t.call("gate_proj", linear{config.hidden_size, heads * v}, x).view({batch, sequence, heads, v});
    const tensor q_latent =
        apply_norm(ctx, t, "q_a_layernorm", m.q_lora_rank, project(ctx, t, "q_a_proj", m.q_lora_rank, x));
    tensor q = t.call("q_b_proj", linear{m.q_lora_rank, heads * (nope + rope)}, q_latent);
    q = q.view({batch, sequence, heads, nope + rope}).transpose(1, 2);
    const tensor compressed = project(ctx, t, "kv_a_proj_with_mqa", rank + rope, x);
    tensor latent =
        apply_norm(ctx, t, "kv_a_layernorm", rank, compressed.slice(-1, rank)).view({batch, 1, sequence, rank});
    tensor k_rope = compressed.slice(-1, rope).view({batch, 1, sequence, rope});
    const tensor q_rope = rotate(t, rotary_style::rotate_half, q.slice(-1, rope), s.cos, s.sin);
    k_rope = rotate(t, rotary_style::rotate_half, k_rope, s.cos, s.sin);
    latent = update_kv_cache(t, latent, s.pattern);
    k_rope = update_kv_cache(t, k_rope, s.pattern);
    q = t.cat({q.slice(-1, nope), q_rope}, -1);
    if (ctx.layer.family_tag != shares_picks) (void)t.call("indexer", indexer{ctx}, x, q_latent);
    const tensor found = sparse_attention(ctx, t, q, latent, k_rope, sinks);
    const tensor gated = t.mul(found, t.sigmoid(gate));
    return output_projection(ctx, t, t.contiguous(t.reshape(gated, {batch, sequence, heads * v})));
}

constexpr tensor sparse_moe_block(const layer_context& ctx, trace& t, const tensor& x) {
    const moe_config& moe = ctx.config.moe;
    const tensor tokens = x.view({-1, ctx.config.hidden_size});
    const tensor weights = call_router(ctx, t, tokens);
    const routed_experts_base all{ctx.config.hidden_size,  moe.intermediate_size, moe.num_experts,
                                  moe.num_experts_per_tok, activation::silu,      ctx.class_of("Experts")};
    // gate and up are clamped; the activation is a function
    const auto gate = [](trace& tracer, const tensor& gate_up) {
        const tensor half = gate_up.slice(-1, gate_up.dim(-1) / 2);
        const tensor clamped = tracer.clamp_max(half), limited = tracer.clamp(half);
        return tracer.mul(tracer.silu(clamped), limited);
    };
    const tensor routed = t.call("experts", with_custom_gate<true>(all, gate), tokens, weights);
    return t.add(routed.view({x.dim(0), x.dim(1), ctx.config.hidden_size}),
                 call_mlp(ctx, t, "shared_experts", moe.shared_intermediate_size, x));
}

constexpr tensor mlp(const layer_context& ctx, trace& t, const tensor& x) {
    return moe_or_dense_mlp(ctx, t, sparse_moe_block, x);
}

/// Each block reads a sum of the streams (B, S, streams, width) and writes to all of them.
constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const auto merge_streams = [&](const tensor& writes, const tensor& h, const tensor& residual) {
        const tensor float_writes = t.to(writes, dtype::float32);
        const tensor spread = t.mul(float_writes.unsqueeze(-1), t.to(h, dtype::float32).unsqueeze(-2));
        return t.to(t.add(spread, t.to(residual, dtype::float32)), residual.type);
    };
    tensor_pair hyper_connection = t.call("attn_hc", connection{ctx}, x);
    tensor h = mix_tokens(ctx, t, apply_norm(ctx, t, "input_layernorm", hyper_connection.second));
    const tensor middle = merge_streams(hyper_connection.first, h, x);
    hyper_connection = t.call("ffn_hc", connection{ctx}, middle);
    h = ctx.spec.mlp(ctx, t, apply_norm(ctx, t, "post_attention_layernorm", hyper_connection.second));
    return merge_streams(hyper_connection.first, h, middle);
}

/// Initializes every stream with a copy of the token embeddings.
constexpr tensor base(const layer_context& ctx, trace& t) {
    const tensor token_embeddings = ctx.spec.embed_tokens(ctx, t);
    const decoder_inputs shared = ctx.spec.prepare_inputs(ctx, t);
    const shape all{token_embeddings.dim(0), token_embeddings.dim(1), ctx.config.family[streams],
                    token_embeddings.dim(2)};
    const tensor x = forward_layers(ctx, t, shared, t.contiguous(token_embeddings.unsqueeze(2).expand(all)));
    return apply_norm(ctx, t, "norm", t.call("hc_head", last_connection{ctx}, x));
}

constexpr void check_layer_types(config_view json, literal key, std::int64_t layers) {
    const auto list = json.optional_array(key);
    if (list && static_cast<std::int64_t>(list->size()) < layers)
        throw_invalid_value(json, key, "a list with one kind per hidden layer");
}

constexpr void parse_config(config_view json, model_config& config) {
    config.mla = {json.positive("q_lora_rank", 1536), json.positive("kv_lora_rank", 512),
                  json.positive("qk_nope_head_dim", 192), json.positive("qk_rope_head_dim", 64),
                  json.positive("v_head_dim", 256)};
    config.head_dim = config.rotary_dim = config.mla.qk_rope_head_dim;
    config.num_key_value_heads = config.num_attention_heads;
    if (config.rotary_dim % 2 != 0) throw_invalid_value(json, "qk_rope_head_dim", "an even number");
    if (config.family[index_width] < config.rotary_dim)
        throw_invalid_value(json, "index_head_dim", "at least qk_rope_head_dim");
    (void)checked_size(json, "qk_nope_head_dim", config.num_attention_heads, config.mla.qk_nope_head_dim);
    (void)checked_size(json, "v_head_dim", config.num_attention_heads, config.mla.v_head_dim);
    (void)checked_size(json, "index_head_dim", config.family[index_heads], config.family[index_width]);
    (void)checked_size(json, "hc_mult", config.family[streams], config.hidden_size);
    parse_grouped_experts(json, config, {.shared = 1});
    check_layer_types(json, "layer_types", config.num_hidden_layers);
    check_layer_types(json, "indexer_types", config.num_hidden_layers);
    if (const auto types = json.optional_array("layer_types"))
        for (const config_view layer_type : *types)
            if (layer_type.as_string() != "indexed_attention")
                throw_unsupported(json, "layer_types", "unsupported layer type");
    const auto picks = json.optional_array("indexer_types");
    const sparse_layer_selection experts(json, config, 1);
    config.sliding_window = 0;
    set_layers(json, config, [&](std::int64_t i) {
        const bool shares =
            picks ? (*picks)[static_cast<std::uint32_t>(i)].as_string() == "shared" : i != 0 && (i - 1) % 4 != 0;
        if (shares && i == 0)
            throw_invalid_value(json, "indexer_types", "a list that begins with a layer that picks keys");
        return layer_spec{token_mixer_kind::full_attention, experts.has(i), shares ? shares_picks : std::uint8_t{}};
    });
}

}  // namespace hy_v4_detail

// transformers/models/hy_v4: several streams around every block, keys picked by an indexer, DeepSeek V3's router
inline constexpr model_spec hy_v4 = [](model_spec spec) {
    spec.model_type = "hy_v4";
    spec.class_prefix = "HYV4";
    spec.parse_config = hy_v4_detail::parse_config;
    spec.family_keys = hy_v4_detail::family_keys;
    spec.base_model = hy_v4_detail::base;
    spec.decoder_layer = hy_v4_detail::decoder_layer;
    spec.attention = hy_v4_detail::attention;
    spec.mlp = hy_v4_detail::mlp;
    spec.router = router_kind::sigmoid_grouped;
    spec.supported_heads = language_heads;
    spec.has_float32_lm_head = true;
    spec.supported_layers.max_family_tag = hy_v4_detail::shares_picks;
    spec.names.moe_class = "MoE";
    spec.names.router_class = "TopkRouter";
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.config_keys.add("head_dim", key_rule::absent);
    spec.config_keys.add("num_key_value_heads", key_rule::absent);
    spec.config_keys.add("sliding_window", key_rule::absent);
    spec.defaults.vocab_size = 120832;
    spec.defaults.hidden_size = 2816;
    spec.defaults.intermediate_size = 6912;
    spec.defaults.num_hidden_layers = 34;
    spec.defaults.num_attention_heads = 32;
    spec.defaults.max_position_embeddings = 262144;
    spec.defaults.moe = {
        .num_experts = 256, .num_experts_per_tok = 8, .intermediate_size = 768, .norm_topk_prob = true};
    spec.defaults.moe.has_float32_correction = true;
    return spec;
}(llama);

}  // namespace llmcost::arch
