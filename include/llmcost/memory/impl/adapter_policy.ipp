// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/memory/adapter_policy.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <llmcost/base/count.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/memory/adapter.hpp>
#include <llmcost/memory/adapter_parts.hpp>
#include <llmcost/memory/module_names.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/trace/dropout.hpp>
#include <llmcost/trace/leaf_module_policy.hpp>
#include <llmcost/trace/recorder.hpp>
#include <llmcost/trace/scope.hpp>
#include <llmcost/trace/tensor.hpp>
#include <llmcost/trace/trace.hpp>

namespace llmcost {

LLMCOST_INLINE adapter_policy::adapter_policy(adapter adapter_config, const model& m, bool leaf_embeddings)
    : adapter_config_(std::move(adapter_config)),
      layers_(m.config.num_hidden_layers),
      num_cached_tokens_(m.config.num_key_value_heads * m.config.head_dim),
      vocabulary_(m.config.vocab_size),
      device_rows_(m.config.vocab_size),
      is_encoder_(m.config.encoder.num_hidden_layers > 0),
      leaf_embeddings_(leaf_embeddings) {}

LLMCOST_INLINE void adapter_policy::set_tensor_parallel_size(std::int64_t devices) noexcept {
    is_serving_ = true;
    device_rows_ = (vocabulary_ + devices - 1) / devices;
}

LLMCOST_INLINE void adapter_policy::on_trace_begin() {
    path_.clear();
    open_.clear();
    adapted_.clear();
    problem_.clear();
    rows_ = prefix_ = {};
    encoders_ = 0;
}

LLMCOST_INLINE workload adapter_policy::adapt_workload(const workload& load) {
    workload adapted_workload = load;
    is_first_call_ = load.past == 0;
    if (adapter_config_.kind == adapter_kind::prefix) adapted_workload.past += adapter_config_.tokens;
    if (!adapter_config_.is_prompt()) return adapted_workload;
    if (is_encoder_)
        adapted_workload.encoder_sequence =
            (load.encoder_sequence > 0 ? load.encoder_sequence : load.sequence) + adapter_config_.tokens;
    else
        (load.past > 0 ? adapted_workload.past : adapted_workload.sequence) += adapter_config_.tokens;
    return adapted_workload;
}

LLMCOST_INLINE void adapter_policy::enter(const module_info& m) {
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

LLMCOST_INLINE void adapter_policy::leave(const module_info& m) {
    const open_module top = open_.back();
    if (!top.is_adapted && !top.copied && !adapter_config_.all_linear && has_adapter_product() &&
        adapter_config_.targets_module(path_))
        refuse("is a " + std::string(top.type.prefix) + std::string(top.type.suffix) +
               ", for which PEFT has no such adapter");
    encoders_ -= m.module_role == role::encoder ? 1 : 0;
    path_.resize(top.parent_path_length);
    open_.pop_back();
}

LLMCOST_INLINE bool adapter_policy::names_frozen_parameter(std::string_view name) const {
    return std::ranges::any_of(adapter_config_.frozen_parameters, [&](const std::string& pattern) {
        return module_names::matches_wildcards(pattern, path_ + '.' + std::string(name));
    });
}

LLMCOST_INLINE bool adapter_policy::is_trainable(literal name) const {
    if (is_serving_) return true;
    const std::string_view text = name;
    if (adapter_config_.kind == adapter_kind::frozen)
        return (open_.empty() || !open_.back().frozen) && !names_frozen_parameter(text);
    if (adapter_config_.kind == adapter_kind::bitfit) return text == "bias" || text == "b" || text.ends_with("_bias");
    if (adapter_config_.bias == adapter_bias::all) return text == "bias";
    return adapter_config_.bias == adapter_bias::lora_only && text == "bias" && adapter_config_.names_linear(path_);
}

LLMCOST_INLINE tensor adapter_policy::transform_parameter(trace& t, literal name, const tensor& parameter, bool tied) {
    if (trains_copy()) return parameter;
    if (adapter_config_.kind == adapter_kind::frozen && parameter.rank == 2 && is_vocabulary(parameter.dim(0))) {
        if (!tied) is_token_embedding_trainable_ = parameter.requires_grad;
        if (tied && parameter.requires_grad != is_token_embedding_trainable_)
            refuse("shares its tensor with the token embeddings: freeze both or neither");
    }
    if (names_frozen_parameter(name)) adapted_.push_back(path_ + '.' + std::string(name));
    const trace::policy_guard none{t, nullptr};
    if (std::string_view(name) == "weight" && !adapter_config_.rows.empty()) return with_rows(t, parameter, tied);
    const std::string path = path_ + '.' + std::string(name);
    const auto named = [&](const std::string& end) { return module_names::is_end(path, end); };
    if (!std::ranges::any_of(adapter_config_.parameters, named)) return parameter;
    adapted_.push_back(path);
    return adapter_parts::added_to(t, name, parameter, adapter_config_.rank_at(path), !adapter_config_.unit_scale);
}

LLMCOST_INLINE tensor adapter_policy::transform_linear_input(trace& t, const tensor& x) {
    if (adapter_config_.kind != adapter_kind::ia3 || !adapts_linear() || !adapter_config_.feedforward.names(path_))
        return x;
    found_module();
    return adapter_parts::factors(t, {1, x.dim(-1)}, x, t.to(x, dtype::float32));
}

LLMCOST_INLINE tensor adapter_policy::transform_linear_output(trace& t, const tensor& x, const tensor& weight,
                                                              bool is_transposed, const tensor* bias, const tensor& y) {
    // PEFT does not adapt the language model head (`get_output_embeddings`)
    if (!adapts_linear() || (adapter_config_.all_linear && is_head() && is_vocabulary(y.dim(-1)))) return y;
    const trace::policy_guard none{t, nullptr};
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

LLMCOST_INLINE tensor adapter_policy::transform_convolution_output(trace& t, const tensor& x, const tensor& weight,
                                                                   const convolution_options& options,
                                                                   const tensor& y) {
    if (!has_adapter_product() || !adapter_config_.targets_module(path_)) return y;
    const trace::policy_guard none{t, nullptr};
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

LLMCOST_INLINE bool adapter_policy::provide_past_key_values(trace& t, const shape& sizes, tensor& past) {
    if (adapter_config_.kind != adapter_kind::prefix || prefix_.numel == 0) return false;
    if (t.load().implementation == attention_implementation::sdpa)
        throw_description_error(
            "prefix tuning is not supported with scaled_dot_product_attention; expected eager attention");
    found_module();
    if (sizes.size[1] * sizes.size[3] != prefix_.dim(3) || sizes.size[2] != adapter_config_.tokens) {
        refuse("caches keys and values of other sizes than the prefix");
        return false;
    }
    past = adapter_parts::layer_prefix(t, prefix_, sizes);
    return true;
}

LLMCOST_INLINE shape adapter_policy::transform_embedding_ids(std::int64_t rows, const shape& ids) {
    shape read = ids;
    if (prompts(rows) && has_virtual_tokens() && read.rank == 3) read.size[1] -= adapter_config_.tokens;
    return read;
}

LLMCOST_INLINE tensor adapter_policy::transform_embedding_output(trace& t, const tensor& table, bool scaled,
                                                                 const tensor& found) {
    const trace::policy_guard none{t, nullptr};
    tensor x = found;
    if (is_vocabulary(table.dim(0)) && leaf_embeddings_) t.require_grad(x);
    if (adapter_config_.is_low_rank() && !trains_copy() && adapter_config_.targets_module(path_)) {
        const std::int64_t rank = rank_between(table.dim(0), table.dim(1));
        x = adapter_config_.kind == adapter_kind::lora ? adapter_parts::rows_of_low_rank(t, table, scaled, x, rank)
                                                       : adapter_parts::decomposed_rows(t, table, scaled, x, rank);
    }
    if (adapter_config_.kind == adapter_kind::prefix && is_vocabulary(table.dim(0)) && is_first_call_ &&
        prefix_.numel == 0)
        prefix_ = adapter_parts::prefix(t, adapter_config_, x, layers_, num_cached_tokens_);
    if (prompts(table.dim(0)) && x.rank == 3) {
        found_module();
        const trace::not_executed_guard not_executed{t, !has_virtual_tokens()};
        const tensor prompt = adapter_parts::prompt(t, adapter_config_, x, is_encoder_ && !adapter_config_.one_side);
        if (has_virtual_tokens()) x = t.cat({prompt, x}, 1);
    }
    return x;
}

LLMCOST_INLINE bool adapter_policy::adapts_linear() const {
    return has_adapter_product() && !trains_copy() && std::string_view(open_.back().type.suffix) != "QuantLinear" &&
           adapter_config_.names_linear(path_);
}

LLMCOST_INLINE void adapter_policy::found_module() {
    if (open_.back().is_adapted) return;
    open_.back().is_adapted = true;
    adapted_.push_back(path_);
}

LLMCOST_INLINE void adapter_policy::refuse(const std::string& reason) {
    if (problem_.empty()) problem_ = path_ + ' ' + reason;
    open_.back().is_adapted = true;
}

LLMCOST_INLINE std::int64_t adapter_policy::rank_between(std::int64_t in, std::int64_t out) {
    found_module();
    const std::int64_t rank = adapter_config_.rank_at(path_);
    if (rank > std::max(in, out))
        refuse("has " + std::to_string(in) + " inputs and " + std::to_string(out) + " outputs, too few for rank " +
               std::to_string(rank));
    return std::min(rank, std::max(in, out));
}

LLMCOST_INLINE tensor adapter_policy::with_rows(trace& t, const tensor& parameter, bool tied) {
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

}  // namespace llmcost
