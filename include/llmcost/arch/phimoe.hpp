// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/reading/experts.hpp>

namespace llmcost::arch {

namespace phimoe_detail {

/// One expert's weight: a softmax over those that are near enough to the best (modeling_phimoe.py, `sparsemixer`).
constexpr value weight_of_best(trace& t, const value& all, const value& left) {
    {
        const trace::no_grad_guard quiet{t};
        const value best = t.max_over(left, -1, true);
        const value factor = t.unary(op::compare, t.abs(all));  // at least the best
        (void)t.div(t.sub(best, all), factor);
    }
    return t.gather(t.softmax_method(t.where(left)), {all.dim(0), 1});
}

/// The best expert, then the best of the others.
constexpr two_values pick(const site& here, trace& t, const value& tokens) {
    const value logits = t.linear(tokens, t.param("weight", {here.dims.moe.num_experts, here.dims.hidden_size}));
    const value first = weight_of_best(t, logits, logits);
    const value others = t.unary(op::scatter, logits);
    return {logits, t.cat({first, weight_of_best(t, logits, others)}, -1)};
}

constexpr value mixture(const site& here, trace& t, const value& x) {
    const value tokens = t.reshape(x, {-1, here.dims.hidden_size});
    return call_experts(here, t, tokens, call_own_router(here, t, pick, tokens)).view({x.dim(0), x.dim(1), -1});
}

constexpr value feed(const site& here, trace& t, const value& x) { return feed_by_mixture(here, t, mixture, x); }

/// Rotary tables whose frequencies are made anew in every pass, on the CPU, and copied to the model's device
/// (modeling_phimoe.py, `PhimoeRotaryEmbedding`).
struct fresh_rotary_table : rotary_table {
    constexpr two_values describe(trace& t, std::int64_t sequence) const {
        {
            const trace::no_grad_guard quiet{t};
            const value powers = t.unary(op::power, t.div(t.constant({dim / 2})));
            (void)t.copy(t.mul(t.unary(op::reciprocal, powers)));
        }
        return rotary_table::describe(t, sequence);
    }
};

constexpr decoder_context prepare(const site& here, trace& t) {
    decoder_context c = masks(here, t);
    const class_name named = here.type(here.row.names.rotary_type);
    const fresh_rotary_table table{{here.dims.rotary_dim, named, rotary_frequencies{here.dims}}};
    const auto tables = t.call(here.row.names.rotary, table, t.load().sequence);
    c.full.cos = c.sliding.cos = tables.first, c.full.sin = c.sliding.sin = tables.second;
    return c;
}

constexpr void read(config_view config, sizes& s) {
    s.head_bias = config.boolean("lm_head_bias", false);
    read_experts(config, s, "num_local_experts");
    read_balance(config, s);
    check_experts(config, s);
    if (s.moe.weighs_balance && s.moe.num_experts_per_tok != 2)
        fail_value(config, "num_experts_per_tok", "2, as the router picks two and the balance counts as many");
    s.moe.num_experts_per_tok = 2;  // whatever the key says (`sparsemixer`)
    s.moe.intermediate_size = s.intermediate_size;
    if (const auto rope = detail::rope_parameters(config); rope && !detail::has_type_of_rope(*rope, "default"))
        if (rope->contains("rope_type") || rope->contains("type"))
            fail_unsupported(*rope, rope->contains("rope_type") ? "rope_type" : "type",
                             "no row describes how this type scales such frequencies");
    plan_one_mask(config, s);
    s.layers.set_all({s.layers[0].mixer, true});
}

}  // namespace phimoe_detail

// transformers/models/phimoe: layer norms, two experts by a softmax each, frequencies made in every pass
inline constexpr architecture phimoe = [](architecture a) {
    a.model_type = "phimoe", a.prefix = "Phimoe", a.read = phimoe_detail::read, a.norm = norm_kind::layer;
    a.prepare = phimoe_detail::prepare, a.feed = phimoe_detail::feed;
    a.heads = {head_kind::none, head_kind::causal_lm, head_kind::sequence_classification};
    a.names.router = "router";
    a.keys[0] = no_mlp_bias;
    a.defaults.vocab_size = 32064, a.defaults.intermediate_size = 6400, a.defaults.num_key_value_heads = 8;
    a.defaults.max_position_embeddings = 131072;
    a.defaults.moe.num_experts = 16, a.defaults.moe.num_experts_per_tok = 2;
    a.drops = {};  // which experts are met is drawn in training
    return a;
}(llama);

}  // namespace llmcost::arch
