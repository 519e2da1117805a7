// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/deepseek_v4_attention.hpp>
#include <llmcost/arch/llama.hpp>
#include <llmcost/config/experts.hpp>
#include <llmcost/layers/hyper_connection.hpp>

// DeepSeek V4. Derived from Llama, with these differences:
//  - sliding-window attention combined with compressed tokens, and one key/value head;
//  - several streams of hidden states;
//  - experts selected by token id in some layers.
//
// Source: transformers/models/deepseek_v4: configuration_deepseek_v4.py, modeling_deepseek_v4.py

namespace llmcost::arch {

namespace deepseek_v4_detail {

// ---- experts

/// √softplus(x).
struct sqrt_softplus {
    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "SqrtSoftplusActivation"}; }
    constexpr tensor forward(trace& t, const tensor& x) const { return t.sqrt(t.softplus(x)); }
};

/// Top-k router. The scores weight the experts; corrected scores or a table of token ids select them.
struct top_k_router {
    layer_context ctx;

    static constexpr role module_role = role::router;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const {
        return ctx.class_of((ctx.layer.family_tag & hashed) != 0 ? "HashRouter" : "TopKRouter");
    }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const moe_config& moe = ctx.config.moe;
        const tensor tokens = t.reshape(x, {-1, ctx.config.hidden_size});
        const tensor logits = t.linear(tokens, t.param("weight", {moe.num_experts, ctx.config.hidden_size}));
        const tensor scores = ctx.config.family[score] != 0
                                  ? t.call("score_fn", activation_module{activation::sigmoid}, logits)
                                  : t.call("score_fn", sqrt_softplus{}, logits);
        if ((ctx.layer.family_tag & hashed) == 0) {
            const recorder::detach_guard indices{t};
            (void)t.topk(t.add(scores, correction_bias(t, moe.num_experts)), moe.num_experts_per_tok);
        } else {
            t.register_integer_buffer(ctx.config.vocab_size * moe.num_experts_per_tok);  // `tid2eid`
        }
        const tensor picked = t.gather(scores, {tokens.dim(0), moe.num_experts_per_tok});
        return t.mul_scalar(t.div(picked, t.add_scalar(t.sum(picked, -1, true))));
    }
};

constexpr tensor gated(trace& t, activation act, const tensor& gate, const tensor& up) {
    const tensor limited = t.clamp_max(gate), clamped_up = t.clamp(up);
    return t.mul(t.call("act_fn", activation_module{act}, limited), clamped_up);
}

/// Shared expert with clamped gate and input, applied to all tokens.
struct limited_block {
    layer_context ctx;

    static constexpr role module_role = role::mlp;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("MLP"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, inner = ctx.config.intermediate_size;
        const bool bias = ctx.config.mlp_bias;
        const tensor gate = t.call("gate_proj", linear{width, inner, bias}, x);
        const tensor up = t.call("up_proj", linear{width, inner, bias}, x);
        return t.call("down_proj", linear{inner, width, bias}, gated(t, ctx.config.hidden_act, gate, up));
    }
};

constexpr tensor sparse_moe_block(const layer_context& ctx, trace& t, const tensor& x) {
    const moe_config& moe = ctx.config.moe;
    const std::int64_t width = ctx.config.hidden_size;
    const tensor weights = t.call("gate", top_k_router{ctx}, x);
    const routed_experts_base all{width,
                                  moe.intermediate_size,
                                  moe.num_experts,
                                  moe.num_experts_per_tok,
                                  ctx.config.hidden_act,
                                  ctx.class_of("Experts")};
    const auto gate = [act = ctx.config.hidden_act](trace& tracer, const tensor& gate_up) {
        const tensor half = gate_up.slice(-1, gate_up.dim(-1) / 2);
        return gated(tracer, act, half, half);
    };
    const tensor routed = t.call("experts", with_custom_gate<false>(all, gate), x.view({-1, width}), weights);
    return t.add(routed.view({x.dim(0), x.dim(1), width}), t.call("shared_experts", limited_block{ctx}, x));
}

constexpr tensor mlp(const layer_context& ctx, trace& t, const tensor& x) {
    return moe_or_dense_mlp(ctx, t, sparse_moe_block, x);
}

// ---- the model: parallel streams of hidden states, (B, S, streams, width)

constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const hyper_connection connection{ctx.config.family[streams], ctx.config.family[steps], ctx.spec.class_prefix};
    stream_weights w = connection.read(t, "attn_hc", x);
    tensor out = ctx.spec.token_mixer(ctx, t, float32_norm(ctx, t, "input_layernorm", w.collapsed));
    const tensor middle = hyper_connection::write(t, w, out, x);
    w = connection.read(t, "ffn_hc", middle);
    out = ctx.spec.mlp(ctx, t, float32_norm(ctx, t, "post_attention_layernorm", w.collapsed));
    return hyper_connection::write(t, w, out, middle);
}

