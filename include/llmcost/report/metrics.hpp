// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include <llmcost/analysis/counts.hpp>

namespace llmcost {

/// A figure by the name that people type and scripts read.
struct metric {
    std::string_view name;
    std::string_view meaning;
    count (*of)(const figures&);
};

// clang-format off
inline constexpr std::array<metric, 26> metrics{{
    {"add",          "additions and subtractions",                          [](const figures& f) { return f.add; }},
    {"mult",         "multiplications",                                     [](const figures& f) { return f.mult; }},
    {"div",          "divisions and reciprocals",                           [](const figures& f) { return f.div; }},
    {"sqrt",         "square roots",                                        [](const figures& f) { return f.sqrt; }},
    {"exp",          "exponentials",                                        [](const figures& f) { return f.exp; }},
    {"log",          "logarithms",                                          [](const figures& f) { return f.log; }},
    {"tanh",         "hyperbolic tangents",                                 [](const figures& f) { return f.tanh; }},
    {"erf",          "error functions",                                     [](const figures& f) { return f.erf; }},
    {"trig",         "sines and cosines",                                   [](const figures& f) { return f.trig; }},
    {"pow",          "powers that are no products",                         [](const figures& f) { return f.pow; }},
    {"neg",          "negations",                                           [](const figures& f) { return f.neg; }},
    {"cmp",          "comparisons: maximum, clamp, absolute value",         [](const figures& f) { return f.cmp; }},
    {"flops",        "ADD + MULT",                                          [](const figures& f) { return f.flops(); }},
    {"active_flops", "the same without what experts do for tokens not sent to them", [](const figures& f) { return f.active_flops(); }},
    {"torch_flops",  "what torch's FlopCounterMode says",                   [](const figures& f) { return f.torch_flops; }},
    {"macs",         "multiply-accumulates: torch_flops / 2",               [](const figures& f) { return f.macs(); }},
    {"params",       "elements of parameters, a tied tensor once",          [](const figures& f) { return f.params; }},
    {"active",       "parameters that one token meets",                     [](const figures& f) { return f.active_params; }},
    {"cache",        "elements that the cache holds after the run",         [](const figures& f) { return f.cache; }},
    {"act",          "elements that modules without children return",       [](const figures& f) { return f.out; }},
    {"out",          "the same as act",                                     [](const figures& f) { return f.out; }},
    {"written",      "elements that operations write to new storage",       [](const figures& f) { return f.written; }},
    {"weight_bytes", "bytes of the parameters",                             [](const figures& f) { return f.weight_bytes; }},
    {"cache_bytes",  "bytes of the cache",                                  [](const figures& f) { return f.cache_bytes; }},
    {"encoder_cache_bytes", "bytes that encoders made of images, videos, sound", [](const figures& f) { return f.encoder_cache_bytes; }},
    {"saved_bytes",  "bytes that autograd keeps until backward",            [](const figures& f) { return f.saved_bytes; }},
}};
// clang-format on

}  // namespace llmcost
