// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bert.hpp>

// ERNIE. Derived from BERT, with task embeddings.
//
// Source: transformers/models/ernie

namespace llmcost::arch {

namespace ernie_detail {

enum family_config_index : std::uint8_t { uses_tasks, task_types };
inline constexpr family_key family_keys[]{
    {"use_task_id", 0, family_key_type::boolean},
    {"task_type_vocab_size", 3},
};

constexpr tensor sum_embeddings(const layer_context& ctx, trace& t) {
    register_position_buffers(ctx, t);
    const tensor tokens = word_embeddings(ctx, t);
    tensor x = t.add(tokens, segment_embeddings(ctx, t));
    x = t.add(x, position_embeddings(ctx, t));
    if (ctx.config.family[uses_tasks] != 0)
        t.add_(x, embedding_lookup(ctx, t, "task_type_embeddings", ctx.config.family[task_types]));
    return norm_embeddings(ctx, t, x);
}
constexpr tensor embed(const layer_context& ctx, trace& t) { return embed_in_module(ctx, t, sum_embeddings); }

}  // namespace ernie_detail

inline constexpr model_spec ernie = [](model_spec spec) {
    spec.model_type = "ernie";
    spec.class_prefix = "Ernie";
    spec.embed_tokens = ernie_detail::embed;
    spec.family_keys = ernie_detail::family_keys;
    spec.names.base_model = "ernie";
    spec.names.causal_lm_class = "ForCausalLM";
    return spec;
}(bert);

}  // namespace llmcost::arch