/// Combines the streams into one.
struct head {
    layer_context ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("HyperHead"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t n = x.dim(2), width = n * x.dim(3);
        const tensor fn = t.float32_param("hc_fn", {n, width}), base = t.float32_param("hc_base", {n}),
                     scale = t.float32_param("hc_scale", {1});
        const tensor flat = t.to(x.view({x.dim(0), x.dim(1), -1}), dtype::float32);
        const tensor normed = t.call("input_norm", unweighted_norm{ctx.class_of("UnweightedRMSNorm")}, flat);
        const tensor mixes = t.linear(normed, t.to(fn, dtype::float32));
        const tensor scaled = t.mul(mixes, t.to(scale, dtype::float32));
        const tensor pre = t.add_scalar(t.sigmoid(t.add(scaled, t.to(base, dtype::float32))));
        return t.to(t.sum(t.mul(pre.unsqueeze(-1), x), 2), x.type);
    }
};

constexpr tensor base(const layer_context& ctx, trace& t) {
    const tensor token_embeddings = ctx.spec.embed_tokens(ctx, t);
    decoder_inputs c;
    c.sliding.pattern = c.full.pattern = attention_pattern_of(t, ctx.config.sliding_window);
    c.sliding.mask = eager_mask(t, c.sliding.pattern, t.load().batch);
    const shape stream_shape{token_embeddings.dim(0), token_embeddings.dim(1), ctx.config.family[streams],
                             token_embeddings.dim(2)};
    const tensor x = t.contiguous(token_embeddings.unsqueeze(2).expand(stream_shape));
    for (int i = 0; i < 4; i += 2) {
        const tensor_pair tables = t.call("rotary_emb", rotary{ctx, 1, i > 0}, t.load().sequence);
        c.sliding.family_tensors[i] = tables.first;
        c.sliding.family_tensors[i + 1] = tables.second;
    }
    const tensor out = forward_layers(ctx, t, c, x);
    return float32_norm(ctx, t, "norm", t.call("hc_head", head{ctx}, out));
}

/// Adds the load-balancing loss. Routers that select experts by token id are excluded.
constexpr tensor process_logits(const layer_context& ctx, trace& t, const tensor& logits) {
    const recorder::detach_guard unread{t};
    const std::int64_t tokens = t.load().batch * t.load().sequence;
    if (ctx.config.family[weighed_routers] > 0)
        load_balancing_loss(t, ctx.config.family[weighed_routers], tokens, ctx.config.moe);
    return logits;
}

// ---- configuration

/// Parses the number of rotary elements of a head, from any of the supported keys.
constexpr std::int64_t parse_rope(config_view json, const model_config& config) {
    const auto part = [&](config_view place, double default_value) {
        return static_cast<std::int64_t>(static_cast<double>(config.head_dim) *
                                         detail::rotated_part_in(place, default_value));
    };
    const auto refuse = [&](config_view place) {
        for (const literal type : {"dynamic", "longrope"})
            if (detail::has_type_of_rope(place, type))
                throw_unsupported(place, "input-dependent RoPE frequencies are not supported");
    };
    if (const auto rope = detail::rope_parameters(json)) {
        refuse(*rope);
        const auto first = rope->optional_object("main"), second = rope->optional_object("compress");
        if (first && second) {
            refuse(*first);
            refuse(*second);
            if (part(*first, 1) != part(*second, 1))
                throw_invalid_value(*second, "partial_rotary_factor", "the same as that of main");
            return part(*first, 1);
        }
    }
    if (json.optional_real("partial_rotary_factor")) return part(json, 1);
    const auto legacy = json.optional_positive("qk_rope_head_dim");
    return legacy ? *legacy : part(json, 64.0 / 512);
}

constexpr std::uint8_t parse_attention_kind(config_view json, literal key, string_ref name) {
    if (name == "sliding_attention") return 0;
    if (name == "compressed_sparse_attention") return sparse;
    if (name == "heavily_compressed_attention") return heavy;
    throw_unsupported(json, key, "unsupported layer type");
}

constexpr void parse_plan(config_view json, model_config& config) {
    const auto types = json.optional_array("layer_types"), ratios = json.optional_array("compress_ratios");
    const auto mixtures = json.optional_array("mlp_layer_types");
    const auto number = json.optional_non_negative("num_hash_layers");
    const auto n = static_cast<std::uint32_t>(config.num_hidden_layers);
    if ((types && types->size() < n) || (!types && ratios && ratios->size() < n))
        throw_invalid_value(json, types ? "layer_types" : "compress_ratios", "a list with one kind per hidden layer");
    if (mixtures && mixtures->size() < n)
        throw_invalid_value(json, "mlp_layer_types", "a list with one kind per hidden layer");
    set_layers(json, config, [&](std::int64_t i) {
        const auto index = static_cast<std::size_t>(i);
        std::uint8_t reach = i < 2 || i % 2 == 0 ? heavy : sparse;
        if (types) {
            reach = parse_attention_kind(json, "layer_types", (*types)[index].as_string());
        } else if (ratios) {
            const std::int64_t ratio = (*ratios)[index].as_integer();
            if (ratio != 0 && ratio != 4 && ratio != 128) throw_invalid_value(json, "compress_ratios", "0, 4 and 128");
            reach = ratio == 0 ? std::uint8_t{0} : ratio == 4 ? sparse : heavy;
        }
        bool looks_up = i < (number ? *number : 3);
        if (mixtures) {
            const string_ref name = (*mixtures)[index].as_string();
            if (name != "hash_moe" && name != "moe")
                throw_unsupported(json, "mlp_layer_types", "unsupported layer type");
            looks_up = name == "hash_moe";
        }
        return layer_spec{.token_mixer = token_mixer_kind::sliding_attention,
                          .has_experts = true,
                          .family_tag = static_cast<std::uint8_t>(reach + (looks_up ? hashed : 0))};
    });
}

