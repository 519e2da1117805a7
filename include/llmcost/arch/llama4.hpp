// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/moe.hpp>

namespace llmcost::arch {

namespace llama4_detail {

/// Attention with complex rotation and weightless norms of queries and keys, or with neither.
struct attention {
    const architecture& row;
    const shape& dims;
    const shared_values& shared;  ///< `cos` holds unit complex numbers
    bool rotates;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {row.prefix, "TextAttention"}; }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t d = dims.head_dim, heads = dims.num_attention_heads, kv_heads = dims.num_key_value_heads;
        const std::int64_t batch = x.dim(0), sequence = x.dim(1);
        const auto projected = [&](literal name, std::int64_t n) {
            return t.call(name, linear{dims.hidden_size, n * d, dims.attention_bias}, x).view({batch, sequence, n, d});
        };
        value q = projected("q_proj", heads), k = projected("k_proj", kv_heads);
        value v = projected("v_proj", kv_heads).transpose(1, 2);
        if (rotates) {
            const value unit = shared.cos.unsqueeze(2);
            q = rotate_pairs(t, q, unit);
            k = rotate_pairs(t, k, unit);
            if (dims.qk_norm) {  // one module, called twice
                const norm<norm_kind::rms> plain{d, {row.prefix, "TextL2Norm"}, false};
                q = t.call("qk_norm", plain, q);
                k = t.call("qk_norm", plain, k);
            }
        } else if (dims.tunes_temperature) {
            q = t.to(t.mul(q, temperatures(t, sequence).expand({batch, sequence, 1, 1})), q.type);
        }
        q = q.transpose(1, 2);
        k = update_cache(t, k.transpose(1, 2), shared.where);
        v = update_cache(t, v, shared.where);
        const value mixed = eager_attention(t, q, k, v, shared.where, {.mask = &shared.mask, .float_softmax = false});
        const value flat = t.contiguous(t.reshape(mixed, {batch, sequence, -1}));
        return t.call("o_proj", linear{heads * d, dims.hidden_size, dims.output_bias}, flat);
    }

private:
    /// log(1 + floor((position + 1) / floor_scale)) · attn_scale + 1, (1, sequence, 1, 1).
    static constexpr value temperatures(trace& t, std::int64_t sequence) {
        const value steps = t.unary(op::compare, t.div(t.add(t.constant({sequence}))));
        return t.add(t.mul(t.unary(op::log1p, steps))).view({1, sequence, 1, 1});
    }
};

/// Logits of the experts, and the sigmoids of the largest k of them: 0 for the others.
struct router {
    const architecture& row;
    const shape& dims;

    static constexpr role what = role::router;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return {row.prefix, "Router"}; }
    constexpr two_values describe(trace& t, const value& tokens) const {
        const value logits = t.linear(tokens, t.param("weight", {dims.moe.num_experts, dims.hidden_size}));
        const value largest = t.top_k(logits, dims.moe.num_experts_per_tok);
        value scores = t.constant({tokens.dim(0), dims.moe.num_experts}, logits.type);
        t.in_place(op::scatter, scores, largest);
        return {t.to(t.sigmoid(t.to(scores, dtype::float32)), logits.type), logits};
    }
};

/// Every expert runs over every token in one batch of products: x (experts · tokens, width) -> the same.
struct experts {
    const architecture& row;
    const shape& dims;

    static constexpr role what = role::experts;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {row.prefix, "TextExperts"}; }
    constexpr value describe(trace& t, const value& x) const {
        const moe_shape& m = dims.moe;
        const std::int64_t width = dims.hidden_size, inner = m.intermediate_size, k = m.num_experts_per_tok;
        const value in = t.param("gate_up_proj", {m.num_experts, width, 2 * inner}, k, m.num_experts);
        const value out = t.param("down_proj", {m.num_experts, inner, width}, k, m.num_experts);
        const value half = t.bmm(x.view({m.num_experts, -1, width}), in).slice(-1, inner);
        const value gated = t.mul(half, t.call("act_fn", activation_module{dims.hidden_act}, half));
        return t.bmm(gated, out).view({-1, width});
    }
};

