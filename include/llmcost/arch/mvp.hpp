// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bart.hpp>

namespace llmcost::arch {

namespace mvp_detail {

enum own : std::uint8_t { prompts = stack_own::count, prompt_length, prompt_inner };
inline constexpr own_key keys[]{{"decoder_layers", 12},    {"decoder_attention_heads", 16},       {"decoder_ffn_dim", 4096},
                                {"encoder_ffn_dim", 4096}, {"use_prompt", 0, own_value::boolean}, {"prompt_length", 100},
                                {"prompt_mid_dim", 800}};

/// What `shared_values::own` holds: prompts of all layers, (2 · layers, heads, length, head_dim).
enum shared : std::uint8_t { own_prompts, cross_prompts };

/// Keys and values in front of those of the text, for all layers of a stack.
struct prompt {
    const site& here;
    std::int64_t layers;
    std::int64_t heads;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Prompt"); }
    constexpr value describe(trace& t) const {
        const std::int64_t length = here.dims.own[prompt_length], inner = here.dims.own[prompt_inner];
        const std::int64_t width = here.dims.hidden_size, out = layers * 2 * width;
        const value x = t.call("prompt_embedding", embedding{length, width}, extents{length});
        const module_info trans{.name = "prompt_trans", .type = {"", "Sequential"}};
        t.enter(trans);
        value h = t.call("0", linear{width, inner, true}, x);
        h = t.call("1", gelu{}, h);
        h = t.leave(trans, t.call("2", linear{inner, out, true}, h));
        return dropout(t, "dropout", h.view({length, layers * 2, heads, width / heads})).permute({1, 2, 0, 3});
    }
    struct gelu : activation_module {
        constexpr gelu() noexcept : activation_module{activation::gelu} {}
        [[nodiscard]] constexpr class_name type() const { return {"", "GELU"}; }
    };
};

/// Only the decoder of both stacks is told to have prompts: `MvpModel` hands them to the encoder as something else.
constexpr bool has_prompts(const site& here, bool decodes) {
    return here.dims.own[prompts] != 0 && decodes && here.dims.head != head_kind::causal_lm;
}

constexpr void prepare(const site& here, trace& t, bool decodes, shared_values& into) {
    if (!has_prompts(here, decodes)) return;
    const prompt made{here, here.dims.num_hidden_layers, here.dims.num_attention_heads};
    into.own[own_prompts] = t.call("self_attn_prompt", made);
    into.own[cross_prompts] = t.call("cross_attn_prompt", made);
}

/// Positions looked up for every sequence, two rows behind the table's first.
constexpr value positions(const site& here, trace& t, std::int64_t length, bool decodes) {
    check_positions(here, t, length, decodes);
    return t.call("embed_positions", position_table{here, 2}, extents{t.load().batch, length});
}

/// Queries scaled by themselves, products of flattened batches, prompts in front of keys and values.
constexpr value attend(const site& here, trace& t, const stack_sizes& s, const value& x, const value* source,
                       const context& where, const value* mask) {
    const std::int64_t d = s.width / s.heads, batch = x.dim(0), sequence = x.dim(1), flat = batch * s.heads;
    const linear projection{s.width, s.width, true};
    const value scaled = t.mul(t.call("q_proj", projection, x));
    const value& from = source != nullptr ? *source : x;
    const bool from_cache = source != nullptr && encoder_is_done(t.load());
    value k, v;
    {
        const recorder::idle_guard unused{t, from_cache};
        const value keys = t.call("k_proj", projection, from), values = t.call("v_proj", projection, from);
        k = keys.view({batch, -1, s.heads, d}).transpose(1, 2);
        v = values.view({batch, -1, s.heads, d}).transpose(1, 2);
    }
    if (from_cache) {
        k = v = trace::buffer({batch, s.heads, from.dim(1), d});
        t.cache(k), t.cache(v);
    } else if (s.decodes) {
        k = update_cache(t, k, where);
        v = update_cache(t, v, where);
    }
    const bool sparse = where.causal && t.load().attention == attention_scores::causal;
    value wide_mask = mask != nullptr ? *mask : value{};
    std::int64_t ahead = 0;
    if (has_prompts(here, s.decodes)) {
        // a layer's pair of what `split` gives: keys, then values
        const value pair = here.shared->own[source != nullptr ? cross_prompts : own_prompts].slice(0, 2);
        ahead = pair.dim(2);
        const extents to{batch, s.heads, ahead, d};
        k = t.cat({t.select(pair, 0).expand(to), k}, 2);
        v = t.cat({t.select(pair, 0).expand(to), v}, 2);
        // zeros, then a copy of them where the mask is
        if (mask != nullptr) wide_mask = t.cat({t.copy(t.constant({batch, 1, sequence, ahead})), *mask}, -1);
    }
    const value q = scaled.view({batch, sequence, s.heads, d}).transpose(1, 2);
    value out;
    {
        const context all{.sequence = sequence, .past = k.dim(2) - sequence, .causal = false};
        const recorder::fused_guard fused{t, fused_attention(q, s.heads, ahead > 0 ? all : where, k.dim(2))};
        const value queries = t.reshape(q, {flat, -1, d}), keys = t.reshape(k, {flat, -1, d});
        const value values = t.reshape(v, {flat, -1, d});
        const std::int64_t length = keys.dim(1);
        value scores =
            t.bmm(op::batched_matmul, queries, keys.transpose(1, 2), sparse ? where.visible_pairs() + sequence * ahead : 0);
        if (mask != nullptr && !sparse)
            scores = t.add(scores.view({batch, s.heads, sequence, length}), wide_mask).view({flat, sequence, length});
        out = t.bmm(drop(t, t.softmax(scores), dropout_of::attention), values)
                  .view({batch, s.heads, sequence, d})
                  .transpose(1, 2);
    }
    return t.call("out_proj", projection, t.reshape(out, {batch, sequence, s.width}));
}

inline constexpr stack_style style{.own_mask = false,
                                   .scale = word_scale::stack,
                                   .positions = positions,
                                   .prepare = prepare,
                                   .attend_in_encoder = attend,
                                   .attend_in_decoder = attend};

constexpr void read(config_view config, sizes& s) {
    read_stacks(config, s);
    if (s.own[prompts] != 0 && s.head == head_kind::sequence_classification)
        fail_unsupported(config, "use_prompt", "no row describes prompts under this head");
}

}  // namespace mvp_detail

/// BART with an attention of its own and, where asked for, prompts.
///
/// Source: transformers/models/mvp/modeling_mvp.py.
constexpr value describe_mvp(const site& here, trace& t) { return describe_stacks(here, t, mvp_detail::style); }

// transformers/models/mvp: configuration_mvp.py, modeling_mvp.py
inline constexpr architecture mvp = [](architecture a) {
    a.model_type = "mvp", a.prefix = "Mvp", a.describe = describe_mvp, a.own = mvp_detail::keys;
    a.read = mvp_detail::read;
    a.defaults.vocab_size = 50267, a.defaults.num_labels = 2;
    return a;
}(bart);

}  // namespace llmcost::arch
