// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/reading/experts.hpp>
#include <llmcost/reading/reader.hpp>
#include <llmcost/walks/decoder.hpp>

namespace llmcost::arch {

namespace llama4_detail {

enum own : std::uint8_t { tunes_temperature };
inline constexpr own_key keys[]{
    {"attn_temperature_tuning", 1, own_value::boolean},  // queries without positions are scaled by where their tokens stand
};

/// The word of layers whose attention knows of no positions.
inline constexpr std::uint8_t unrotated = 1;

/// log(1 + floor((position + 1) / floor_scale)) · attn_scale + 1, (1, sequence, 1, 1).
constexpr value temperatures(trace& t, std::int64_t sequence) {
    const value steps = t.unary(op::compare, t.div(t.add(t.constant({sequence}))));
    return t.add(t.mul(t.unary(op::log1p, steps))).view({1, sequence, 1, 1});
}

/// Attention with complex rotation and weightless norms of queries and keys, or with neither.
constexpr value attend(const site& here, trace& t, const value& x) {
    const std::int64_t batch = x.dim(0), sequence = x.dim(1);
    qkv of = project_qkv(here, t, x);
    split_heads(here, of);
    if (here.kind.own != unrotated) {
        const value unit = here.shared->cos.unsqueeze(2);
        const norm<norm_kind::rms> plain{here.dims.head_dim, here.type("TextL2Norm"), false};
        for (value* const each : {&of.q, &of.k}) *each = rotate_pairs(t, *each, unit);
        for (value* const each : {&of.q, &of.k})  // one module, called twice
            if (here.dims.qk_norm) *each = t.call("qk_norm", plain, *each);
    } else if (here.dims.own[tunes_temperature]) {
        of.q = t.to(t.mul(of.q, temperatures(t, sequence).expand({batch, sequence, 1, 1})), of.q.type);
    }
    heads_first(of);
    remember(here, t, of);
    return join(here, t, look_up(here, t, of, {.float_softmax = false}));
}

/// Logits of the experts, and the sigmoids of the largest k of them: 0 for the others.
struct router {
    site here;

    static constexpr role what = role::router;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return here.type("Router"); }
    constexpr two_values describe(trace& t, const value& tokens) const {
        const value logits = t.linear(tokens, t.param("weight", {here.dims.moe.num_experts, here.dims.hidden_size}));
        const value largest = t.top_k(logits, here.dims.moe.num_experts_per_tok);
        value scores = t.constant({tokens.dim(0), here.dims.moe.num_experts}, logits.type);
        t.in_place(op::scatter, scores, largest);
        return {t.to(t.sigmoid(t.to(scores, dtype::float32)), logits.type), logits};
    }
};

/// Every expert runs over every token in one batch of products: x (experts · tokens, width) -> the same.
struct experts {
    site here;

    static constexpr role what = role::experts;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("TextExperts"); }
    constexpr value describe(trace& t, const value& x) const {
        const moe_sizes& m = here.dims.moe;
        const std::int64_t width = here.dims.hidden_size, inner = m.intermediate_size, k = m.num_experts_per_tok;
        const value in = t.param("gate_up_proj", {m.num_experts, width, 2 * inner}, k, m.num_experts);
        const value out = t.param("down_proj", {m.num_experts, inner, width}, k, m.num_experts);
        const value half = t.bmm(x.view({m.num_experts, -1, width}), in).slice(-1, inner);
        const value gated = t.mul(half, t.call("act_fn", activation_module{here.dims.hidden_act}, half));
        return t.bmm(gated, out).view({-1, width});
    }
};

/// What all experts make of all tokens: (experts · tokens, width).
constexpr value expert_outputs(const site& here, trace& t, const value& tokens, const value& scores) {
    const std::int64_t n = here.dims.moe.num_experts, width = here.dims.hidden_size;
    const recorder::fused_guard fused{t,
                                      {.kind = fused_kind::experts,
                                       .tokens = tokens.dim(0),
                                       .width = width,
                                       .inner = here.dims.moe.intermediate_size,
                                       .num_experts = n,
                                       .num_experts_per_tok = here.dims.moe.num_experts_per_tok}};
    const recorder::unrouted_guard everything{t, here.dims.moe.num_experts_per_tok, n};
    const value copies = t.copy(tokens.unsqueeze(0).expand({n, tokens.dim(0), width})).view({-1, width});
    const value scaled = t.mul(copies, t.reshape(scores.transpose(0, 1), {-1, 1}));
    return t.call("experts", experts{here}, scaled);
}

/// Each expert gets all tokens, scaled by its scores; a shared expert gets them as they are.
struct mixture {
    site here;

    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("TextMoe"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size;
        const value tokens = t.reshape(x, {-1, width});
        const value scores = t.call("router", router{here}, tokens).first;
        const value routed = expert_outputs(here, t, tokens, scores);
        value out = call_mlp(here, t, "shared_expert", here.dims.moe.shared_intermediate_size, tokens);
        t.in_place(op::add, out, t.sum(t.reshape(routed, {here.dims.moe.num_experts, -1, width}), 0));
        return out.view({x.dim(0), x.dim(1), width});
    }
};

