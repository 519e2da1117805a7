// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bert.hpp>

namespace llmcost::arch {

namespace ernie_detail {

enum own : std::uint8_t { uses_tasks, task_types };
inline constexpr own_key keys[]{
    {"use_task_id", 0, own_value::boolean},
    {"task_type_vocab_size", 3},
};

constexpr value sum_embeddings(const site& here, trace& t) {
    value x = t.add(word_embeddings(here, t), segment_embeddings(here, t));
    x = t.add(x, position_embeddings(here, t));
    if (here.dims.own[uses_tasks] != 0)
        t.in_place(op::add, x, look_up_tokens(here, t, "task_type_embeddings", here.dims.own[task_types]));
    return norm_embeddings(here, t, x);
}
constexpr value embed(const site& here, trace& t) { return embed_within(here, t, sum_embeddings); }

}  // namespace ernie_detail

// transformers/models/ernie: BERT with embeddings of tasks
inline constexpr architecture ernie = [](architecture a) {
    a.model_type = "ernie", a.prefix = "Ernie", a.embed = ernie_detail::embed, a.own = ernie_detail::keys;
    a.names.base = "ernie", a.names.causal_lm_type = "ForCausalLM";
    return a;
}(bert);

}  // namespace llmcost::arch
