// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/deepseek_v4_attention.hpp>
#include <llmcost/arch/llama.hpp>
#include <llmcost/layers/hyper_connection.hpp>
#include <llmcost/reading/experts.hpp>

namespace llmcost::arch {

namespace deepseek_v4_detail {

// ---- experts

/// √softplus(x).
struct sqrt_softplus {
    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return {"", "SqrtSoftplusActivation"}; }
    constexpr value describe(trace& t, const value& x) const { return t.unary(op::sqrt, t.softplus(x)); }
};

/// Weighs experts by their scores; which ones, a correction of scores or the words themselves say.
struct router {
    site here;

    static constexpr role what = role::router;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const {
        return here.type((here.kind.own & hashed) != 0 ? "HashRouter" : "TopKRouter");
    }
    constexpr value describe(trace& t, const value& x) const {
        const moe_sizes& m = here.dims.moe;
        const value tokens = t.reshape(x, {-1, here.dims.hidden_size});
        const value logits = t.linear(tokens, t.param("weight", {m.num_experts, here.dims.hidden_size}));
        const value scores = here.dims.own[score] != 0 ? t.call("score_fn", activation_module{activation::sigmoid}, logits)
                                                       : t.call("score_fn", sqrt_softplus{}, logits);
        if ((here.kind.own & hashed) == 0) {
            const recorder::off_loss_guard indices{t};
            (void)t.top_k(t.add(scores, trace::buffer({m.num_experts})), m.num_experts_per_tok);
        }
        const value picked = t.gather(scores, {tokens.dim(0), m.num_experts_per_tok});
        return t.mul(t.div(picked, t.add(t.sum(picked, -1, true))));
    }
};

constexpr value gated(trace& t, activation act, const value& gate, const value& up) {
    const value limited = t.unary(op::compare, gate), both = t.unary(op::clamp, up);
    return t.mul(t.call("act_fn", activation_module{act}, limited), both);
}

/// Experts whose gates and inputs are limited.
struct limited_experts : routed_rows {
    static constexpr bool leaf = false;
    constexpr value describe(trace& t, const value& x, const value& weights) const {
        const recorder::fused_guard fused{t, part(x.dim(0))};
        const value rows = picked(t, x), up = param(t, "gate_up_proj", {num_experts, 2 * inner, width}),
                    down = param(t, "down_proj", {num_experts, width, inner});
        const value half = t.linear(rows, t.select(up, 0)).slice(-1, inner);
        return summed(t, x, weights, t.linear(gated(t, act, half, half), t.select(down, 0)));
    }
};
/// The same for all tokens.
struct limited_block {
    site here;

    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("MLP"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, inner = here.dims.intermediate_size;
        const bool bias = here.dims.mlp_bias;
        const value gate = t.call("gate_proj", linear{width, inner, bias}, x);
        const value up = t.call("up_proj", linear{width, inner, bias}, x);
        return t.call("down_proj", linear{inner, width, bias}, gated(t, here.dims.hidden_act, gate, up));
    }
};

constexpr value mixture(const site& here, trace& t, const value& x) {
    const moe_sizes& m = here.dims.moe;
    const std::int64_t width = here.dims.hidden_size;
    const value weights = t.call("gate", router{here}, x);
    const routed_rows all{
        width, m.intermediate_size, m.num_experts, m.num_experts_per_tok, here.dims.hidden_act, here.type("Experts")};
    const value routed = t.call("experts", limited_experts{all}, x.view({-1, width}), weights);
    return t.add(routed.view({x.dim(0), x.dim(1), width}), t.call("shared_experts", limited_block{here}, x));
}
constexpr value feed(const site& here, trace& t, const value& x) { return feed_by_mixture(here, t, mixture, x); }

// ---- the model: streams of hidden states, (B, S, streams, width)

constexpr value layer(const site& here, trace& t, const value& x) {
    const hyper_connection among{here.dims.own[streams], here.dims.own[steps], here.row.prefix};
    stream_weights w = among.read(t, "attn_hc", x);
    value out = here.row.mix(here, t, normed(here, t, "input_layernorm", w.collapsed));
    const value middle = hyper_connection::write(t, w, out, x);
    w = among.read(t, "ffn_hc", middle);
    out = here.row.feed(here, t, normed(here, t, "post_attention_layernorm", w.collapsed));
    return hyper_connection::write(t, w, out, middle);
}

/// The streams become one.
struct head {
    site here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("HyperHead"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t n = x.dim(2), width = n * x.dim(3);
        const value fn = t.param("hc_fn", {n, width}), base = t.param("hc_base", {n}), scale = t.param("hc_scale", {1});
        const value flat = t.to(x.view({x.dim(0), x.dim(1), -1}), dtype::float32);
        const value mixes =
            t.linear(t.call("input_norm", unweighted_norm{here.type("UnweightedRMSNorm")}, flat), t.to(fn, dtype::float32));
        const value scaled = t.mul(mixes, t.to(scale, dtype::float32));
        const value pre = t.add(t.sigmoid(t.add(scaled, t.to(base, dtype::float32))));
        return t.to(t.sum(t.mul(pre.unsqueeze(-1), x), 2), x.type);
    }
};

constexpr value base(const site& here, trace& t) {
    const value words = here.row.embed(here, t);
    decoder_context c;
    c.sliding.where = c.full.where = context_of(t, here.dims.sliding_window);
    c.sliding.mask = eager_mask(t, c.sliding.where, t.load().batch);
    const extents wide{words.dim(0), words.dim(1), here.dims.own[streams], words.dim(2)};
    const value x = t.contiguous(words.unsqueeze(2).expand(wide));
    for (int i = 0; i < 4; i += 2) {
        const two_values tables = t.call("rotary_emb", rotary{here, 1}, t.load().sequence);
        c.sliding.own[i] = tables.first, c.sliding.own[i + 1] = tables.second;
    }
    const value out = describe_layers(here, t, c, x);
    return normed(here, t, "norm", t.call("hc_head", head{here}, out));
}

/// Routers that look words up are not among those whose choice is weighed.
constexpr value finish(const site& here, trace& t, const value& logits) {
    const recorder::off_loss_guard unread{t};
    const std::int64_t tokens = t.load().batch * t.load().sequence;
    if (here.dims.own[weighed_routers] > 0) weigh_balance(t, here.dims.own[weighed_routers], tokens, here.dims.moe);
    return logits;
}

// ---- a configuration

/// Elements of a head that are rotated, from wherever the file says it.
constexpr std::int64_t read_rope(config_view config, const sizes& s) {
    const auto part = [&](config_view place, double otherwise) {
        return static_cast<std::int64_t>(static_cast<double>(s.head_dim) * detail::rotated_part_in(place, otherwise));
    };
    const auto refuse = [&](config_view place) {
        for (const literal type : {"dynamic", "longrope"})
            if (detail::has_type_of_rope(place, type)) fail_unsupported(place, "frequencies that follow the input");
    };
    if (const auto rope = detail::rope_parameters(config)) {
        refuse(*rope);
        const auto first = rope->optional_object("main"), second = rope->optional_object("compress");
        if (first && second) {
            refuse(*first), refuse(*second);
            if (part(*first, 1) != part(*second, 1))
                fail_value(*second, "partial_rotary_factor", "the same as that of main");
            return part(*first, 1);
        }
    }
    if (config.optional_real("partial_rotary_factor")) return part(config, 1);
    const auto legacy = config.optional_positive("qk_rope_head_dim");
    return legacy ? *legacy : part(config, 64.0 / 512);
}

constexpr std::uint8_t reach_named(config_view config, literal key, string_ref word) {
    if (word == "sliding_attention") return 0;
    if (word == "compressed_sparse_attention") return sparse;
    if (word == "heavily_compressed_attention") return heavy;
    fail_unsupported(config, key, "no layer describes one of these kinds");
}

constexpr void read_plan(config_view config, sizes& s) {
    const auto types = config.optional_array("layer_types"), ratios = config.optional_array("compress_ratios");
    const auto mixtures = config.optional_array("mlp_layer_types");
    const auto number = config.optional_non_negative("num_hash_layers");
    const auto n = static_cast<std::uint32_t>(s.num_hidden_layers);
    if ((types && types->size() < n) || (!types && ratios && ratios->size() < n))
        fail_value(config, types ? "layer_types" : "compress_ratios", "a list with one kind per hidden layer");
    if (mixtures && mixtures->size() < n) fail_value(config, "mlp_layer_types", "a list with one kind per hidden layer");
    plan_layers(config, s, [&](std::int64_t i) {
        const auto at = static_cast<std::size_t>(i);
        std::uint8_t reach = i < 2 || i % 2 == 0 ? heavy : sparse;
        if (types) {
            reach = reach_named(config, "layer_types", (*types)[at].as_string());
        } else if (ratios) {
            const std::int64_t ratio = (*ratios)[at].as_integer();
            if (ratio != 0 && ratio != 4 && ratio != 128) fail_value(config, "compress_ratios", "0, 4 and 128");
            reach = ratio == 0 ? std::uint8_t{0} : ratio == 4 ? sparse : heavy;
        }
        bool looks_up = i < (number ? *number : 3);
        if (mixtures) {
            const string_ref word = (*mixtures)[at].as_string();
            if (word != "hash_moe" && word != "moe") fail_unsupported(config, "mlp_layer_types", "no layer is of this kind");
            looks_up = word == "hash_moe";
        }
        return layer_kind{.mixer = mixer_kind::sliding_attention,
                          .experts = true,
                          .own = static_cast<std::uint8_t>(reach + (looks_up ? hashed : 0))};
    });
}

constexpr void read(config_view config, sizes& s) {
    read_experts(config, s, config.contains("num_local_experts") ? "num_local_experts" : "n_routed_experts");
    check_experts(config, s);
    if (config.contains("intermediate_size")) s.moe.intermediate_size = config.positive("intermediate_size");
    s.intermediate_size = s.moe.intermediate_size;
    s.num_key_value_heads = 1;
    s.own[rope_dim] = read_rope(config, s);
    if (s.own[rope_dim] < 2 || s.own[rope_dim] % 2 != 0 || s.own[rope_dim] > s.head_dim ||
        s.own[rope_dim] > s.own[index_dim])
        fail_unsupported(config, "head_dim", "leaves no even number of rotated elements in a head");
    s.own[sparse_rate] = 4, s.own[heavy_rate] = 128;
    if (const auto rates = config.optional_object("compress_rates")) {
        s.own[sparse_rate] = rates->positive("compressed_sparse_attention");
        s.own[heavy_rate] = rates->positive("heavily_compressed_attention");
    }
    s.own[sparse_rate] = config.positive("compress_rate_csa", s.own[sparse_rate]);
    s.own[heavy_rate] = config.positive("compress_rate_hca", s.own[heavy_rate]);
    const string_ref scoring = config.string("scoring_func", "sqrtsoftplus");
    s.own[score] = scoring == "sigmoid";
    if (scoring != "sigmoid" && scoring != "sqrtsoftplus")
        fail_unsupported(config, "scoring_func", "no router describes this function");
    const std::int64_t all = checked_width(config, "head_dim", s.num_attention_heads, s.head_dim);
    if (all % s.own[o_groups] != 0) fail_value(config, "o_groups", "a divisor of all heads' elements");
    (void)checked_width(config, "o_lora_rank", s.own[o_groups], s.own[o_rank]);
    (void)checked_width(config, "index_head_dim", s.own[index_heads], s.own[index_dim]);
    (void)checked_width(config, "hc_mult", (2 + s.own[streams]) * s.own[streams], s.hidden_size);
    read_plan(config, s);
    if (!config.boolean("output_router_logits", false)) return;
    for (std::int64_t i = 0; i < s.num_hidden_layers; ++i) s.own[weighed_routers] += (s.layers[i].own & hashed) == 0;
}

}  // namespace deepseek_v4_detail

