// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/reading/experts.hpp>
#include <llmcost/reading/reader.hpp>
#include <llmcost/walks/decoder.hpp>

namespace llmcost::arch {

namespace dbrx_detail {

enum own : std::uint8_t { normed_weights };
inline constexpr own_key keys[]{{.value = own_value::computed}};

constexpr norm<norm_kind::layer> norm_without_bias(const site& here) {
    return norm<norm_kind::layer>{here.dims.hidden_size, {}, true, false};
}

constexpr value attend(const site& here, trace& t, const value& x) {
    const std::int64_t width = here.dims.hidden_size, narrow = here.dims.num_key_value_heads * here.dims.head_dim;
    const value all = t.unary(op::clamp, t.call("Wqkv", linear{width, width + 2 * narrow}, x));
    qkv of{all.slice(-1, width), all.slice(-1, narrow), all.slice(-1, narrow)};
    split_heads(here, of);
    heads_first(of);
    turn(here, t, of);
    remember(here, t, of);
    return t.call("out_proj", linear{width, width}, look_up(here, t, of));
}

/// Experts whose matrices lie one behind the other, called one by one.
struct glu_experts : routed_rows {
    class_name inner_named;

    static constexpr bool leaf = false;
    constexpr value describe(trace& t, const value& x, const value& weights) const {
        const recorder::fused_guard fused{t, part(x.dim(0))};
        const std::int64_t picks = checked_product(x.dim(0), num_experts_per_tok);
        const std::int64_t hit = picks < num_experts ? picks : num_experts;
        const module_info mlp{.name = "mlp", .type = inner_named};
        const value rows = picked(t, t.cut_apart(x, hit));
        t.enter(mlp);
        const extents sizes{num_experts * inner, width};
        const value w1 = param(t, "w1", sizes), v1 = param(t, "v1", sizes), w2 = param(t, "w2", sizes);
        const value gate = one_of(t, w1, hit), up = one_of(t, v1, hit), down = one_of(t, w2, hit);
        value h = t.matmul(rows, gate.transpose(0, 1));
        const value more = t.matmul(rows, up.transpose(0, 1));
        h = t.mul(t.call("activation_fn", activation_module{act}, h), more);
        h = t.leave(mlp, t.matmul(h, down));
        return summed(t, x, t.cut_apart(weights, hit), h);
    }

private:
    /// One expert's matrix of all, which each expert that is hit cuts out.
    constexpr value one_of(trace& t, const value& all, std::int64_t hit) const {
        return t.select_each(all.view({num_experts, inner, width}), 0, hit);
    }
};

/// The norm of power 1 over each row, whose backward asks for signs.
constexpr value absolute_norm(trace& t, const value& x) {
    value plain = x;
    plain.requires_grad = false;
    value out = t.vector_norm(plain, -1, true);
    if (!x.requires_grad) return out;
    t.save_for_backward(x);
    t.goes_through(out, x);
    t.backward({.mult = count(x.elements), .cmp = count(x.elements)});
    return out;
}

/// The largest k of a softmax, perhaps divided by their sum.
constexpr value route(const site& here, trace& t, const value& x) {
    const moe_sizes& m = here.dims.moe;
    const module_info router{.name = "router", .type = here.type("Router"), .what = role::router};
    t.enter(router);
    const value logits =
        t.leave(router, t.call("layer", linear{x.dim(-1), m.num_experts}, x.view({-1, here.dims.hidden_size})));
    const value weights = t.top_k(t.softmax(logits), m.num_experts_per_tok);
    return here.dims.own[normed_weights] != 0 ? t.div(weights, absolute_norm(t, weights)) : weights;
}

constexpr value mixture(const site& here, trace& t, const value& x) {
    const moe_sizes& m = here.dims.moe;
    const value weights = route(here, t, x);
    const value tokens = t.reshape(x, {-1, here.dims.hidden_size});
    const routed_rows all{here.dims.hidden_size, m.intermediate_size,  m.num_experts,
                          m.num_experts_per_tok, here.dims.hidden_act, here.type("Experts")};
    const value out = t.call("experts", glu_experts{all, here.type("ExpertGLU")}, tokens, weights);
    return out.view({x.dim(0), x.dim(1), x.dim(2)});
}

constexpr value layer(const site& here, trace& t, const value& x) {
    const module_info around{.name = "norm_attn_norm", .type = here.type("NormAttentionNorm")};
    t.enter(around);
    const value a = mixed(here, t, t.call("norm_1", norm_without_bias(here), x));
    const value middle = t.add(drop(t, a, dropout_of::hidden), x);
    const value h = t.leave(around, t.call("norm_2", norm_without_bias(here), middle));
    return t.add(middle, drop(t, t.call("ffn", mixture_module{here, mixture}, h), dropout_of::hidden));
}

constexpr value base(const site& here, trace& t) {
    const value x = here.row.embed(here, t);
    const decoder_context shared = here.row.prepare(here, t);
    return t.call("norm_f", norm_without_bias(here), describe_layers(here, t, shared, x));
}

constexpr void read_mixture(config_view config, sizes& s) {
    s.moe.num_experts = config.positive("moe_num_experts", 4);
    s.moe.num_experts_per_tok = config.positive("moe_top_k", 1);
    s.moe.intermediate_size = config.positive("ffn_hidden_size", 3584);
    if (s.moe.num_experts_per_tok > s.moe.num_experts) fail_value(config, "moe_top_k", "at most the number of experts");
    (void)checked_width(config, "ffn_hidden_size", s.moe.num_experts, s.moe.intermediate_size);
    if (const auto act = config.optional_object("ffn_act_fn"))
        if (const auto name = act->optional_string("name")) s.hidden_act = activation_named(*act, "name", *name);
    const literal norm = "moe_normalize_expert_weights";
    const auto power = config.contains(norm) ? config.optional_real(norm) : maybe<double>{1.0};
    if (power && *power != 1) fail_unsupported(config, norm, "no row describes weights normed by another power than 1");
    s.own[normed_weights] = power.has_value();
}

/// Attention and experts stand in objects of their own.
constexpr void read(config_view config, sizes& s) {
    const auto attention = config.optional_object("attn_config");
    // modeling_dbrx.py, `DbrxAttention.__init__` and `forward`, need both
    if (!attention || !attention->contains("rope_theta")) fail_missing(config, "attn_config", "an object with rope_theta");
    if (!attention->optional_real("clip_qkv"))
        fail_missing(*attention, "clip_qkv", "a number, as the reference clamps by it");
    s.head_dim = s.rotary_dim = s.hidden_size / s.num_attention_heads;
    if (s.head_dim * s.num_attention_heads != s.hidden_size) fail_value(config, "n_heads", "a divisor of d_model");
    s.num_key_value_heads = attention->positive("kv_n_heads", 1);
    if (s.num_attention_heads % s.num_key_value_heads != 0) fail_value(*attention, "kv_n_heads", "a divisor of n_heads");
    if (s.tie_word_embeddings) fail_value(config, "tie_word_embeddings", "false");
    if (config.boolean("output_router_logits", false))
        fail_unsupported(config, "output_router_logits", "no row describes how evenly these routers pick");
    put_rate(s.drops, dropout_of::attention, attention->real("attn_pdrop", 0));
    const auto feed = config.optional_object("ffn_config");
    read_mixture(feed ? *feed : config_view{&detail::no_keys, 0}, s);
    plan_one_mask(config, s);
    s.layers.set_all({s.layers[0].mixer, true});
}

inline constexpr dropout_key dropout_rates[]{{dropout_of::hidden, "resid_pdrop"}};

}  // namespace dbrx_detail

// transformers/models/dbrx: configuration_dbrx.py, modeling_dbrx.py; one projection that is clamped, norms without biases;
// backward's sums are those where every expert is hit, or as many as there are picks
inline constexpr architecture dbrx = [](architecture a) {
    a.model_type = "dbrx", a.prefix = "Dbrx", a.read = dbrx_detail::read, a.own = dbrx_detail::keys;
    a.base = dbrx_detail::base, a.layer = dbrx_detail::layer, a.attend = dbrx_detail::attend, a.heads = language_heads;
    a.norm = norm_kind::layer;
    a.names.base = "transformer", a.names.embed_tokens = "wte", a.names.layers = "blocks", a.names.layer_type = "Block";
    a.names.attention = "attn", a.names.moe_type = "FFN";
    a.keys[0] = {"hidden_size", "d_model", key_rule::standard_first};
    a.keys[1] = {"num_attention_heads", "n_heads", key_rule::standard_first};
    a.keys[2] = {"num_hidden_layers", "n_layers", key_rule::standard_first};
    a.keys[3] = {"max_position_embeddings", "max_seq_len", key_rule::standard_first};
    a.keys[4] = {"head_dim", "", key_rule::absent};
    a.keys[5] = {"num_key_value_heads", "", key_rule::absent};
    a.keys[6] = no_attention_bias, a.keys[7] = no_mlp_bias;
    a.keys[8] = {"intermediate_size", "", key_rule::absent};
    a.keys[9] = {"hidden_act", "", key_rule::absent};
    a.defaults.vocab_size = 32000, a.defaults.hidden_size = 2048, a.defaults.num_hidden_layers = 24;
    a.defaults.num_attention_heads = 16, a.defaults.max_position_embeddings = 2048;
    a.drops = dbrx_detail::dropout_rates;
    return a;
}(shared_decoder);

}  // namespace llmcost::arch
