// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/memory/adapter.hpp>
#include <llmcost/memory/adapter_parts.hpp>
#include <llmcost/model/model_spec.hpp>

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
    adapter_policy(adapter adapter_config, const model& m, bool leaf_embeddings = false)
        : adapter_config_(std::move(adapter_config)),
          layers_(m.config.num_hidden_layers),
          cached_(m.config.num_key_value_heads * m.config.head_dim),
          vocabulary_(m.config.vocab_size),
          rows_of_device_(m.config.vocab_size),
          encodes_(m.config.encoder.num_hidden_layers > 0),
          leaf_embeddings_(leaf_embeddings) {}

    /// Switches to inference: no backward, nothing is frozen, and the vocabulary is split among `devices`.
    void set_tensor_parallel_size(std::int64_t devices) noexcept {
        serves_ = true;
        rows_of_device_ = (vocabulary_ + devices - 1) / devices;
    }
    [[nodiscard]] const adapter& adapter_config() const noexcept { return adapter_config_; }
    /// Paths of the adapted modules of the last trace, in order.
    [[nodiscard]] const std::vector<std::string>& adapted_modules() const noexcept { return adapted_; }
    /// The reason why a targeted module cannot have the adapter; the first one found.
    [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

    void on_trace_begin() override {
        path_.clear();
        open_.clear();
        adapted_.clear();
        problem_.clear();
        rows_ = prefix_ = {};
        encoders_ = 0;
    }
    [[nodiscard]] workload adapt_workload(const workload& load) override {
        workload adapted_workload = load;
        begins_ = load.past == 0;
        if (adapter_config_.kind == adapter_kind::prefix) adapted_workload.past += adapter_config_.tokens;
        if (!adapter_config_.is_prompt()) return adapted_workload;
        if (encodes_)
            adapted_workload.encoder_sequence =
                (load.encoder_sequence > 0 ? load.encoder_sequence : load.sequence) + adapter_config_.tokens;
        else
            (load.past > 0 ? adapted_workload.past : adapted_workload.sequence) += adapter_config_.tokens;
        return adapted_workload;
    }
    void enter(const module_info& m) override {
        const bool copied = !open_.empty() && open_.back().copied;
        const bool is_parent_frozen = !open_.empty() && open_.back().frozen;
        open_.push_back({path_.size(), m.class_of_module, m.module_role, copied, false, is_parent_frozen});
        const std::string_view name = m.name;
        if (!name.empty()) path_.append(path_.empty() ? "" : ".").append(name);
        if (m.index >= 0) path_.append(path_.empty() ? "" : ".").append(std::to_string(m.index));
        encoders_ += m.module_role == role::encoder ? 1 : 0;
        if (!is_parent_frozen && std::ranges::any_of(adapter_config_.frozen, [&](const std::string& name) {
                return std::string_view(name_of(m.module_role)) == name || module_names::is_end(path_, name);
            })) {
            open_.back().frozen = true;
            found_module();
        }
        if (copied) return;
        const auto saves = [&](const std::string& end) { return std::string_view(path_).ends_with(end); };
        open_.back().copied = std::ranges::any_of(adapter_config_.saved, saves) ||
                              (adapter_config_.kind == adapter_kind::norms && adapter_config_.targets_module(path_));
        if (open_.back().copied) found_module();
    }
    void leave(const module_info& m) override {
        const open_module top = open_.back();
        if (!top.is_adapted && !top.copied && !adapter_config_.all_linear && has_adapter_product() &&
            adapter_config_.targets_module(path_))
            refuse("is a " + std::string(top.type.prefix) + std::string(top.type.suffix) +
                   ", for which PEFT has no such adapter");
        encoders_ -= m.module_role == role::encoder ? 1 : 0;
        path_.resize(top.parent_path_length);
        open_.pop_back();
    }
    [[nodiscard]] bool is_trainable(literal name) const override {
        if (serves_) return true;
        const std::string_view text = name;
        if (adapter_config_.kind == adapter_kind::frozen) return open_.empty() || !open_.back().frozen;
        if (adapter_config_.kind == adapter_kind::bitfit)
            return text == "bias" || text == "b" || text.ends_with("_bias");
        if (adapter_config_.bias == adapter_bias::all) return text == "bias";
        return adapter_config_.bias == adapter_bias::lora_only && text == "bias" && adapter_config_.names_linear(path_);
    }
    [[nodiscard]] bool trains_copy() const override { return !open_.empty() && open_.back().copied; }
    [[nodiscard]] tensor transform_parameter(trace& t, literal name, const tensor& parameter, bool tied) override {
        if (trains_copy()) return parameter;
        if (adapter_config_.kind == adapter_kind::frozen && parameter.rank == 2 && is_vocabulary(parameter.dim(0))) {
            if (!tied) is_token_embedding_trainable_ = parameter.requires_grad;
            if (tied && parameter.requires_grad != is_token_embedding_trainable_)
                refuse("shares its tensor with the token embeddings: freeze both or neither");
        }
        const recorder::policy_guard none{t, nullptr};
        if (std::string_view(name) == "weight" && !adapter_config_.rows.empty()) return with_rows(t, parameter, tied);
        const std::string path = path_ + '.' + std::string(name);
        const auto named = [&](const std::string& end) { return module_names::is_end(path, end); };
        if (!std::ranges::any_of(adapter_config_.parameters, named)) return parameter;
        adapted_.push_back(path);
        return adapter_parts::added_to(t, name, parameter, adapter_config_.rank_at(path), !adapter_config_.unit_scale);
    }
    [[nodiscard]] tensor transform_linear_input(trace& t, const tensor& x) override {
        if (adapter_config_.kind != adapter_kind::ia3 || !adapts_linear() || !adapter_config_.feedforward.names(path_))
            return x;
        found_module();
        return adapter_parts::factors(t, {1, x.dim(-1)}, x, t.to(x, dtype::float32));
    }
    [[nodiscard]] tensor transform_linear_output(trace& t, const tensor& x, const tensor& weight, bool is_transposed,
                                                 const tensor* bias, const tensor& y) override {
        // PEFT does not adapt the language model head (`get_output_embeddings`)
        if (!adapts_linear() || (adapter_config_.all_linear && is_head() && is_vocabulary(y.dim(-1)))) return y;
        const recorder::policy_guard none{t, nullptr};
        if (adapter_config_.kind == adapter_kind::ia3) {
            if (adapter_config_.feedforward.names(path_)) return y;
            found_module();
            return adapter_parts::factors(t, {y.dim(-1), 1}, y, y);
        }
        if (!adapter_config_.is_low_rank()) return y;
        const std::int64_t rank = rank_between(x.dim(-1), y.dim(-1));
        if (adapter_config_.kind == adapter_kind::dora && adapter_config_.drops &&
            t.applies_dropout(dropout_position::unconditional))
            throw_description_error("DoRA with dropout is not supported");
        if (adapter_config_.kind == adapter_kind::dora)
            return adapter_parts::decomposed(t, x, weight, is_transposed, bias, y, rank);
        return adapter_parts::low_rank(t, adapter_config_, x, y, rank);
    }
    [[nodiscard]] tensor transform_convolution_output(trace& t, const tensor& x, const tensor& weight,
                                                      const convolution_options& options, const tensor& y) override {
        if (!has_adapter_product() || !adapter_config_.targets_module(path_)) return y;
        const recorder::policy_guard none{t, nullptr};
        const std::int64_t rank = rank_between(x.dim(1), weight.dim(0));
        bool dilated = false;
        for (int i = 2; i < weight.rank; ++i) dilated = dilated || options.dilation.at_or_uniform(i - 2) != 1;
        if (adapter_config_.kind == adapter_kind::lora && rank % options.groups == 0 && !dilated)
            return adapter_parts::low_rank(t, adapter_config_, x, weight, options, y, rank);
        refuse(adapter_config_.kind != adapter_kind::lora ? "is a convolution, for which only LoRA is supported"
               : dilated                                  ? "is a dilated convolution, for which LoRA is not supported"
                                                          : "has a number of groups that does not divide the rank");
        return y;
    }
    [[nodiscard]] bool provide_past_key_values(trace& t, const shape& sizes, tensor& past) override {
        if (adapter_config_.kind != adapter_kind::prefix || prefix_.numel == 0) return false;
        if (t.load().implementation == attention_implementation::sdpa)
            throw_description_error(
                "prefix tuning is not supported with scaled_dot_product_attention; expected eager attention");
        found_module();
        if (sizes.size[1] * sizes.size[3] != prefix_.dim(3) || sizes.size[2] != adapter_config_.tokens) {
            refuse("caches keys and values of other sizes than the prefix");
            return false;
        }
        past = adapter_parts::of_layer(t, prefix_, sizes);
        return true;
    }
    [[nodiscard]] shape transform_embedding_ids(std::int64_t rows, const shape& ids) override {
        shape read = ids;
        if (prompts(rows) && has_virtual_tokens() && read.rank == 3) read.size[1] -= adapter_config_.tokens;
        return read;
    }
    [[nodiscard]] tensor transform_embedding_output(trace& t, const tensor& table, bool scaled,
                                                    const tensor& found) override {
        const recorder::policy_guard none{t, nullptr};
        tensor x = found;
        if (is_vocabulary(table.dim(0)) && leaf_embeddings_) t.require_grad(x);
        if (adapter_config_.is_low_rank() && !trains_copy() && adapter_config_.targets_module(path_)) {
            const std::int64_t rank = rank_between(table.dim(0), table.dim(1));
            x = adapter_config_.kind == adapter_kind::lora ? adapter_parts::rows_of_low_rank(t, table, scaled, x, rank)
                                                           : adapter_parts::decomposed_rows(t, table, scaled, x, rank);
        }
        if (adapter_config_.kind == adapter_kind::prefix && is_vocabulary(table.dim(0)) && begins_ &&
            prefix_.numel == 0)
            prefix_ = adapter_parts::prefix(t, adapter_config_, x, layers_, cached_);
        if (prompts(table.dim(0)) && x.rank == 3) {
            found_module();
            const recorder::not_executed_guard not_executed{t, !has_virtual_tokens()};
            const tensor prompt = adapter_parts::prompt(t, adapter_config_, x, encodes_ && !adapter_config_.one_side);
            if (has_virtual_tokens()) x = t.cat({prompt, x}, 1);
        }
        return x;
    }

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
        return rows == vocabulary_ || rows == rows_of_device_;
    }
    [[nodiscard]] bool is_head() const noexcept { return open_.back().module_role == role::head; }
    [[nodiscard]] bool prompts(std::int64_t rows) const noexcept {
        return adapter_config_.is_prompt() && is_vocabulary(rows) && encodes_ == (encoders_ > 0);
    }
    /// Whether virtual tokens are part of the input and not of the cache. An encoder reads its complete input at once.
    ///
    /// Source: peft_model.py, `requires_prompt_injection`.
    [[nodiscard]] bool has_virtual_tokens() const noexcept { return begins_ || encodes_; }
    /// Whether the current module is a linear layer with an adapter.
    [[nodiscard]] bool adapts_linear() const {
        return has_adapter_product() && !trains_copy() && std::string_view(open_.back().type.suffix) != "QuantLinear" &&
               adapter_config_.names_linear(path_);
    }
    void found_module() {
        if (open_.back().is_adapted) return;
        open_.back().is_adapted = true;
        adapted_.push_back(path_);
    }
    void refuse(const std::string& reason) {
        if (problem_.empty()) problem_ = path_ + ' ' + reason;
        open_.back().is_adapted = true;
    }
    [[nodiscard]] std::int64_t rank_between(std::int64_t in, std::int64_t out) {
        found_module();
        const std::int64_t rank = adapter_config_.rank_at(path_);
        if (rank > std::max(in, out))
            refuse("has " + std::to_string(in) + " inputs and " + std::to_string(out) + " outputs, too few for rank " +
                   std::to_string(rank));
        return std::min(rank, std::max(in, out));
    }
    /// Returns the table with its trained rows replaced.
    [[nodiscard]] tensor with_rows(trace& t, const tensor& parameter, bool tied) {
        if (tied && rows_.numel > 0) return adapter_parts::with_rows(t, parameter, rows_);
        for (const trained_tokens& rows : adapter_config_.rows) {
            const bool named = rows.table.empty()
                                   ? is_vocabulary(parameter.dim(0)) && !tied && !is_head() && rows_.numel == 0
                                   : std::string_view(path_).ends_with(rows.table);
            if (!named || parameter.rank != 2) continue;
            found_module();
            rows_ = adapter_parts::trained_rows(t, rows.tokens, parameter);
            return adapter_parts::with_rows(t, parameter, rows_);
        }
        return parameter;
    }

    adapter adapter_config_;
    std::int64_t layers_;
    std::int64_t cached_;  ///< width of keys, and of values
    std::int64_t vocabulary_;
    std::int64_t rows_of_device_;
    bool encodes_;
    bool leaf_embeddings_;
    bool serves_ = false;
    bool is_token_embedding_trainable_ = true;
    std::string path_;
    std::vector<open_module> open_;
    int encoders_ = 0;    ///< number of enclosing encoders
    bool begins_ = true;  ///< the workload has no past
    tensor prefix_{};
    tensor rows_{};  ///< trained rows of a table that others may be tied to
    std::vector<std::string> adapted_;
    std::string problem_;
};

}  // namespace llmcost