// transformers/models/deepseek_v4: configuration_deepseek_v4.py, modeling_deepseek_v4.py; windows beside compressed tokens,
// one key for all heads, streams of hidden states, experts that words look up
inline constexpr architecture deepseek_v4 = [](architecture a) {
    a.model_type = "deepseek_v4", a.prefix = "DeepseekV4", a.heads = language_heads;
    a.read = deepseek_v4_detail::read, a.own = deepseek_v4_detail::keys, a.base = deepseek_v4_detail::base;
    a.layer = deepseek_v4_detail::layer, a.attend = deepseek_v4_detail::attend, a.feed = deepseek_v4_detail::feed;
    a.finish = deepseek_v4_detail::finish;
    a.rotated = rotation::none, a.norm = norm_kind::rms_cast_last, a.kinds.own = 7, a.names.moe_type = "SparseMoeBlock";
    a.keys[0] = no_attention_bias;
    a.keys[1] = {"intermediate_size", "moe_intermediate_size"};
    a.defaults = sizes{.vocab_size = 129280,
                       .hidden_size = 4096,
                       .intermediate_size = 2048,
                       .num_hidden_layers = 43,
                       .num_attention_heads = 64,
                       .num_key_value_heads = 1,
                       .head_dim = 512,
                       .max_position_embeddings = 1048576,
                       .sliding_window = 128,
                       .moe = {.num_experts = 256, .num_experts_per_tok = 6, .intermediate_size = 2048}};
    return a;
}(llama);

}  // namespace llmcost::arch
