// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <llmcost/json.hpp>
#include <llmcost/model/architecture.hpp>
#include <llmcost/report/json_report.hpp>
#include <llmcost/report/unused_keys.hpp>

// What a command line that names a model is understood as; source.hpp reads it.
namespace llmcost::cli {

/// A configuration and where it was found.
struct found_config {
    config_document document;
    model_identity who;       ///< printable
    bool remarkable = false;  ///< found elsewhere than the words of the command line tell
};

/// A model, and what of its configuration no figure follows.
struct read_subject {
    found_config found;
    model subject{};
    std::vector<unused_key> unused{};
    bool declines_cache = false;  ///< `use_cache` is false
    std::int64_t mtp_layers = 0;  ///< multi-token prediction layers of the checkpoint, which no figure has
};

/// Is handed the models of a command line that names several, one by one.
class subject_sink {
public:
    /// A model; what this throws is the row's problem.
    virtual void put(const read_subject& read) = 0;
    /// A configuration that has no answer, by its printable name.
    virtual void fail(std::string name, std::string problem) = 0;

protected:
    ~subject_sink() = default;
};

}  // namespace llmcost::cli
