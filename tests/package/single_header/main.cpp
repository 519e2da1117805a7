// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// The release file llmcost_core.hpp, in a program of two sources that both include it.
#include "llmcost_core.hpp"

#include <cstdio>
#include <cstring>

const char* params_in_other_source();

int main() {
    const llmcost::model_metrics all =
        llmcost::count_model(llmcost::presets::llama_3_2_1b, {.batch = 16, .sequence = 200});
    const llmcost::count_text params{all.params}, mult{all.mult};
    std::printf("%.*s %.*s\n", static_cast<int>(params.view().size()), params.view().data(),
                static_cast<int>(mult.view().size()), mult.view().data());
    return std::strcmp(params_in_other_source(), "1235814400") == 0 && params.view() == "1235814400" &&
                   mult.view() == "3998410374400"
               ? 0
               : 1;
}
