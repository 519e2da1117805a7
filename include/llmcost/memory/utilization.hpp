// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <llmcost/base/count.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/memory/step_formulas.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/model/model_spec.hpp>

// FLOPs of a training step by the conventions of papers, the numerators of MFU and HFU.
namespace llmcost {

/// A convention for counting the FLOPs of a training step.
enum class flops_convention : std::uint8_t {
    exact,    ///< FLOPs of FlopCounterMode in forward and backward
    palm,     ///< 6 N + 12 L H Q T per token, N all parameters (arXiv 2204.02311, appendix B)
    nanogpt,  ///< as `palm`, N without position embeddings (nanoGPT's model.py, `estimate_mfu`)
    /// 72 B s l h² (1 + s / 6h + V / 12 l h), with recomputed layers 96 (…V / 16…) (arXiv 2205.05198, 2104.04473)
    megatron
};
inline constexpr std::size_t flops_conventions = 4;
inline constexpr std::string_view flops_convention_names[flops_conventions]{"exact", "palm", "nanogpt", "megatron"};

/// Model FLOPs of a step, and hardware FLOPs, which include recomputation.
struct step_flops {
    std::string_view undefined{};  ///< reason why the convention does not apply; empty: it applies
    count model{};
    count hardware{};
    bool has_hardware_flops = true;  ///< false: the convention has no rule for recomputed layers

    [[nodiscard]] constexpr bool defined() const noexcept { return undefined.empty(); }
};

/// FLOPs of a training step by each convention, over all its passes, on one device.
[[nodiscard]] std::array<step_flops, flops_conventions> step_flops_of(const model& m, const workload& load,
                                                                      const training_plan& plan,
                                                                      const training_run& run);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/memory/impl/utilization.ipp>  // IWYU pragma: export
#endif