/// Each expert gets all tokens, scaled by its scores; a shared expert gets them as they are.
struct mixture {
    const architecture& row;
    const shape& dims;
    mlp<mlp_kind::gated> shared_expert;

    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {row.prefix, "TextMoe"}; }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t n = dims.moe.num_experts, width = dims.hidden_size;
        const value tokens = t.reshape(x, {-1, width});
        const value scores = t.call("router", router{row, dims}, tokens).first;
        const value routed = expert_outputs(t, tokens, scores);
        value out = t.call("shared_expert", shared_expert, tokens);
        t.in_place(op::add, out, t.sum(t.reshape(routed, {n, -1, width}), 0));
        return out;
    }

private:
    constexpr value expert_outputs(trace& t, const value& tokens, const value& scores) const {
        const std::int64_t n = dims.moe.num_experts, width = dims.hidden_size;
        const recorder::fused_guard fused{t,
                                          {.kind = fused_kind::experts,
                                           .tokens = tokens.dim(0),
                                           .width = width,
                                           .inner = dims.moe.intermediate_size,
                                           .num_experts = n,
                                           .num_experts_per_tok = dims.moe.num_experts_per_tok}};
        const value copies = t.copy(tokens.unsqueeze(0).expand({n, tokens.dim(0), width})).view({-1, width});
        const value scaled = t.mul(copies, t.reshape(scores.transpose(0, 1), {-1, 1}));
        return t.call("experts", experts{row, dims}, scaled);
    }
};

/// Norm, attention, residual, norm, experts or a dense block, residual.
struct layer {
    const architecture& row;
    const shape& dims;
    const shared_values& shared;
    layer_kind kind;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {row.prefix, "TextDecoderLayer"}; }
    constexpr value describe(trace& t, const value& x) const {
        const attention attends{row, dims, shared, !kind.unrotated};
        const value middle = t.add(x, t.call("self_attn", attends, normed(t, "input_layernorm", x)));
        const value h = normed(t, "post_attention_layernorm", middle);
        const value fed = kind.experts
                              ? t.call("feed_forward", mixture{row, dims, dense(dims.moe.shared_intermediate_size)}, h)
                              : t.call("feed_forward", dense(dims.intermediate_size), h);
        return t.add(middle, fed.view({x.dim(0), x.dim(1), dims.hidden_size}));
    }

private:
    constexpr value normed(trace& t, literal name, const value& x) const {
        return t.call(name, norm<norm_kind::rms>{dims.hidden_size, {row.prefix, "TextRMSNorm"}}, x);
    }
    [[nodiscard]] constexpr mlp<mlp_kind::gated> dense(std::int64_t inner) const {
        const mlp_names named{.act = "activation_fn"};
        return {dims.hidden_size, inner, dims.hidden_act, {row.prefix, "TextMLP"}, false, named};
    }
};

constexpr value describe_base(const architecture& row, const shape& dims, trace& t) {
    const workload& load = t.load();
    const embedding words{dims.vocab_size, dims.hidden_size};
    value x = t.call("embed_tokens", words, extents{load.batch, load.sequence});
    shared_values full, chunked;
    full.where = context_of(t, 0);
    chunked.where = context_of(t, dims.sliding_window, window_kind::chunked);
    // both masks always; one that no layer reads is as long as the cache of the first (masking_utils.py, `layer_idx`)
    const bool has_full = dims.layers.has(mixer_kind::full_attention, dims.num_hidden_layers);
    const bool has_chunked = dims.layers.has(mixer_kind::chunked_attention, dims.num_hidden_layers);
    full.mask = eager_mask(t, has_chunked && !has_full ? chunked.where : full.where, load.batch);
    chunked.mask = eager_mask(t, has_chunked ? chunked.where : full.where, load.batch);
    const complex_rotary_table table{dims.rotary_dim, {row.prefix, "TextRotaryEmbedding"}, rotary_frequencies{dims}};
    full.cos = chunked.cos = t.call("rotary_emb", table, load.sequence);
    for (repetition each = t.repeat(dims.num_hidden_layers, dims.layers, x); each.next();) {
        const shared_values& mine = each.kind().mixer == mixer_kind::chunked_attention ? chunked : full;
        x = t.call({"layers", each.index()}, layer{row, dims, mine, each.kind()}, x);
    }
    return t.call("norm", norm<norm_kind::rms>{dims.hidden_size, {row.prefix, "TextRMSNorm"}}, x);
}

}  // namespace llama4_detail