constexpr value feed(const site& here, trace& t, const value& x) {
    return here.kind.experts ? t.call("feed_forward", mixture{here}, x) : feed_forward(here, t, x);
}

/// Which layers rotate queries and keys: a list, else all but every so many-th (configuration_llama4.py, `__post_init__`).
class rotary_places {
public:
    constexpr rotary_places(config_view config, const sizes& s, bool listed_types)
        : interval_(config.positive("no_rope_layer_interval", 4)), list_(config.optional_array("no_rope_layers")) {
        if (list_ && list_->size() == 0) list_ = {};
        if (!list_) return;
        const auto given = static_cast<std::int64_t>(list_->size());
        if (given < s.num_hidden_layers || (given > s.num_hidden_layers && !listed_types))
            fail_value(config, "no_rope_layers", "a list with one number per hidden layer");
    }
    [[nodiscard]] constexpr bool has(std::int64_t layer) const {
        return list_ ? (*list_)[static_cast<std::uint32_t>(layer)].as_integer() != 0 : (layer + 1) % interval_ != 0;
    }

private:
    std::int64_t interval_;
    maybe<config_view> list_;
};

/// Layers that rotate see their chunk and the others everything, unless `layer_types` says otherwise; experts in the layers
/// that `moe_layers` lists, else in every so many-th.
constexpr void read(config_view config, sizes& s) {
    s.moe.num_experts = config.positive("num_local_experts", s.moe.num_experts);
    s.moe.num_experts_per_tok = config.positive("num_experts_per_tok", s.moe.num_experts_per_tok);
    if (s.moe.num_experts_per_tok > s.moe.num_experts)
        fail_value(config, "num_experts_per_tok", "at most the number of experts");
    s.moe.intermediate_size = s.moe.shared_intermediate_size = s.intermediate_size;
    s.intermediate_size = config.positive("intermediate_size_mlp", 16384);
    (void)checked_width(config, "num_local_experts", s.moe.num_experts, s.hidden_size);
    s.qk_norm = config.boolean("use_qk_norm", s.qk_norm);
    const bool listed = read_layer_types(config, s, mixer_kind::chunked_attention);
    const layer_plan given = s.layers;
    const rotary_places rotates(config, s, listed);
    const std::int64_t step = config.positive("interleave_moe_layer_step", 1);
    const auto list = config.optional_array("moe_layers");
    const layer_set several = list ? layer_set(*list) : layer_set{};
    plan_layers(config, s, [&](std::int64_t i) {
        const bool turns = rotates.has(i);
        const mixer_kind by_rule = turns ? mixer_kind::chunked_attention : mixer_kind::full_attention;
        return layer_kind{listed ? given[i].mixer : by_rule, list ? several.has(i) : (i + 1) % step == 0,
                          turns ? std::uint8_t{} : unrotated};
    });
    // a mask of chunks is made in any case; of one token the reference's cache would keep everything
    const auto chunk = config.find("attention_chunk_size");
    s.sliding_window = chunk ? chunk->as_positive() : 8192;
    if (s.sliding_window < 2 && s.layers.has(mixer_kind::chunked_attention, s.num_hidden_layers))
        fail_value(config, "attention_chunk_size", "at least 2 tokens");
}

}  // namespace llama4_detail

// transformers/models/llama4: chunks with complex rotation, full attention without, every expert over every token
inline constexpr architecture llama4_text = [](architecture a) {
    a.model_type = "llama4_text", a.prefix = "Llama4", a.read = llama4_detail::read, a.own = llama4_detail::keys;
    a.attend = llama4_detail::attend, a.feed = llama4_detail::feed;
    a.kinds = attention_kinds | mixer_kind::chunked_attention, a.kinds.own = llama4_detail::unrotated;
    a.rotated = rotation::complex_pairs, a.masks = mask_rule::full_and_sliding, a.heads = language_heads;
    a.names.model_type = "TextModel", a.names.layer_type = "TextDecoderLayer", a.names.attention_type = "TextAttention";
    a.names.norm_type = "TextRMSNorm", a.names.rotary_type = "TextRotaryEmbedding", a.names.mlp_type = "TextMLP";
    a.names.feed_forward = "feed_forward", a.names.mlp.act = "activation_fn";
    a.keys[0] = no_mlp_bias, a.keys[1] = {"sliding_window", "", key_rule::absent};
    a.defaults.vocab_size = 202048, a.defaults.hidden_size = 5120, a.defaults.intermediate_size = 8192;
    a.defaults.num_hidden_layers = 48, a.defaults.num_attention_heads = 40, a.defaults.num_key_value_heads = 8;
    a.defaults.head_dim = 128, a.defaults.max_position_embeddings = 131072, a.defaults.qk_norm = true;
    a.defaults.moe.num_experts = 16, a.defaults.moe.num_experts_per_tok = 1;
    return a;
}(shared_decoder);

}  // namespace llmcost::arch
