// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <llmcost/files/check_tensors.hpp>
#include <llmcost/files/stored_tensor.hpp>
#include <llmcost/json.hpp>
#include <llmcost/model/architecture.hpp>
#include <llmcost/report/bytes_as_stored.hpp>
#include <llmcost/report/json_report.hpp>
#include <llmcost/report/unused_keys.hpp>

// What a command line that names a model is understood as; source.hpp reads it.
namespace llmcost {
class described_model;
}

namespace llmcost::cli {

/// A file of weights that a command line names.
struct found_weights {
    std::string name;  ///< printable
    stored_tensors tensors;
    bool is_gguf = false;
};

/// A configuration and where it was found.
struct found_config {
    config_document document;
    model_identity who;       ///< printable
    bool remarkable = false;  ///< found elsewhere than the words of the command line tell
    std::optional<found_weights> weights{};
};

/// Weights that are not all of one element type: those of a file, of a plan that is asked for, or of the configuration's.
struct stored_subject {
    bool applied = false;
    bytes_as_stored bytes{};
    count elements{};  ///< of parameters
    count quantized{};
    std::string words{};                   ///< `weights as x.gguf stores them (99.8 % of them quantised)`
    std::string problem{};                 ///< why they are not applied
    std::string note{};                    ///< that a file is not as the model
    dtype otherwise = dtype::unspecified;  ///< of what is not quantised
    bool in_blocks_of_ggml = false;        ///< in types that llama.cpp alone has kernels for
};

/// A model, and what of its configuration no figure follows.
struct read_subject {
    found_config found;
    std::shared_ptr<const described_model> described{};  ///< what `subject` looks at, where a file describes it
    model subject{};
    stored_subject stored{};
    std::optional<tensor_check> checked{};  ///< a file of weights against the model
    std::vector<unused_key> unused{};
    bool declines_cache = false;  ///< `use_cache` is false
    std::int64_t mtp_layers = 0;  ///< multi-token prediction layers of the checkpoint
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
