// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/bundled/all.hpp>
#include <llmcost/config/published_head.hpp>
#include <llmcost/json.hpp>
#include <llmcost/llmcost.hpp>

#include <doctest/doctest.h>

#include <exception>
#include <string>

#include "registry.hpp"

using llmcost::bundled_config;
using llmcost::bundled_configs;
using llmcost::count;

namespace {

llmcost::model read_bundled(const bundled_config& config) {
    return llmcost::parse_config(config.json, std::string(config.name)).read_with([](llmcost::config_view root) {
        const llmcost::model built = parts::registry.read(root);
        return llmcost::is_empty(llmcost::separate_head_reason(built, root)) ? built
                                                                             : llmcost::with_separate_head(built);
    });
}

/// How many parameters the model of a bundled configuration has; fails the test where no model can be built.
count parameters_of(const bundled_config& config) {
    llmcost::workload load{.sequence = 1};
    try {
        const llmcost::model m = read_bundled(config);
        try {
            return llmcost::count_model(m, load).params;
        } catch (const llmcost::description_error&) {  // what reads sound alone
            load.audio_milliseconds = 10'000;
            return llmcost::count_model(m, load).params;
        }
    } catch (const std::exception& problem) {
        FAIL_CHECK(problem.what());
        return {};
    }
}

}  // namespace

TEST_CASE("every bundled configuration is read and has the parameters of its checkpoint") {
    for (const bundled_config& config : bundled_configs) {
        if (!config.variant.empty()) continue;  // the test of goldens holds what is described
        CAPTURE(config.name);
        CHECK(llmcost::count_text{parameters_of(config)}.view() == std::to_string(config.parameters));
    }
}
