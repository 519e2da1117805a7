// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// The compiled library: headers that only declare, all model types, and the bundled configuration of Llama-3.2-1B.
#include <llmcost/compiled_registry.hpp>
#include <llmcost/json.hpp>
#include <llmcost/llmcost.hpp>

#include <iostream>
#include <string>

#ifndef LLMCOST_COMPILED
#error "llmcost::compiled defines LLMCOST_COMPILED for the targets that link it"
#endif

int main() {
    for (const llmcost::bundled_config& bundled : llmcost::compiled::configurations) {
        if (bundled.name != "meta-llama/Llama-3.2-1B") continue;
        const auto document = llmcost::parse_config(bundled.json, std::string(bundled.name));
        const llmcost::model llama =
            document.read_with([](llmcost::config_view root) { return llmcost::compiled::registry.read(root); });
        const llmcost::count parameters = llmcost::count_model(llama, {}).params;
        std::cout << parameters.to_64() << '\n';
        return parameters == llmcost::count(1'235'814'400) ? 0 : 1;
    }
    return 2;
}
