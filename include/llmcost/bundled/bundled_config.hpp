// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace llmcost {

// with its length at hand, a literal is read in half the time that a search for its end takes
using std::string_view_literals::operator""sv;

/// One bundled configuration: the keys of a model's `config.json` that its cost depends on, values unchanged.
struct bundled_config {
    std::string_view name;    ///< repository on the hub, "org/name"
    std::string_view source;  ///< public files that the keys were read from; "its own config.json" is the repository's
    std::string_view json;    ///< one JSON object
    std::int64_t parameters;  ///< what the reference class of `architectures` has, tied tensors once
};

}  // namespace llmcost
