// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/graph/parameter_names.hpp>
#include <llmcost/graph/pass_graph.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/trace/listener.hpp>
#include <llmcost/trace/ops.hpp>
#include <llmcost/trace/recorder.hpp>
#include <llmcost/trace/scope.hpp>
#include <llmcost/trace/tensor.hpp>
#include <llmcost/trace/trace_totals.hpp>

namespace llmcost {

namespace detail {

/// Records a graph from a trace.
class graph_listener final : public listener {
public:
    explicit graph_listener(operator_graph& out) : out_(out) {}

    void on_module_enter(const recorder&, const module_info& m) override;
    void on_module_leave(const recorder&, const module_info&) override;
    void on_parameter(const recorder&, literal name, const tensor& v, bool tied) override;
    void on_parameter_reuse(const recorder&, literal name, const tensor& v) override {
        names_.on_reuse(full_name(name), v);
    }
    void on_cache_append(const recorder&, const tensor& v) override {
        if (const std::int32_t t = tensor_of(v); t >= 0) tensor_node(t).is_cached = true;
    }
    void on_parameter_read(const recorder&, const tensor& v) override { pending_parameters_.push_back(input_of(v)); }
    void on_tensor_saved(const recorder&, const tensor& v) override { saved_.push_back(v); }
    void on_backward_read(const recorder&, const tensor& v) override { backward_reads_.push_back(v); }
    void on_bytes_saved(const recorder& r, count bytes) override {
        saved_extra_bytes_ += (bytes * r.multiplier()).to_64();
    }
    void on_integers_saved(const recorder& r, count bytes) override {
        saved_integer_bytes_ += (bytes * r.multiplier()).to_64();
    }
    void on_loop_output(const recorder&, const tensor& v) override;
    void on_slice_written(const recorder&, const tensor& destination, const tensor& part) override;
    void on_autograd_function(const recorder&, const tensor& out, const tensor* const* in, int n) override;
    void on_op(const recorder& r, const operation& o) override;
    void on_storage_renamed(const recorder&, std::int32_t old_storage, std::int32_t new_storage) override;
    /// Ends the recording. Assigns the backward costs reported after the last operation.
    void finish(const recorder& r) { record_backward(r.totals().difference_from(previous_sums_).backward, {}); }
    /// The index of a tensor. A tensor without an index is an input of the model. Returns -1 if nothing is stored.
    [[nodiscard]] std::int32_t tensor_of(const tensor& v);

private:
    static constexpr std::size_t max_modules = 131072;

    struct call_of_module {
        bool first_call;
        std::int32_t first_operation;
    };

    [[nodiscard]] graph_module& module(std::int32_t i) { return out_.modules[static_cast<std::size_t>(i)]; }
    [[nodiscard]] graph_tensor& tensor_node(std::int32_t i) { return out_.tensors[static_cast<std::size_t>(i)]; }
    [[nodiscard]] std::int32_t next_operation() const noexcept {
        return static_cast<std::int32_t>(out_.operations.size());
    }
    [[nodiscard]] std::string full_name(literal name) const;
    static void set(std::vector<std::int32_t>& in, std::size_t index, std::int32_t to);
    [[nodiscard]] static std::vector<std::int64_t> sizes_of(const tensor& v) { return {v.size, v.size + v.rank}; }
    [[nodiscard]] static std::uint64_t bytes_of_elements(count elements, dtype type) {
        return bytes_of(elements, type).to_64();
    }
    std::int32_t add(const tensor& v, tensor_origin source, std::uint64_t elements);
    [[nodiscard]] graph_input input_of(const tensor& v);
    /// The inputs that the backward of an operation or, with -1, of a function reads.
    ///
    /// A saved tensor with an unknown id is a clone of what the operation overwrites.
    [[nodiscard]] std::vector<graph_input> take_saved_inputs(std::int32_t producer);
    /// Adds the integer input of a gather from parameters: token ids, positions.
    void read_ids(graph_operation& n, const tensor& picked);
    [[nodiscard]] static std::uint64_t read_by(const operation& o, count times);
    /// The backward primitives of an operation, without the sums of gradients of shared inputs.
    [[nodiscard]] static primitives<count> compute_op_backward(const operation& o, count times,
                                                               count parameter_elements);
    /// Distributes the backward primitives that the trace reported since the last operation.
    ///
    /// This operation gets those of its own rule. The rest belongs to a fused call, if this is one, or to the last
    /// operation. Returns whether this operation has a backward.
    bool share_backward(const trace_totals& sums, const operation& o, count times, count parameter_elements,
                        primitives<count>& op_backward);
    /// Adds the rest to the last operation. ADDs are omitted: they are sums of gradients.
    void record_backward(const primitives<count>& recorded, const primitives<count>& op_backward);

    operator_graph& out_;
    std::vector<std::int32_t> open_;
    std::vector<call_of_module> calls_;
    std::unordered_map<std::string, std::int32_t> module_indices_;
    std::vector<std::int32_t> tensor_indices_;  ///< tensor index by storage id
    std::vector<std::int32_t> parameters_;      ///< tensor index by parameter number
    parameter_names names_;
    std::vector<graph_input> pending_parameters_;
    std::vector<tensor> saved_, backward_reads_;
    std::uint64_t saved_extra_bytes_ = 0,
                  saved_integer_bytes_ = 0;  ///< saved bytes that are not in a tensor, and bytes of integers
    trace_totals previous_sums_{};
};

}  // namespace detail

/// The graph of a forward pass. For a training step, saved tensors are marked.
///
/// Throws: `overflow_error` if there are too many modules.
[[nodiscard]] operator_graph graph_of(const model& m, workload load);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/graph/impl/operator_graph.ipp>  // IWYU pragma: export
#endif
