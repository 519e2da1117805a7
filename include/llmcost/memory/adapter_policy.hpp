// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/memory/adapter.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/trace/leaf_module_policy.hpp>
#include <llmcost/trace/scope.hpp>
#include <llmcost/trace/tensor.hpp>
#include <llmcost/trace/trace.hpp>

namespace llmcost {

/// Applies an adapter to the leaf modules of a trace, as PEFT does.
///
/// Source: peft/tuners/lora/{layer,dora,variants}.py, ia3/layer.py, ln_tuning/layer.py, trainable_tokens/layer.py,
/// utils/other.py (`ModulesToSaveWrapper`), peft_model.py.
class adapter_policy final : public leaf_module_policy {
public:
    /// `leaf_embeddings`: the token embeddings require gradients, as activation checkpointing needs them.
    ///
    /// Source: peft, `enable_input_require_grads`.
    adapter_policy(adapter adapter_config, const model& m, bool leaf_embeddings = false);

    /// Switches to inference: no backward, nothing is frozen, and the vocabulary is split among `devices`.
    void set_tensor_parallel_size(std::int64_t devices) noexcept;
    [[nodiscard]] const adapter& adapter_config() const noexcept { return adapter_config_; }
    /// Paths of the adapted modules of the last trace, in order.
    [[nodiscard]] const std::vector<std::string>& adapted_modules() const noexcept { return adapted_; }
    /// The reason why a targeted module cannot have the adapter; the first one found.
    [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

    void on_trace_begin() override;
    [[nodiscard]] workload adapt_workload(const workload& load) override;
    void enter(const module_info& m) override;
    void leave(const module_info& m) override;
    [[nodiscard]] bool is_trainable(literal name) const override;
    [[nodiscard]] bool trains_copy() const override { return !open_.empty() && open_.back().copied; }
    [[nodiscard]] tensor transform_parameter(trace& t, literal name, const tensor& parameter, bool tied) override;
    [[nodiscard]] tensor transform_linear_input(trace& t, const tensor& x) override;
    [[nodiscard]] tensor transform_linear_output(trace& t, const tensor& x, const tensor& weight, bool is_transposed,
                                                 const tensor* bias, const tensor& y) override;
    [[nodiscard]] tensor transform_convolution_output(trace& t, const tensor& x, const tensor& weight,
                                                      const convolution_options& options, const tensor& y) override;
    [[nodiscard]] bool provide_past_key_values(trace& t, const shape& sizes, tensor& past) override;
    [[nodiscard]] shape transform_embedding_ids(std::int64_t rows, const shape& ids) override;
    [[nodiscard]] tensor transform_embedding_output(trace& t, const tensor& table, bool scaled,
                                                    const tensor& found) override;

private:
    struct open_module {
        std::size_t parent_path_length;  ///< length of the parent's path
        class_name type;
        role module_role;
        bool copied;
        bool is_adapted;  ///< the module has an adapter
        bool frozen;
    };

    [[nodiscard]] bool has_adapter_product() const noexcept {
        return adapter_config_.is_low_rank() || adapter_config_.kind == adapter_kind::ia3;
    }
    [[nodiscard]] bool is_vocabulary(std::int64_t rows) const noexcept {
        return rows == vocabulary_ || rows == device_rows_;
    }
    /// Whether an open module is a head, which may contain the layer that computes the logits.
    [[nodiscard]] bool is_head() const noexcept {
        for (const open_module& m : open_)
            if (m.module_role == role::head) return true;
        return false;
    }
    [[nodiscard]] bool prompts(std::int64_t rows) const noexcept {
        return adapter_config_.is_prompt() && is_vocabulary(rows) && is_encoder_ == (encoders_ > 0);
    }
    /// Whether virtual tokens are part of the input and not of the cache. An encoder reads its complete input at once.
    ///
    /// Source: peft_model.py, `requires_prompt_injection`.
    [[nodiscard]] bool has_virtual_tokens() const noexcept { return is_first_call_ || is_encoder_; }
    /// Whether the current module is a linear layer with an adapter.
    [[nodiscard]] bool adapts_linear() const;
    /// Whether a pattern names a parameter of the current module.
    [[nodiscard]] bool names_frozen_parameter(std::string_view name) const;
    void found_module();
    void refuse(const std::string& reason);
    [[nodiscard]] std::int64_t rank_between(std::int64_t in, std::int64_t out);
    /// Returns the table with its trained rows replaced.
    [[nodiscard]] tensor with_rows(trace& t, const tensor& parameter, bool tied);

    adapter adapter_config_;
    std::int64_t layers_;
    std::int64_t num_cached_tokens_;  ///< width of keys, and of values
    std::int64_t vocabulary_;
    std::int64_t device_rows_;
    bool is_encoder_;
    bool leaf_embeddings_;
    bool is_serving_ = false;
    bool is_token_embedding_trainable_ = true;
    std::string path_;
    std::vector<open_module> open_;
    int encoders_ = 0;           ///< number of enclosing encoders
    bool is_first_call_ = true;  ///< the workload has no past
    tensor prefix_{};
    tensor rows_{};  ///< trained rows of a table that others may be tied to
    std::vector<std::string> adapted_;
    std::string problem_;
};

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/memory/impl/adapter_policy.ipp>  // IWYU pragma: export
#endif