constexpr void parse_config(config_view json, model_config& config) {
    parse_experts(json, config, json.contains("num_local_experts") ? "num_local_experts" : "n_routed_experts");
    validate_experts(json, config);
    if (json.contains("intermediate_size")) config.moe.intermediate_size = json.positive("intermediate_size");
    config.intermediate_size = config.moe.intermediate_size;
    config.num_key_value_heads = 1;
    config.family[rope_dim] = parse_rope(json, config);
    if (config.family[rope_dim] < 2 || config.family[rope_dim] % 2 != 0 || config.family[rope_dim] > config.head_dim ||
        config.family[rope_dim] > config.family[index_dim])
        throw_unsupported(json, "head_dim", "an odd number of rotary elements is not supported");
    config.family[sparse_rate] = 4;
    config.family[heavy_rate] = 128;
    if (const auto rates = json.optional_object("compress_rates")) {
        config.family[sparse_rate] = rates->positive("compressed_sparse_attention");
        config.family[heavy_rate] = rates->positive("heavily_compressed_attention");
    }
    config.family[sparse_rate] = json.positive("compress_rate_csa", config.family[sparse_rate]);
    config.family[heavy_rate] = json.positive("compress_rate_hca", config.family[heavy_rate]);
    const string_ref scoring = json.string("scoring_func", "sqrtsoftplus");
    config.family[score] = scoring == "sigmoid";
    if (scoring != "sigmoid" && scoring != "sqrtsoftplus")
        throw_unsupported(json, "scoring_func", "unsupported scoring function");
    const std::int64_t all = checked_size(json, "head_dim", config.num_attention_heads, config.head_dim);
    if (all % config.family[o_groups] != 0)
        throw_invalid_value(json, "o_groups", "a divisor of num_attention_heads * head_dim");
    (void)checked_size(json, "o_lora_rank", config.family[o_groups], config.family[o_rank]);
    (void)checked_size(json, "index_head_dim", config.family[index_heads], config.family[index_dim]);
    (void)checked_size(json, "hc_mult", (2 + config.family[streams]) * config.family[streams], config.hidden_size);
    parse_plan(json, config);
    if (!json.boolean("output_router_logits", false)) return;
    for (std::int64_t i = 0; i < config.num_hidden_layers; ++i)
        config.family[weighed_routers] += (config.layers[i].family_tag & hashed) == 0;
}

constexpr compressed_attention compressed_attention_of(const model_config& config, std::int64_t layer) {
    const std::uint8_t kind = config.layers[layer].family_tag & (sparse | heavy);
    return {.ratio = kind == sparse  ? config.family[sparse_rate]
                     : kind == heavy ? config.family[heavy_rate]
                                     : 0,
            .head_dim = config.head_dim,
            .rotary_dim = config.family[rope_dim],
            .index_head_dim = kind == sparse ? config.family[index_dim] : 0,
            .overlaps = kind == sparse};
}

}  // namespace deepseek_v4_detail

inline constexpr model_spec deepseek_v4 = [](model_spec spec) {
    spec.model_type = "deepseek_v4";
    spec.class_prefix = "DeepseekV4";
    spec.supported_heads = language_heads;
    spec.parse_config = deepseek_v4_detail::parse_config;
    spec.family_keys = deepseek_v4_detail::family_keys;
    spec.base_model = deepseek_v4_detail::base;
    spec.decoder_layer = deepseek_v4_detail::decoder_layer;
    spec.attention = deepseek_v4_detail::attention;
    spec.compressed_attention_of = deepseek_v4_detail::compressed_attention_of;
    spec.mlp = deepseek_v4_detail::mlp;
    spec.process_logits = deepseek_v4_detail::process_logits;
    spec.rotary = rotary_style::none;
    spec.norm = norm_kind::rms_cast_last;
    spec.supported_layers.max_family_tag = 7;
    spec.names.moe_class = "SparseMoeBlock";
    spec.config_keys.add("attention_bias", key_rule::absent);
    spec.config_keys.add("intermediate_size", "moe_intermediate_size", key_rule::family_name_first);
    spec.defaults = model_config{.vocab_size = 129280,
                                 .hidden_size = 4096,
                                 .intermediate_size = 2048,
                                 .num_hidden_layers = 43,
                                 .num_attention_heads = 64,
                                 .num_key_value_heads = 1,
                                 .head_dim = 512,
                                 .max_position_embeddings = 1048576,
                                 .sliding_window = 128,
                                 .moe = {.num_experts = 256, .num_experts_per_tok = 6, .intermediate_size = 2048}};
    return spec;
}(llama);

}  // namespace llmcost::arch
