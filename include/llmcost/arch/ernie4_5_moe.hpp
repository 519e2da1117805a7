// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/reading/experts.hpp>
#include <llmcost/walks/further_tokens.hpp>

namespace llmcost::arch {

namespace ernie4_5_moe_detail {

enum own : std::uint8_t { weighs_balance };
inline constexpr own_key keys[]{{"output_router_logits", 0, own_value::boolean}};

constexpr value finish(const site& here, trace& t, const value& scores) {
    weigh_float_balance(here, t, here.dims.own[weighs_balance] != 0);
    return scores;
}

/// Pairs of elements turned in float32 by tables whose halves are repeated (modeling_ernie4_5_moe.py,
/// `apply_rotary_pos_emb`).
constexpr value turn_pairs(trace& t, const value& x, const value& cos, const value& sin) {
    const std::int64_t half = x.dim(-1) / 2;
    const value plain = t.mul(t.to(x, dtype::float32), cos);
    const value odd = t.neg(t.slice(x, -1, half, 2)).unsqueeze(-1), even = t.slice(x, -1, half, 2).unsqueeze(-1);
    const value turned = t.cat({odd, even}, -1).view({x.dim(0), x.dim(1), x.dim(2), x.dim(3)});
    return t.to(t.add(plain, t.mul(t.to(turned, dtype::float32), sin)), x.type);
}

constexpr value attend(const site& here, trace& t, const value& x) {
    const std::int64_t half = here.dims.head_dim / 2;
    qkv of = project_qkv(here, t, x);
    split_heads(here, of);
    heads_first(of);
    const auto in_pairs = [&](const value& table) { return t.repeat_interleave(table.unsqueeze(1).slice(-1, half), -1, 2); };
    const value cos = in_pairs(here.shared->cos), sin = in_pairs(here.shared->sin);
    for (value* const each : {&of.q, &of.k}) *each = turn_pairs(t, *each, cos, sin);
    remember(here, t, of);
    return join(here, t, look_up(here, t, of));
}

/// A correction of scores, a module of its own.
struct statics {
    site here;

    static constexpr role what = role::router;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return here.type("Statics"); }
    constexpr value describe(trace& t, const value& scores) const {
        const std::int64_t n = here.dims.moe.num_experts;
        return t.add(scores, t.frozen("e_score_correction_bias", {1, n}).view({n}));
    }
};

/// A softmax of all logits; corrected ones pick experts, whose own are normed to one.
struct router {
    site here;

    static constexpr role what = role::router;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("TopKRouter"); }
    constexpr value describe(trace& t, const value& tokens) const {
        const moe_sizes& m = here.dims.moe;
        value weight = t.param("weight", {m.num_experts, here.dims.hidden_size});
        weight.type = dtype::float32;  // whatever the others' type is
        const value scores = t.softmax(t.linear(t.to(tokens, dtype::float32), weight));
        {
            const recorder::off_loss_guard indices{t};
            (void)t.top_k(t.call("moe_statics", statics{here}, scores), m.num_experts_per_tok);
        }
        const value best = t.gather(scores, {tokens.dim(0), m.num_experts_per_tok});
        const value sum = t.unary(op::compare, t.sum(best, -1, true));  // at least `moe_norm_min`
        return t.to(t.div(best, sum), tokens.type);
    }
};

constexpr value mixture(const site& here, trace& t, const value& x) {
    const value tokens = x.view({-1, here.dims.hidden_size});
    const std::int64_t inner = here.dims.moe.shared_intermediate_size;
    const value beside = inner != 0 ? call_mlp(here, t, "shared_experts", inner, tokens) : value{};
    const value routed = call_experts(here, t, tokens, t.call("gate", router{here}, tokens));
    return (inner != 0 ? t.add(routed, beside) : routed).view({x.dim(0), x.dim(1), here.dims.hidden_size});
}

constexpr value feed(const site& here, trace& t, const value& x) { return feed_by_mixture(here, t, mixture, x); }

/// Dense layers, whose states are not normed (vllm/model_executor/models/ernie_mtp.py).
constexpr void predict(const site& here, trace& t, const value& x) { predict_further(here, t, x, {.post_norm = false}); }

/// Experts in every so many-th layer from a first one to a last.
constexpr void read(config_view config, sizes& s) {
    s.attention_bias = s.output_bias = s.mlp_bias = s.head_bias = config.boolean("use_bias", false);
    s.moe.num_experts = config.positive(config.contains("num_experts") ? "num_experts" : "moe_num_experts", 64);
    const literal picked = config.contains("num_experts_per_tok") ? "num_experts_per_tok" : "moe_k";
    s.moe.num_experts_per_tok = config.positive(picked, 6);
    if (s.moe.num_experts_per_tok > s.moe.num_experts) fail_value(config, picked, "at most the number of experts");
    s.moe.intermediate_size = config.positive("moe_intermediate_size", 1536);
    s.moe.shared_intermediate_size = checked_width(
        config, "moe_num_shared_experts", config.non_negative("moe_num_shared_experts", 2), s.moe.intermediate_size);
    plan_one_mask(config, s);
    const mixer_kind mixer = s.layers[0].mixer;
    const std::int64_t first = config.signed_size("moe_layer_start_index", 1);
    const std::int64_t end = config.signed_size("moe_layer_end_index", -1);
    const std::int64_t last = end == -1 ? s.num_hidden_layers - 1 : end, step = config.positive("moe_layer_interval", 1);
    plan_layers(config, s, [&](std::int64_t i) {
        return layer_kind{mixer, (i + 1) % step == 0 && i >= first && i <= last};
    });
}

}  // namespace ernie4_5_moe_detail

// transformers/models/ernie4_5_moe: pairs rotated in float32, a router with a module that corrects scores
inline constexpr architecture ernie4_5_moe = [](architecture a) {
    a.model_type = "ernie4_5_moe", a.prefix = "Ernie4_5_Moe", a.read = ernie4_5_moe_detail::read;
    a.attend = ernie4_5_moe_detail::attend, a.feed = ernie4_5_moe_detail::feed, a.heads = language_heads;
    a.rotated = rotation::half_in_float;
    a.own = ernie4_5_moe_detail::keys, a.finish = ernie4_5_moe_detail::finish;
    a.predict = ernie4_5_moe_detail::predict;
    a.keys[0] = no_mlp_bias, a.keys[1] = no_attention_bias;
    a.defaults.vocab_size = 103424, a.defaults.hidden_size = 2560, a.defaults.intermediate_size = 12288;
    a.defaults.num_hidden_layers = 28, a.defaults.num_attention_heads = 20, a.defaults.num_key_value_heads = 4;
    a.defaults.max_position_embeddings = 131072, a.defaults.tie_word_embeddings = true;
    return a;
}(llama);

}  // namespace llmcost::arch
