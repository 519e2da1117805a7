// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/granite.hpp>
#include <llmcost/reading/experts.hpp>

namespace llmcost::arch {

namespace granitemoe_detail {

enum own : std::uint8_t { weighs_balance };
inline constexpr own_key keys[]{{"output_router_logits", 0, own_value::boolean}};

constexpr value finish(const site& here, trace& t, const value& scores) {
    const value out = divide_logits(here, t, scores);
    weigh_float_balance(here, t, here.dims.own[weighs_balance] != 0);
    return out;
}

/// The largest k logits, softmax over those in float32.
constexpr two_values pick(const site& here, trace& t, const value& tokens) {
    const moe_sizes& m = here.dims.moe;
    const value weight = t.param("weight", {m.num_experts, here.dims.hidden_size});
    const value logits = t.to(t.linear(tokens, weight), dtype::float32);
    return {logits, t.to(t.softmax_method(t.top_k(logits, m.num_experts_per_tok)), tokens.type)};
}

constexpr value mixture(const site& here, trace& t, const value& x) {
    const value tokens = t.reshape(x, {-1, here.dims.hidden_size});
    return call_experts(here, t, tokens, call_own_router(here, t, pick, tokens)).view({x.dim(0), x.dim(1), -1});
}

/// Experts, and beside them a block for every token where the file has one.
constexpr value feed(const site& here, trace& t, const value& x) {
    const value routed = feed_by_mixture(here, t, mixture, x);
    const std::int64_t inner = here.dims.moe.shared_intermediate_size;
    if (inner == 0) return routed;
    return t.add(routed, call_mlp(here, t, "shared_mlp", inner, x));
}

constexpr void read_mixture(config_view config, sizes& s) {
    read_experts(config, s, "num_local_experts");
    check_experts(config, s);
    s.moe.intermediate_size = s.intermediate_size;
}

constexpr void read(config_view config, sizes& s) {
    read_mixture(config, s);
    plan_one_mask(config, s);
    s.layers.set_all({s.layers[0].mixer, true});
}

constexpr void read_shared(config_view config, sizes& s) {
    read(config, s);
    s.moe.shared_intermediate_size = config.non_negative("shared_intermediate_size", 0);
}

/// Each output is scaled by the share that a logit of its head's own leaves to the keys (modeling_granite_swa.py,
/// `eager_attention_forward`).
constexpr value look_up_with_sinks(const site& here, trace& t, const qkv& of, const value& sinks) {
    const shared_values& s = *here.shared;
    const std::int64_t heads = of.q.dim(1), groups = heads / of.k.dim(1);
    const recorder::fused_guard fused{t, fused_attention(of.q, of.k.dim(1), s.where, of.k.dim(2))};
    const value keys = repeat_kv(t, of.k, groups), values = repeat_kv(t, of.v, groups);
    const bool sparse = s.where.causal && t.load().attention == attention_scores::causal;
    value scores = t.mul(t.matmul(of.q, keys.transpose(2, 3), sparse ? s.where.visible_pairs() : 0));
    if (!sparse) scores = t.add(scores, s.mask);
    const value distance = t.sub(t.logsumexp(scores, -1), sinks.view({1, heads, 1}));
    const value share = t.sigmoid(t.to(distance, dtype::float32));
    const value probabilities = t.to(t.softmax(t.to(scores, dtype::float32)), of.q.type);
    const value found = t.matmul(drop(t, probabilities, dropout_of::attention), values);
    const value mixed = t.mul(found, t.to(share.unsqueeze(-1), of.q.type));
    return t.reshape(t.contiguous(mixed.transpose(1, 2)), {mixed.dim(0), mixed.dim(2), -1});
}

/// Layers without a base of frequencies rotate nothing; their word is 0.
constexpr value attend_with_sinks(const site& here, trace& t, const value& x) {
    const value sinks = t.param("sinks", {here.dims.num_attention_heads});
    qkv of = project_qkv(here, t, x);
    split_heads(here, of);
    heads_first(of);
    if (here.kind.own != 0) turn(here, t, of);
    remember(here, t, of);
    return join(here, t, look_up_with_sinks(here, t, of, sinks));
}

/// How many bases of frequencies the layers of one model may have.
inline constexpr std::uint8_t most_bases = 8;

/// Rotary tables for each base of frequencies that layers name.
constexpr value base_with_sinks(const site& here, trace& t) {
    value x = here.row.embed(here, t);
    const decoder_context shared = masks(here, t);
    std::uint8_t bases = 0;
    for (int i = 0; i < here.dims.layers.count; ++i)
        if (here.dims.layers.kinds[i].own > bases) bases = here.dims.layers.kinds[i].own;
    decoder_context of_base[most_bases + 1];
    of_base[0] = shared;
    const rotary_table table{here.dims.rotary_dim, here.type(here.row.names.rotary_type), rotary_frequencies{here.dims}};
    for (std::uint8_t i = 1; i <= bases; ++i) {
        of_base[i] = shared;
        const auto made = t.call({"rotary_embs", i - 1}, table, t.load().sequence);
        of_base[i].full.cos = of_base[i].sliding.cos = made.first;
        of_base[i].full.sin = of_base[i].sliding.sin = made.second;
    }
    for (repetition each = t.repeat(here.dims.num_hidden_layers, here.dims.layers, x); each.next();) {
        const layer_kind kind = each.kind();
        x = t.call({here.row.names.layers, each.index()}, decoder_layer{here.at(each, of_base[kind.own].of(kind))}, x);
    }
    return normed(here, t, here.row.names.norm, x);
}

/// The number of each layer's base among those that are not 0, from 1.
class rotary_bases {
public:
    constexpr rotary_bases(config_view config, const sizes& s) : list_(config.optional_array("layer_rope_theta")) {
        if (list_ && static_cast<std::int64_t>(list_->size()) < s.num_hidden_layers)
            fail_value(config, "layer_rope_theta", "a list with one number per hidden layer");
        if (!list_) return;
        for (const config_view entry : *list_) {
            if (entry.as_real() == 0 || number(entry.as_real()) != 0) continue;
            if (count_ == most_bases) fail_value(config, "layer_rope_theta", "a list of at most 8 different numbers");
            bases_[count_++] = entry.as_real();
        }
    }
    [[nodiscard]] constexpr std::uint8_t of(std::int64_t layer) const {
        return list_ ? number((*list_)[static_cast<std::uint32_t>(layer)].as_real()) : std::uint8_t{1};
    }

private:
    [[nodiscard]] constexpr std::uint8_t number(double base) const noexcept {
        for (std::uint8_t i = 0; i < count_; ++i)
            if (bases_[i] == base) return static_cast<std::uint8_t>(i + 1);
        return 0;
    }
    maybe<config_view> list_;
    double bases_[most_bases]{};
    std::uint8_t count_ = 0;
};

/// Every fourth layer sees everything, unless `layer_types` says otherwise.
constexpr void read_swa(config_view config, sizes& s) {
    read_mixture(config, s);
    s.moe.shared_intermediate_size = config.non_negative("shared_intermediate_size", 0);
    const bool listed = read_layer_types(config, s);
    const layer_plan given = s.layers;
    const rotary_bases bases(config, s);
    plan_layers(config, s, [&](std::int64_t i) {
        const mixer_kind by_rule = i % 4 == 0 ? mixer_kind::full_attention : mixer_kind::sliding_attention;
        return layer_kind{listed ? given[i].mixer : by_rule, true, bases.of(i)};
    });
}

}  // namespace granitemoe_detail

// transformers/models/granitemoe: Granite's constants, the best experts' logits through a softmax of their own
inline constexpr architecture granitemoe = [](architecture a) {
    a.model_type = "granitemoe", a.prefix = "GraniteMoe", a.read = granitemoe_detail::read, a.feed = granitemoe_detail::feed;
    a.own = granitemoe_detail::keys, a.finish = granitemoe_detail::finish;
    a.names.feed_forward = "block_sparse_moe", a.names.moe_type = "MoE", a.names.router = "router";
    a.defaults.moe.num_experts = 8, a.defaults.moe.num_experts_per_tok = 2;
    a.keys[0] = no_mlp_bias;
    return a;
}(granite);

// transformers/models/granitemoeshared: the same with a block beside the experts
inline constexpr architecture granitemoeshared = [](architecture a) {
    a.model_type = "granitemoeshared", a.prefix = "GraniteMoeShared", a.read = granitemoe_detail::read_shared;
    a.feed_forward = mlp_kind::fused_gated;
    a.names.mlp = {.gate = "input_linear", .up = "", .down = "output_linear", .act = "activation"};
    return a;
}(granitemoe);

// transformers/models/granitemoe_swa: windows, sinks that scale outputs, a base of frequencies for each layer, or none
inline constexpr architecture granitemoe_swa = [](architecture a) {
    a.model_type = "granitemoe_swa", a.prefix = "GraniteMoeSWA", a.read = granitemoe_detail::read_swa;
    a.base = granitemoe_detail::base_with_sinks, a.attend = granitemoe_detail::attend_with_sinks;
    a.masks = mask_rule::full_and_sliding, a.kinds.own = granitemoe_detail::most_bases;
    a.defaults.sliding_window = 128;
    return a;
}(granitemoeshared);

}  // namespace llmcost::arch
