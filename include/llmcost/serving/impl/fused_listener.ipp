// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/serving/fused_listener.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/latency/operand_types.hpp>
#include <llmcost/latency/operator_types.hpp>
#include <llmcost/memory/parallel_config.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/serving/module_listener.hpp>
#include <llmcost/trace/listener.hpp>
#include <llmcost/trace/ops.hpp>
#include <llmcost/trace/recorder.hpp>
#include <llmcost/trace/scope.hpp>
#include <llmcost/trace/tensor.hpp>

namespace llmcost::detail {

LLMCOST_INLINE void fused_listener::on_fused_kernel_begin(const recorder& r, const fused_kernel& part) {
    is_in_index_selection_ = part.kind == fused_kernel_kind::index_selection;
    if (is_in_index_selection_ || fused_depth_++ != 0 || part.kind == fused_kernel_kind::cache) return;
    end_fusion_group();
    num_runs_ = as_size(r.multiplier());
    if (part.kind != fused_kernel_kind::experts) is_decoding_ = is_decode(part);
    switch (part.kind) {
        case fused_kernel_kind::attention: attention(part); break;
        case fused_kernel_kind::latent_attention: latent_attention(part); break;
        case fused_kernel_kind::linear_attention: linear_attention(part); break;
        case fused_kernel_kind::experts: experts(part); break;
        case fused_kernel_kind::index_selection:
        case fused_kernel_kind::cache: break;
    }
}

LLMCOST_INLINE void fused_listener::on_storage_renamed(const recorder& r, std::int32_t old_storage,
                                                       std::int32_t new_storage) {
    module_listener::on_storage_renamed(r, old_storage, new_storage);
    const std::ptrdiff_t maker = producer_groups_.get(old_storage);
    producer_groups_.forget_from(new_storage);
    producer_groups_.set(new_storage, maker);
}

LLMCOST_INLINE void fused_listener::on_op(const recorder& r, const operation& o) {
    last_elements_ = static_cast<std::int64_t>(o.output.numel);
    num_runs_ = as_size(r.multiplier());
    read(o);
    if (fused_depth_ == 0 && o.kind != op::constant && o.output.numel > 0) {
        if (const tensor* weight = weight_of(o))
            product(o, *weight);
        else
            append_to_fusion_group(o);
    }
    mark(o, reads_only_parameters(o));
    register_output(o.output, fused_depth_ == 0 && chain_ >= 0 && o.kind != op::constant && weight_of(o) == nullptr
                                  ? chain_
                                  : no_group);
}

LLMCOST_INLINE std::int64_t fused_listener::padded_vocabulary(std::int64_t outputs) const {
    const std::int64_t ranks = execution_.parallel.tensor_parallel_size, multiple = execution_.vocabulary_multiple;
    if (outputs * ranks <= multiple) return outputs;
    return (outputs * ranks + multiple - 1) / multiple * multiple / ranks;
}

LLMCOST_INLINE void fused_listener::product(const operation& o, const tensor& weight) {
    const bool convolves = o.kind == op::convolution || o.kind == op::convolution_bias;
    const auto outputs = static_cast<std::int64_t>(o.output.numel);
    const std::int64_t k = static_cast<std::int64_t>((o.work / count(o.output.numel)).to_64());
    const std::int64_t n = static_cast<std::int64_t>(weight.numel) / k, m = outputs / n;
    const tensor& read = o.inputs[0] == &weight ? *o.inputs[1] : *o.inputs[0];
    if (is_adapter()) {  // in 16 bits, and the adapted product is merged nevertheless (vllm/lora/layers)
        end_fusion_group();
        return emit(path_, "gemm", {m, n, k}, execution_.unquantized_type());
    }
    const std::size_t depth = depth_of_parent();
    const std::int64_t parent = depth == 0 ? 0 : open_[depth - 1].number;
    for (const mergeable& previous : products_) {
        model_kernel& first = out_[previous.kernel];
        if (convolves || previous.parent != parent || previous.storage != read.storage_id ||
            first.shape.sizes[0] != m || first.shape.sizes[2] != k || first.num_runs != num_runs_)
            continue;
        first.shape.sizes[1] += n;
        first.module_path += '+' + path_.substr(path_.rfind('.') + 1);
        return;
    }
    end_fusion_group();  // operations after a merged product follow the kernel into which it was merged
    if (!products_.empty() && products_.back().parent != parent) products_.clear();
    const role module_role = open_.empty() ? role::none : open_.back().info.module_role;
    const bool is_unquantized = module_role == role::head || module_role == role::router;
    products_.push_back({parent, read.storage_id, out_.size()});
    const std::int64_t padded = module_role == role::head ? padded_vocabulary(n) : n;
    emit(path_, "gemm", {m, padded, k},
         convolves        ? execution_.convolution_operands()
         : is_unquantized ? execution_.unquantized_type()
                          : execution_.linear_type);
}

LLMCOST_INLINE void fused_listener::attention(const fused_kernel& p) {
    const bool crosses = std::any_of(open_.begin(), open_.end(),
                                     [](const open_module& m) { return m.info.module_role == role::cross_attn; });
    const bool is_decode_pass = p.num_queries == 1 || execution_.is_decode_step;
    if (!p.is_causal && crosses && is_decode_pass) {  // each new token reads the encoder's keys
        emit(path_, "generation_attention",
             {checked_product(p.batch, p.num_queries), p.past_length + p.num_queries - 1, p.heads, p.kv_heads,
              p.head_dim},
             execution_.decode_attention_type, execution_.kv_cache_type->name);
    } else if (!p.is_causal) {
        const std::int64_t pieces = std::exchange(num_runs_, 1);
        emit(path_, "full_attention",
             {checked_product(p.batch, pieces), p.num_queries, p.heads, p.kv_heads, p.head_dim,
              p.past_length + p.num_queries},
             execution_.decode_attention_type);
    } else if (is_decode(p) &&
               !(execution_.mixed_decode_mode == mixed_decode_kind::as_prefill_tiles && p.window == 0)) {
        emit(path_, "generation_attention",
             {p.batch, p.past_length, p.heads, p.kv_heads, p.head_dim, p.window, p.num_queries - 1},
             execution_.decode_attention_type, execution_.kv_cache_type->name);
    } else {
        emit(path_, "context_attention",
             {p.batch, p.num_queries, p.heads, p.kv_heads, p.head_dim, p.window, p.past_length},
             execution_.prefill_attention_type, execution_.kv_cache_type->name);
    }
}

LLMCOST_INLINE void fused_listener::latent_attention(const fused_kernel& p) {
    const std::string expansion = path_ + '.' + p.expansion_module;
    if (is_decode(p)) {
        const std::int64_t rows = checked_product(p.batch, p.num_queries);
        emit(expansion, "gemm", {rows, p.heads * p.latent_dim, p.head_dim}, execution_.unquantized_type());
        emit(path_, "generation_mla", {p.batch, p.past_length, p.heads, p.num_queries - 1},
             execution_.decode_attention_type, execution_.kv_cache_type->name);
        emit(expansion, "gemm", {rows, p.heads * p.value_dim, p.latent_dim}, execution_.unquantized_type());
    } else {
        const std::int64_t rows = checked_product(p.batch, p.past_length + p.num_queries);
        emit(expansion, "gemm", {rows, p.heads * (p.head_dim + p.value_dim), p.latent_dim}, execution_.linear_type);
        emit(path_, "context_mla", {p.batch, p.num_queries, p.heads, p.past_length}, execution_.decode_attention_type,
             execution_.kv_cache_type->name);
    }
}

LLMCOST_INLINE void fused_listener::linear_attention(const fused_kernel& p) {
    emit(path_, "linear_attention", {p.batch, p.num_queries, p.heads, p.kv_heads, p.head_dim, p.value_dim, p.chunk},
         execution_.unquantized_type(), p.uses_delta_rule ? "delta" : "decay");
}

LLMCOST_INLINE void fused_listener::experts(const fused_kernel& p) {
    const parallel_config& s = execution_.parallel;
    has_experts_ = true;
    expert_hidden_size_ = p.hidden_size;
    num_experts_per_tok_ = p.num_experts_per_tok;
    const std::int64_t tokens = checked_product(p.num_tokens, s.data_parallel_size);
    const std::int64_t slots = s.num_expert_slots(p.num_experts);
    // Two matrices cost as much as three with two thirds of the width, on each device that shares an expert.
    const std::int64_t share = p.intermediate_size / s.expert_tensor_parallel_size;
    const std::int64_t inner = p.is_gated ? p.intermediate_size : (2 * share + 2) / 3 * s.expert_tensor_parallel_size;
    if (execution_.dispatches_tokens()) {
        // An 8-bit type with quantized activations is quantized before the dispatch.
        expert_all_to_all(p.num_tokens, execution_.expert_type->unit == &device::fp8 ? execution_.expert_type
                                                                                     : execution_.unquantized_type());
        const std::int64_t experts = slots / s.expert_parallel_size,
                           top_k = experts < p.num_experts_per_tok ? experts : p.num_experts_per_tok;
        // the rows that arrive, as tokens that select only experts of this device
        const std::int64_t rows = checked_product(tokens, p.num_experts_per_tok),
                           parts = s.expert_parallel_size * top_k;
        return emit(
            path_, "moe",
            {(rows + parts - 1) / parts, p.hidden_size, inner, top_k, experts, s.expert_tensor_parallel_size, 1},
            execution_.expert_type, execution_.routing_distribution);
    }
    if (s.data_parallel_size > 1)
        collective("all_gather", checked_product(tokens, p.hidden_size), s.data_parallel_size, s.tensor_parallel_size);
    emit(path_, "moe",
         {tokens, p.hidden_size, inner, p.num_experts_per_tok, slots, s.expert_tensor_parallel_size,
          s.expert_parallel_size},
         execution_.expert_type, execution_.routing_distribution);
}

LLMCOST_INLINE void fused_listener::append_to_fusion_group(const operation& o) {
    if (chain_ >= 0 && chain_times_ != num_runs_) end_fusion_group();
    if (chain_ < 0) {
        chain_ = chains_++;
        chain_name_ = path_;
        chain_elements_ = {};
        chain_additions_ = 0;
        chain_products_ = 0;
        shared_elements_ = {};
        shared_additions_ = 0;
        shared_products_ = 0;
        chain_times_ = num_runs_;
        chain_reads_.clear();
    }
    for (int i = 0; i < o.input_count && op_cost_of(o.kind).read != read_pattern::none; ++i) {
        const tensor& in = *o.inputs[i];
        if (op_cost_of(o.kind).read == read_pattern::gathered && i == 0) {
            chain_elements_ += count(o.output.numel);
            continue;
        }
        if (in.is_stored() && fusion_group_of(in.storage_id) == chain_) continue;
        if (in.is_stored() && has_read(in.storage_id)) continue;
        chain_elements_ += count(in.unique_numel());
        if (reads_only_parameters(in)) shared_elements_ += count(in.unique_numel());
    }
    const bool multiplies = op_cost_of(o.kind).torch_flops != 0;
    const double work = multiplies ? static_cast<double>(o.work) : additions_of(o);
    (multiplies ? chain_products_ : chain_additions_) += work;
    last_is_shared_ = reads_only_parameters(o);
    if (last_is_shared_) (multiplies ? shared_products_ : shared_additions_) += work;
    chain_last_ = count(o.output.numel);
    chain_width_ = o.output.rank > 0 ? o.output.size[o.output.rank - 1] : 1;
    chain_last_storage_ = o.output.storage_id;
}

LLMCOST_INLINE bool fused_listener::has_read(std::int32_t storage) {
    for (const std::int32_t s : chain_reads_)
        if (s == storage) return true;
    chain_reads_.push_back(storage);
    return false;
}

LLMCOST_INLINE void fused_listener::end_fusion_group() {
    if (chain_ < 0) return;
    const std::int64_t width = chain_width_ > 0 ? chain_width_ : 1, rows = as_size(chain_last_) / width;
    emit(chain_name_, "elementwise",
         {rows, width, as_size(chain_elements_ + chain_last_), as_size(chain_additions_), as_size(chain_products_)},
         execution_.unquantized_type(), "map");
    out_.back().num_runs = chain_times_;
    std::int64_t* const shared = out_.back().parameter_sizes;
    if (last_is_shared_) {
        shared[0] = rows;
        shared_elements_ += chain_last_;
    }
    shared[moved] = as_size(shared_elements_);
    shared[additions] = as_size(shared_additions_);
    shared[products] = as_size(shared_products_);
    group_outputs_.push_back({chain_, chain_last_storage_, out_.size() - 1});
    chain_ = -1;
}

LLMCOST_INLINE void fused_listener::read(const operation& o) {
    for (int i = 0; i < o.input_count; ++i) {
        const std::int32_t s = o.inputs[i]->storage_id;
        if (s < 0) continue;
        const std::ptrdiff_t maker = fusion_group_of(s);
        if (maker < 0 || maker == chain_) continue;
        producer_groups_.set(s, no_group);  // counted once
        const count elements(o.inputs[i]->unique_numel());
        for (const fusion_group_output& w : group_outputs_) {
            if (w.chain != maker || w.last == s) continue;
            model_kernel& k = out_[w.kernel];
            k.shape.sizes[moved] = as_size(count(k.shape.sizes[moved]) + elements);
            if (reads_only_parameters(*o.inputs[i]))
                k.parameter_sizes[moved] = as_size(count(k.parameter_sizes[moved]) + elements);
        }
    }
}

LLMCOST_INLINE void fused_listener::register_output(const tensor& v, std::ptrdiff_t chain) {
    if (!v.is_stored()) return;
    producer_groups_.set(v.storage_id, chain);
    while (group_outputs_.size() > 512) group_outputs_.erase(group_outputs_.begin(), group_outputs_.begin() + 256);
}

}  // namespace llmcost::detail
