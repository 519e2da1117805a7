// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "llmcost_core.hpp"

#include <string>

const char* params_in_other_source() {
    static const std::string text(
        llmcost::count_text{llmcost::count_model(llmcost::presets::llama_3_2_1b, {}).params}.view());
    return text.c_str();
}
