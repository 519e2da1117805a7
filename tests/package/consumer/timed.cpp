// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// A step of a preset, timed.
#include <llmcost/kernels/kernel_library.hpp>
#include <llmcost/presets.hpp>
#include <llmcost/serving/timed_step.hpp>

int main() {
    llmcost::kernel_library kernels("h200", "", "", "none");
    const llmcost::execution execution = llmcost::execution_of({}, kernels.target_device());
    const auto step = llmcost::time_step(llmcost::presets::llama_3_2_1b, {{.batch = 16, .sequence = 1, .past = 1000}},
                                         execution, kernels.target_device(), kernels);
    return step.seconds > 0 ? 0 : 1;
}
