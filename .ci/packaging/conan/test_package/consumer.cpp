// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/llmcost.hpp>
#include <llmcost/presets.hpp>

int main() { return llmcost::count_model(llmcost::presets::llama_3_2_1b, {}).params == 1'235'814'400 ? 0 : 1; }
