// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/args/find_metric.hpp>

#include <algorithm>
#include <string>
#include <string_view>

#include <llmcost/base/inline.hpp>
#include <llmcost/report/metrics.hpp>
#include <llmcost/text/nearest_name.hpp>

namespace llmcost::cli {

/// Other names of a metric.
struct metric_alias {
    std::string_view alias;
    std::string_view name;
};

// clang-format off
inline constexpr metric_alias metric_aliases[]{
    {"activations",       "act"},          {"activation",     "act"},
    {"parameters",        "params"},       {"num_parameters", "params"},       {"num_params",    "params"},
    {"active_parameters", "active"},       {"active_params",  "active"},
    {"kv",                "cache"},        {"kv_cache",       "cache"},        {"kvcache",       "cache"},
    {"kv_bytes",          "cache_bytes"},  {"kv_cache_bytes", "cache_bytes"},
    {"weights",           "weight_bytes"}, {"mac",            "macs"},         {"flop",          "flops"},
};
// clang-format on

LLMCOST_INLINE const metric* find_metric(std::string_view name) {
    std::string word = lower(name);
    std::replace(word.begin(), word.end(), '-', '_');
    std::string_view known = word;
    for (const metric_alias& a : metric_aliases)
        if (a.alias == word) known = a.name;
    for (const metric& m : metrics)
        if (m.name == known) return &m;
    return nullptr;
}

}  // namespace llmcost::cli
