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
#include <llmcost/memory/vllm_kernels.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/report/json_report.hpp>
#include <llmcost/report/stored_bytes.hpp>
#include <llmcost/report/unused_keys.hpp>

// The model, the configuration and the weights of a command line; config_lookup.hpp reads them.
namespace llmcost {
class custom_model;
}

namespace llmcost::cli {

/// A weight file of a command line.
struct located_weights {
    std::string name;  ///< printable
    stored_tensors tensors;
    bool is_gguf = false;
};

/// A configuration and its source.
struct located_config {
    config_document document;
    model_name name_of_model;            ///< printable
    bool has_unexpected_source = false;  ///< the source is not obvious from the command line
    std::optional<located_weights> weights{};
};

/// Stored weights of several element types: from a weight file, `--quantization` or `quantization_config`.
struct stored_model_weights {
    bool is_applied = false;
    stored_bytes bytes{};
    count elements{};  ///< number of parameters
    count quantized{};
    std::string label{};                          ///< `weights as stored in x.gguf (99.8 % quantized)`
    std::string rejection_reason{};               ///< reason why they are not applied
    std::string mismatch_warning{};               ///< warning that the file differs from the model
    dtype unquantized_type = dtype::unspecified;  ///< element type of weights that are not quantized
    bool has_ggml_types = false;                  ///< has types for which only llama.cpp has kernels
    expert_weight_format expert_weights = expert_weight_format::unquantized;
};

/// A model that was read, and the unused keys of its configuration.
struct parsed_model {
    located_config found;
    std::shared_ptr<const custom_model> custom{};  ///< owner of the specs of `subject`; null for built-in types
    model subject{};
    stored_model_weights stored{};
    std::optional<tensor_check> checked{};  ///< comparison of a weight file with the model
    std::vector<unused_key> unused{};
    std::string head{};           ///< `separate (two tables in FILE)`, if the type or the file decides; else empty
    bool declines_cache = false;  ///< `use_cache` is false
    std::int64_t mtp_layers = 0;  ///< multi-token prediction layers of the checkpoint
};

/// Receives the models of a command line one by one.
class model_sink {
public:
    /// Adds a model; an exception is reported as the error of its row.
    virtual void add(const parsed_model& read) = 0;
    /// Adds a configuration that failed; `name` is printable.
    virtual void fail(std::string name, std::string problem) = 0;

protected:
    ~model_sink() = default;
};

}  // namespace llmcost::cli