/// Which layers rotate queries and keys: a list, else all but every so many-th (configuration_llama4.py, `__post_init__`).
class rotary_places {
public:
    constexpr rotary_places(config_view config, const shape& s, bool listed_types)
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
constexpr void read_llama4(config_view config, shape& s) {
    s.moe.num_experts = config.positive("num_local_experts", s.moe.num_experts);
    s.moe.num_experts_per_tok = config.positive("num_experts_per_tok", s.moe.num_experts_per_tok);
    if (s.moe.num_experts_per_tok > s.moe.num_experts)
        fail_value(config, "num_experts_per_tok", "at most the number of experts");
    s.moe.intermediate_size = s.moe.shared_intermediate_size = s.intermediate_size;
    s.intermediate_size = config.positive("intermediate_size_mlp", 16384);
    (void)checked_width(config, "num_local_experts", s.moe.num_experts, s.hidden_size);
    s.qk_norm = config.boolean("use_qk_norm", s.qk_norm);
    s.tunes_temperature = config.boolean("attn_temperature_tuning", s.tunes_temperature);
    const bool listed = read_layer_types(config, s, mixer_kind::chunked_attention);
    const layer_plan given = s.layers;
    const rotary_places rotates(config, s, listed);
    const std::int64_t step = config.positive("interleave_moe_layer_step", 1);
    const auto list = config.optional_array("moe_layers");
    const layer_set several = list ? layer_set(*list) : layer_set{};
    plan_layers(config, s, [&](std::int64_t i) {
        const bool turns = rotates.has(i);
        const mixer_kind by_rule = turns ? mixer_kind::chunked_attention : mixer_kind::full_attention;
        return layer_kind{listed ? layer_kind::from(given[i]).mixer : by_rule, list ? several.has(i) : (i + 1) % step == 0,
                          !turns};
    });
    // a mask of chunks is made in any case; of one token the reference's cache would keep everything
    const auto chunk = config.find("attention_chunk_size");
    s.sliding_window = chunk ? chunk->as_positive() : 8192;
    if (s.sliding_window < 2 && s.layers.has(mixer_kind::chunked_attention, s.num_hidden_layers))
        fail_value(config, "attention_chunk_size", "at least 2 tokens");
}

/// A decoder of its own under the shared heads.
constexpr value describe_llama4(const architecture& row, const shape& dims, trace& t) {
    return describe_under_head(row, dims, t, llama4_detail::describe_base);
}

// transformers/models/llama4: chunks with complex rotation, full attention without, every expert over every token
inline constexpr architecture llama4_text{
    .model_type = "llama4_text",
    .prefix = "Llama4",
    .describe = describe_llama4,
    .read = read_llama4,
    .rotated = rotation::complex_pairs,
    .heads = language_heads,
    .names = {.model_type = "TextModel"},
    .keys = {no_mlp_bias, {"sliding_window", "", key_rule::absent}},
    .defaults = {.vocab_size = 202048,
                 .hidden_size = 5120,
                 .intermediate_size = 8192,
                 .num_hidden_layers = 48,
                 .num_attention_heads = 40,
                 .num_key_value_heads = 8,
                 .head_dim = 128,
                 .max_position_embeddings = 131072,
                 .qk_norm = true,
                 .tunes_temperature = true,
                 .moe = {.num_experts = 16, .num_experts_per_tok = 1}},
};

}  // namespace llmcost::arch
