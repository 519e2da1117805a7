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
#include <llmcost/model/model_spec.hpp>
#include <llmcost/report/json_report.hpp>
#include <llmcost/report/stored_bytes.hpp>
#include <llmcost/report/unused_keys.hpp>

// What a command line that names a model is understood as; source.hpp reads it.
namespace llmcost {
class custom_model;
}

namespace llmcost::cli {

/// A file of weights that a command line names.
struct located_weights {
    std::string name;  ///< printable
    stored_tensors tensors;
    bool is_gguf = false;
};

/// A configuration and where it was found.
struct located_config {
    config_document document;
    model_name name_of_model;            ///< printable
    bool has_unexpected_source = false;  ///< found elsewhere than the words of the command line tell
    std::optional<located_weights> weights{};
};

/// Weights that are not all of one element type: those of a file, of a plan that is asked for, or of the
/// configuration's.
struct stored_model_weights {
    bool is_applied = false;
    stored_bytes bytes{};
    count elements{};  ///< of parameters
    count quantized{};
    std::string label{};             ///< `weights as x.gguf stores object_pronoun (99.8 % of object_pronoun quantised)`
    std::string rejection_reason{};  ///< why they are not applied
    std::string mismatch_warning{};  ///< that a file is not as the model
    dtype unquantized_type = dtype::unspecified;  ///< of what is not quantised
    bool has_ggml_types = false;                  ///< in types that llama.cpp alone has kernels for
};

/// A model, and what of its configuration no figure follows.
struct parsed_model {
    located_config found;
    std::shared_ptr<const custom_model> custom{};  ///< what `subject` looks at, where a file describes it
    model subject{};
    stored_model_weights stored{};
    std::optional<tensor_check> checked{};  ///< a file of weights against the model
    std::vector<unused_key> unused{};
    bool declines_cache = false;  ///< `use_cache` is false
    std::int64_t mtp_layers = 0;  ///< multi-token prediction layers of the checkpoint
};

/// Is handed the models of a command line that names several, one by one.
class model_sink {
public:
    /// A model; what this throws is the row's problem.
    virtual void add(const parsed_model& read) = 0;
    /// A configuration that has no answer, by its printable name.
    virtual void fail(std::string name, std::string problem) = 0;

protected:
    ~model_sink() = default;
};

}  // namespace llmcost::cli
