// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/reading/experts.hpp>

namespace llmcost::arch {

namespace afmoe_detail {

enum own : std::uint8_t { scales_words };
inline constexpr own_key keys[]{{"mup_enabled", 0, own_value::boolean}};

/// What attention finds is gated by the layer's input; only layers with windows know positions.
constexpr value attend(const site& here, trace& t, const value& x) {
    const std::int64_t d = here.dims.head_dim, wide = here.dims.num_attention_heads * d;
    qkv of = project_qkv(here, t, x);
    const value gate = t.call("gate_proj", linear{here.dims.hidden_size, wide}, x);
    split_heads(here, of);
    norm_queries_and_keys(here, t, of, d, d);
    heads_first(of);
    if (here.kind.mixer == mixer_kind::sliding_attention) turn(here, t, of);
    remember(here, t, of);
    return join(here, t, t.mul(look_up(here, t, of), t.sigmoid(gate)));
}

/// Logits by a linear layer of its own; corrected sigmoids pick experts.
struct router {
    site here;

    static constexpr role what = role::router;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("TokenChoiceRouter"); }
    constexpr value describe(trace& t, const value& tokens, const value& correction) const {
        const moe_sizes& m = here.dims.moe;
        const value logits = t.call("gate", linear{here.dims.hidden_size, m.num_experts}, tokens);
        const value scores = t.sigmoid(t.to(logits, dtype::float32));
        const value best = pick_corrected(t, scores, correction, m.num_experts_per_tok);
        return t.mul(t.div(best, t.add(t.sum(best, -1, true))));
    }
};

constexpr value mixture(const site& here, trace& t, const value& x) {
    const extents as_given{x.dim(0), x.dim(1), here.dims.hidden_size};
    const value tokens = x.view({-1, here.dims.hidden_size});
    const value correction = t.frozen("expert_bias", {here.dims.moe.num_experts});
    const value weights = t.call("router", router{here}, tokens, correction);
    const value beside = call_mlp(here, t, "shared_experts", here.dims.moe.shared_intermediate_size, tokens).view(as_given);
    return t.add(beside, call_experts(here, t, tokens, weights).view(as_given));
}

constexpr value feed(const site& here, trace& t, const value& x) { return feed_by_mixture(here, t, mixture, x); }

constexpr value embed(const site& here, trace& t) {
    return here.dims.own[scales_words] ? embed_words_scaled(here, t) : embed_words(here, t);
}

/// Every so many-th layer sees everything, unless `layer_types` says otherwise; experts behind the dense layers.
constexpr void read(config_view config, sizes& s) {
    read_experts(config, s, "num_experts");
    check_experts(config, s);
    s.moe.shared_intermediate_size =
        checked_width(config, "num_shared_experts", config.positive("num_shared_experts", 2), s.moe.intermediate_size);
    const std::int64_t dense = config.non_negative("num_dense_layers", 1);
    const std::int64_t period = config.positive("global_attn_every_n_layers", 4);
    const bool listed = read_layer_types(config, s);
    const layer_plan given = s.layers;
    plan_layers(config, s, [&](std::int64_t i) {
        const bool slides = (i + 1) % period != 0;
        const mixer_kind by_rule = slides ? mixer_kind::sliding_attention : mixer_kind::full_attention;
        return layer_kind{listed ? given[i].mixer : by_rule, i >= dense};
    });
}

}  // namespace afmoe_detail

// transformers/models/afmoe: gated attention, positions in layers with windows alone, norms around blocks
inline constexpr architecture afmoe = [](architecture a) {
    a.model_type = "afmoe", a.prefix = "Afmoe", a.read = afmoe_detail::read, a.own = afmoe_detail::keys;
    a.heads = language_heads, a.norm = norm_kind::rms_cast_last, a.masks = mask_rule::full_and_sliding;
    a.embed = afmoe_detail::embed, a.layer = layer_normed_around, a.attend = afmoe_detail::attend;
    a.feed = afmoe_detail::feed;
    a.names.norm_before_feed_forward = "pre_mlp_layernorm", a.names.norm_after_feed_forward = "post_mlp_layernorm";
    a.keys[0] = no_mlp_bias;
    a.defaults.vocab_size = 200192, a.defaults.hidden_size = 2048, a.defaults.intermediate_size = 6144;
    a.defaults.num_attention_heads = 16, a.defaults.head_dim = 128, a.defaults.max_position_embeddings = 16384;
    a.defaults.sliding_window = 1024;
    a.defaults.moe = {.num_experts = 64, .num_experts_per_tok = 6, .intermediate_size = 1408};
    return a;
}(llama);

}  // namespace llmcost::arch
