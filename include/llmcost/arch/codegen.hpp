// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/gptj.hpp>

namespace llmcost::arch {

namespace codegen_detail {

/// How many devices the checkpoint was trained on: each one's queries, values and keys lie together.
inline constexpr std::int64_t shards = 4;

/// Scores in float32, masked, then divided by a constant.
constexpr value look_up_divided(const site& here, trace& t, const qkv& of) {
    const context& where = here.shared->where;
    const recorder::fused_guard fused{t, fused_attention(of.q, of.k.dim(1), where, of.k.dim(2))};
    const bool sparse = t.load().attention == attention_scores::causal;
    const value rows = t.to(of.q, dtype::float32), columns = t.to(of.k, dtype::float32).transpose(2, 3);
    value scores = t.matmul(rows, columns, sparse ? where.visible_pairs() : 0);
    if (!sparse) scores = t.add(scores, here.shared->mask);
    const value probabilities = dropout(t, "attn_dropout", t.to(t.softmax(t.div(scores)), of.v.type), dropout_of::attention);
    return t.contiguous(t.matmul(probabilities, of.v).transpose(1, 2));
}

constexpr value attend(const site& here, trace& t, const value& x) {
    const sizes& dims = here.dims;
    const std::int64_t width = dims.hidden_size, batch = x.dim(0), sequence = x.dim(1), d = dims.head_dim;
    const std::int64_t heads = dims.num_attention_heads;
    const value all = t.call("qkv_proj", linear{width, 3 * width}, x).view({batch, sequence, shards, -1});
    const auto part = [&] {
        const value split = all.slice(-1, width / shards).view({batch, sequence, shards, heads / shards, d});
        return t.reshape(split, {batch, sequence, heads, d});
    };
    qkv of;
    of.q = part(), of.k = part(), of.v = part().transpose(1, 2);
    t.positions(dims.max_position_embeddings, t.load().past + sequence);
    const value sinusoids =
        t.gather(trace::buffer({dims.max_position_embeddings, dims.rotary_dim}), {1, sequence, dims.rotary_dim});
    for (value* const each : {&of.k, &of.q}) {
        const value turned = rotate_every_two(t, t.slice(*each, -1, dims.rotary_dim), sinusoids);
        *each = t.cat({turned, t.slice(*each, -1, d - dims.rotary_dim)}, -1).transpose(1, 2);
    }
    remember(here, t, of);
    const value flat = look_up_divided(here, t, of).view({batch, sequence, width});
    return dropout(t, "resid_dropout", t.call("out_proj", linear{width, width}, flat));
}

constexpr void read(config_view config, sizes& s) {
    gptj_detail::read(config, s);
    if (s.num_attention_heads % shards != 0)
        fail_value(config, config.contains("num_attention_heads") ? "num_attention_heads" : "n_head", "a multiple of 4");
}

}  // namespace codegen_detail

// transformers/models/codegen: configuration_codegen.py, modeling_codegen.py; GPT-J with projections in four shards
inline constexpr architecture codegen = [](architecture a) {
    a.model_type = "codegen", a.prefix = "CodeGen", a.read = codegen_detail::read, a.attend = codegen_detail::attend;
    a.heads = language_heads;
    return a;
}(gptj);

}  // namespace llmcost::arch
