// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/gptj.hpp>
#include <llmcost/forward/float32_attention.hpp>

// CodeGen. Derived from GPT-J, with a fused projection in four shards.
//
// Source: transformers/models/codegen: configuration_codegen.py, modeling_codegen.py

namespace llmcost::arch {

namespace codegen_detail {

/// Number of devices used to train the checkpoint. The queries, values and keys of each device are contiguous.
inline constexpr std::int64_t shards = 4;

constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const model_config& config = ctx.config;
    const std::int64_t width = config.hidden_size, batch = x.dim(0), sequence = x.dim(1), d = config.head_dim;
    const std::int64_t heads = config.num_attention_heads;
    const tensor all = t.call("qkv_proj", linear{width, 3 * width}, x).view({batch, sequence, shards, -1});
    const auto part = [&] {
        const tensor split = all.slice(-1, width / shards).view({batch, sequence, shards, heads / shards, d});
        return t.reshape(split, {batch, sequence, heads, d});
    };
    query_key_value qkv;
    qkv.query = part();
    qkv.key = part();
    qkv.value = part().transpose(1, 2);
    t.check_positions(config.max_position_embeddings, t.load().past + sequence);
    // `embed_positions` of each layer (`create_sinusoidal_positions`)
    t.register_buffer({config.max_position_embeddings, config.rotary_dim}, dtype::float32);
    const tensor sinusoids =
        t.gather(trace::buffer({config.max_position_embeddings, config.rotary_dim}), {1, sequence, config.rotary_dim});
    for (tensor* const operand : {&qkv.key, &qkv.query}) {
        const tensor rotated = rotate_every_two(t, t.slice(*operand, -1, config.rotary_dim), sinusoids);
        *operand = t.cat({rotated, t.slice(*operand, -1, d - config.rotary_dim)}, -1).transpose(1, 2);
    }
    update_kv_cache(ctx, t, qkv);
    const tensor flat = float32_attention(ctx, t, qkv, ctx.inputs->pattern, score_step::mask_then_divide)
                            .view({batch, sequence, width});
    return dropout(t, "resid_dropout", t.call("out_proj", linear{width, width}, flat));
}

constexpr void parse_config(config_view json, model_config& config) {
    gptj.parse_config(json, config);
    if (config.num_attention_heads % shards != 0)
        throw_invalid_value(json, json.contains("num_attention_heads") ? "num_attention_heads" : "n_head",
                            "a multiple of 4");
}

}  // namespace codegen_detail

inline constexpr model_spec codegen = [](model_spec spec) {
    spec.model_type = "codegen";
    spec.class_prefix = "CodeGen";
    spec.parse_config = codegen_detail::parse_config;
    spec.attention = codegen_detail::attention;
    spec.supported_heads = language_heads;
    return spec;
}(gptj);

}  // namespace llmcost::arch
