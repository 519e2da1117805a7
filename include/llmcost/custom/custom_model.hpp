// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/config_view.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/config/model_registry.hpp>
#include <llmcost/custom/program.hpp>
#include <llmcost/custom/program_executor.hpp>
#include <llmcost/custom/read_program.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/trace/tensor.hpp>

namespace llmcost {

namespace custom {

/// A model spec whose forward pass is a program.
struct custom_model_spec : model_spec {
    program definition;
    mutable name_storage made_names;  ///< module names created by traces, for listeners that read them later
};

/// Parses a description of a custom model.
class custom_model_parser {
public:
    custom_model_parser(custom_model_spec& spec, const model_registry* known)
        : program_(spec.definition), registry_(known) {}

    void read(config_view root);
    [[nodiscard]] const global_names& names() const noexcept { return names_; }

private:
    void read_sizes(config_view root);
    /// Checks the variants: alternative values of sizes. The sizes already have the values of the selected variant.
    void check_variants(config_view root) const;
    static void check_name(config_view node, std::string_view name);
    void read_image(config_view root);
    [[nodiscard]] std::int64_t read_side(config_view node);
    /// A number that depends on sizes, but not on the workload.
    [[nodiscard]] std::int64_t read_constant(config_view node);
    void read_block(config_view node);
    void read_root_block(config_view root);

    program& program_;
    const model_registry* registry_;
    global_names names_{};
};

}  // namespace custom

/// A custom model that a file describes: layers and their connections. It owns everything that its `model` refers to.
class custom_model {
public:
    /// Parses a description.
    ///
    /// `known`: models whose modules it can use (`all_models` of registry.hpp); null: layers of PyTorch only.
    /// Throws: `config_error` if the description is invalid, `error` if tensor shapes do not match.
    explicit custom_model(config_view root, std::string file = {}, const model_registry* known = nullptr);

    /// The model. It refers to this object.
    [[nodiscard]] const model& as_model() const noexcept { return model_; }
    /// Names and shapes of the inputs for a workload, in the order of the file.
    ///
    /// Throws: `error` if a size is invalid.
    [[nodiscard]] std::vector<std::pair<std::string_view, shape>> inputs(const workload& load) const;
    /// True if a configuration is a description of a custom model: it has layers and inputs.
    [[nodiscard]] static bool is_custom_model(config_view root);

private:
    /// A configuration with the sizes that have standard names.
    static model_config make_model_config(const custom::global_names& names);

    std::shared_ptr<custom::custom_model_spec> spec_;
    model model_{};
};

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/custom/impl/custom_model.ipp>  // IWYU pragma: export
#endif
