// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include <llmcost/analysis/counts.hpp>

namespace llmcost {

/// A metric with the name of options and outputs.
struct metric {
    std::string_view name;
    std::string_view meaning;
    count (*value_of)(const model_metrics&);
};

// clang-format off
inline constexpr std::array<metric, 26> metrics{{
    {"add",          "additions and subtractions",                          [](const model_metrics& f) { return f.add; }},
    {"mult",         "multiplications",                                     [](const model_metrics& f) { return f.mult; }},
    {"div",          "divisions and reciprocals",                           [](const model_metrics& f) { return f.div; }},
    {"sqrt",         "square roots",                                        [](const model_metrics& f) { return f.sqrt; }},
    {"exp",          "exponentials",                                        [](const model_metrics& f) { return f.exp; }},
    {"log",          "logarithms",                                          [](const model_metrics& f) { return f.log; }},
    {"tanh",         "hyperbolic tangents",                                 [](const model_metrics& f) { return f.tanh; }},
    {"erf",          "error functions",                                     [](const model_metrics& f) { return f.erf; }},
    {"trig",         "sines and cosines",                                   [](const model_metrics& f) { return f.trig; }},
    {"pow",          "powers with a general exponent",                         [](const model_metrics& f) { return f.pow; }},
    {"neg",          "negations",                                           [](const model_metrics& f) { return f.neg; }},
    {"cmp",          "comparisons: maximum, clamp, absolute value",         [](const model_metrics& f) { return f.cmp; }},
    {"flops",        "ADD + MULT",                                          [](const model_metrics& f) { return f.flops(); }},
    {"active_flops", "flops without experts for tokens not routed to them", [](const model_metrics& f) { return f.active_flops(); }},
    {"torch_flops",  "count of torch's FlopCounterMode",                   [](const model_metrics& f) { return f.torch_flops; }},
    {"macs",         "multiply-accumulates: torch_flops / 2",               [](const model_metrics& f) { return f.macs(); }},
    {"params",       "elements of parameters, a tied tensor once",          [](const model_metrics& f) { return f.params; }},
    {"active",       "parameters that one token activates",                     [](const model_metrics& f) { return f.active_params; }},
    {"cache",        "elements of the KV cache after the run",         [](const model_metrics& f) { return f.cache_elements; }},
    {"act",          "elements of the outputs of leaf modules",       [](const model_metrics& f) { return f.module_output_elements; }},
    {"out",          "alias of act",                                     [](const model_metrics& f) { return f.module_output_elements; }},
    {"written",      "elements that operations write to new storage",       [](const model_metrics& f) { return f.written_elements; }},
    {"weight_bytes", "bytes of the parameters",                             [](const model_metrics& f) { return f.weight_bytes; }},
    {"cache_bytes",  "bytes of the KV cache",                                  [](const model_metrics& f) { return f.cache_bytes; }},
    {"encoder_cache_bytes", "bytes of encoder outputs for images, videos, audio", [](const model_metrics& f) { return f.encoder_cache_bytes; }},
    {"saved_bytes",  "bytes that autograd saves for backward",            [](const model_metrics& f) { return f.saved_bytes; }},
}};
// clang-format on

}  // namespace llmcost
