// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <llmcost/arch/bart.hpp>
#include <llmcost/arch/bert.hpp>
#include <llmcost/arch/bloom.hpp>
#include <llmcost/arch/cohere.hpp>
#include <llmcost/arch/deepseek.hpp>
#include <llmcost/arch/falcon.hpp>
#include <llmcost/arch/gemma.hpp>
#include <llmcost/arch/gpt2.hpp>
#include <llmcost/arch/gpt_neox.hpp>
#include <llmcost/arch/gpt_oss.hpp>
#include <llmcost/arch/gptj.hpp>
#include <llmcost/arch/granite.hpp>
#include <llmcost/arch/jamba.hpp>
#include <llmcost/arch/lfm2.hpp>
#include <llmcost/arch/llama.hpp>
#include <llmcost/arch/llama4.hpp>
#include <llmcost/arch/mamba.hpp>
#include <llmcost/arch/mistral.hpp>
#include <llmcost/arch/mixtral.hpp>
#include <llmcost/arch/olmo.hpp>
#include <llmcost/arch/opt.hpp>
#include <llmcost/arch/phi3.hpp>
#include <llmcost/arch/qwen2.hpp>
#include <llmcost/arch/qwen2_moe.hpp>
#include <llmcost/arch/qwen2_vl.hpp>
#include <llmcost/arch/qwen3.hpp>
#include <llmcost/arch/qwen3_5.hpp>
#include <llmcost/arch/qwen3_next.hpp>
#include <llmcost/arch/stablelm.hpp>
#include <llmcost/arch/starcoder2.hpp>
#include <llmcost/arch/t5.hpp>
#include <llmcost/arch/vit.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/reading/known_models.hpp>
#include <llmcost/reading/read_model.hpp>

namespace llmcost {

/// Every row, sorted by `model_type`.
// clang-format off
inline constexpr const architecture* architectures[]{
    &arch::bart, &arch::bert, &arch::bloom, &arch::cohere, &arch::deepseek_v2, &arch::deepseek_v3, &arch::falcon,
    &arch::falcon_mamba, &arch::gemma, &arch::gemma2, &arch::gemma3_text, &arch::gpt_sw3, &arch::gpt2, &arch::gpt_neox,
    &arch::gpt_oss, &arch::gptj, &arch::granite, &arch::jamba, &arch::lfm2, &arch::llama, &arch::llama4_text,
    &arch::mamba, &arch::mamba2, &arch::mistral, &arch::mixtral, &arch::olmo2, &arch::olmoe, &arch::opt, &arch::phi3,
    &arch::qwen2, &arch::qwen2_moe, &arch::qwen2_vl_text, &arch::qwen3, &arch::qwen3_5_moe_text, &arch::qwen3_5_text,
    &arch::qwen3_moe, &arch::qwen3_next, &arch::roberta, &arch::stablelm, &arch::starcoder2, &arch::t5, &arch::vit,
};
// clang-format on
inline constexpr std::size_t architecture_count = sizeof architectures / sizeof *architectures;

namespace detail {
consteval bool architectures_are_sorted() {
    for (std::size_t i = 1; i < architecture_count; ++i)
        if (__builtin_strcmp(architectures[i - 1]->model_type, architectures[i]->model_type) >= 0) return false;  // folded
    return true;
}
static_assert(architectures_are_sorted(), "rows stand in the order of their model_type, each once");
}  // namespace detail

/// All rows, as a value.
inline constexpr known_models every_model{architectures, architecture_count, read_model};

/// The row of a `model_type`, or null.
[[nodiscard]] constexpr const architecture* find_architecture(string_ref model_type) noexcept {
    return every_model.find(model_type);
}

/// Builds the model that a configuration describes; throws `config_error` where no row can.
[[nodiscard]] constexpr model read_model(config_view config) { return read_model(every_model, config); }

}  // namespace llmcost
