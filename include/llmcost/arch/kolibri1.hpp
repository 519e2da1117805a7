// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/reading/experts.hpp>

namespace llmcost::arch {

namespace kolibri1_detail {

/// Layers that slide rotate queries and keys, full ones know of no positions.
constexpr value attend(const site& here, trace& t, const value& x) {
    qkv of = project_qkv(here, t, x);
    split_heads(here, of);
    heads_first(of);
    norm_queries_and_keys(here, t, of, here.dims.head_dim, here.dims.head_dim);
    if (here.kind.mixer == mixer_kind::sliding_attention) turn(here, t, of);
    remember(here, t, of);
    return join(here, t, look_up(here, t, of));
}

/// Picks the largest k corrected logits in float32; the sigmoids of those picked are the weights.
struct router {
    site here;

    static constexpr role what = role::router;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return here.type("TopKRouter"); }
    constexpr two_values describe(trace& t, const value& x) const {
        const moe_sizes& m = here.dims.moe;
        const value tokens = t.reshape(x, {-1, here.dims.hidden_size});
        const value weight = t.param("weight", {m.num_experts, here.dims.hidden_size});
        const value logits = t.linear(t.to(tokens, dtype::float32), t.to(weight, dtype::float32));
        {
            const recorder::off_loss_guard indices{t};
            (void)t.top_k(t.add(logits, trace::buffer({m.num_experts})), m.num_experts_per_tok);
        }
        t.save_for_backward(logits);  // by the gather
        const value scores = t.sigmoid(t.gather(logits, {tokens.dim(0), m.num_experts_per_tok}));
        return {logits, m.norm_topk_prob ? t.div(scores, t.sum(scores, -1, true)) : scores};
    }
};

struct mixture {
    site here;

    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("SparseMoeBlock"); }
    constexpr value describe(trace& t, const value& x) const {
        const value weights = t.call("gate", router{here}, x).second;
        const value routed = call_experts(here, t, x.view({-1, here.dims.hidden_size}), weights);
        const value shared = call_mlp(here, t, "shared_experts", here.dims.moe.shared_intermediate_size, x);
        return t.add(routed.view({x.dim(0), x.dim(1), here.dims.hidden_size}), shared);
    }
};

constexpr value feed(const site& here, trace& t, const value& x) { return t.call("mlp", mixture{here}, x); }

/// Every fifth layer is full; all have experts.
constexpr void read(config_view config, sizes& s) {
    check_window_is_given(config);
    read_experts(config, s, config.contains("num_local_experts") ? "num_local_experts" : "num_experts");
    check_experts(config, s);
    s.moe.shared_intermediate_size = config.positive("shared_expert_intermediate_size", 512);
    const bool listed = read_layer_types(config, s);
    const layer_plan given = s.layers;
    plan_layers(config, s, [&](std::int64_t i) {
        const mixer_kind by_rule = (i + 1) % 5 == 0 ? mixer_kind::full_attention : mixer_kind::sliding_attention;
        return layer_kind{listed ? given[i].mixer : by_rule, true};
    });
}

}  // namespace kolibri1_detail

// transformers/models/kolibri1: norms around each block, full layers without positions, experts picked by corrected logits
inline constexpr architecture kolibri1 = [](architecture a) {
    a.heads = language_heads;
    a.model_type = "kolibri1", a.prefix = "Kolibri1", a.read = kolibri1_detail::read;
    a.attend = kolibri1_detail::attend, a.feed = kolibri1_detail::feed, a.layer = layer_normed_around;
    a.masks = mask_rule::full_and_sliding;
    a.names.norm_after_attention = "post_self_attn_layernorm", a.names.norm_after_feed_forward = "post_mlp_layernorm";
    a.defaults.vocab_size = 128000, a.defaults.hidden_size = 2560, a.defaults.num_hidden_layers = 50;
    a.defaults.num_attention_heads = 48, a.defaults.num_key_value_heads = 4, a.defaults.head_dim = 128;
    a.defaults.max_position_embeddings = 262144, a.defaults.sliding_window = 513;
    a.defaults.moe = {.num_experts = 384, .num_experts_per_tok = 6, .intermediate_size = 512};
    a.keys[0] = no_attention_bias, a.keys[1] = no_mlp_bias;
    return a;
}(llama);

}  // namespace llmcost::arch
