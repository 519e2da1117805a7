// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/analysis/evaluator.hpp>
#include <llmcost/arch/llama4.hpp>
#include <llmcost/arch/mixtral.hpp>
#include <llmcost/llmcost.hpp>
#include <llmcost/presets.hpp>

#include <doctest/doctest.h>

using namespace llmcost;

namespace {

constexpr model llama4(std::int64_t experts, std::int64_t picked) {
    return planned(arch::llama4_text,
                   {.vocab_size = 64,
                    .hidden_size = 16,
                    .intermediate_size = 24,
                    .num_hidden_layers = 3,
                    .num_attention_heads = 2,
                    .num_key_value_heads = 1,
                    .head_dim = 8,
                    .rotary_dim = 8,
                    .max_position_embeddings = 64,
                    .moe = {.num_experts = experts,
                            .num_experts_per_tok = picked,
                            .intermediate_size = 12,
                            .shared_intermediate_size = 12}},
                   [](std::int64_t layer) { return layer_spec{.has_experts = layer != 1}; });
}

}  // namespace

// modeling_llama4.py: a token is multiplied by its score for every expert, and goes through all of them
TEST_CASE("experts that run over all tokens are told from those that a token was sent to") {
    for (const std::int64_t tokens : {1, 5}) {
        const model m = llama4(8, 2);
        const workload load{.batch = 2, .sequence = tokens};
        const count all = count_model(m, load, scope_query{"experts"}).flops();
        const count scaled =
            count(8 * 16 * 2 * static_cast<std::uint64_t>(tokens) * 2);  // experts, width, tokens, layers
        CHECK(count_model(m, load).unrouted_flops == (all + scaled) * count(6) / count(8));
        CHECK(count_model(m, load).active_flops() ==
              count_model(m, load).flops() - (all + scaled) * count(6) / count(8));
        CHECK(cost_evaluator(m)(load).unrouted_flops == count_model(m, load).unrouted_flops);
    }
    CHECK(count_model(llama4(4, 4), {.sequence = 3}).unrouted_flops == count{});
    CHECK(count_model(presets::mixtral_8x7b_v0_1, {.sequence = 3}).unrouted_flops == count{});
}
