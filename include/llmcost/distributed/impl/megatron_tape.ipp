// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/distributed/megatron_tape.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/distributed/sequence_parallel.hpp>
#include <llmcost/memory/tape.hpp>
#include <llmcost/trace/listener.hpp>
#include <llmcost/trace/ops.hpp>
#include <llmcost/trace/tensor.hpp>

namespace llmcost::detail {

LLMCOST_INLINE bool is_product(op kind) { return op_cost_of(kind).torch_flops != 0; }

[[nodiscard]] LLMCOST_INLINE bool is_activation_function(op kind) {
    switch (kind) {
        case op::silu:
        case op::glu:
        case op::gelu:
        case op::gelu_tanh:
        case op::relu:
        case op::sigmoid:
        case op::tanh:
        case op::erf:
        case op::softplus: return true;
        default: return false;
    }
}

/// Operations that Megatron-Core fuses with an activation function.
[[nodiscard]] LLMCOST_INLINE bool is_elementwise(op kind) {
    switch (kind) {
        case op::add:
        case op::sub:
        case op::mul:
        case op::div:
        case op::neg:
        case op::exp:
        case op::integer_power:
        case op::power:
        case op::clamp:
        case op::minimum:
        case op::maximum:
        case op::copy: return true;
        default: return is_activation_function(kind);
    }
}

/// Replaces operations of a pass by the kernels of Megatron-Core.
class megatron_fusion {
public:
    megatron_fusion(const tape& pass, const tape& undivided, const megatron_options& options)
        : pass_(pass), options_(options), num_readers_(pass.tensors.size()), fused_into_(pass.nodes.size(), -1) {
        for (const tape_node& n : pass.nodes)
            for (const tape_edge& e : n.inputs)
                if (e.tensor >= 0 && (e.requires_grad || !tensor_of(e.tensor).requires_grad))
                    ++num_readers_[static_cast<std::size_t>(e.tensor)];
        is_divided_ = options.has_sequence_parallel && options.tensor > 1 ? sequence_divided_tensors(pass, undivided)
                                                                          : std::vector<bool>(pass.tensors.size());
    }

    [[nodiscard]] tape fuse() {
        copy_description();
        find_activation_functions();
        for (std::size_t i = 0; i < pass_.nodes.size(); i = add_kernel(i)) continue;
        set_recomputed_modules();
        set_lifetimes();
        return std::move(out_);
    }

private:
    [[nodiscard]] const tape_tensor& tensor_of(std::int32_t t) const {
        return pass_.tensors[static_cast<std::size_t>(t)];
    }
    [[nodiscard]] bool is_divided(std::int32_t t) const { return t >= 0 && is_divided_[static_cast<std::size_t>(t)]; }
    [[nodiscard]] std::uint64_t divisor(std::int32_t t) const {
        return is_divided(t) ? static_cast<std::uint64_t>(options_.tensor) : 1;
    }
    [[nodiscard]] const fused_kernel* experts_of(const tape_node& n) const {
        if (n.kernel_id < 0) return nullptr;
        const fused_kernel& k = pass_.kernels[static_cast<std::size_t>(n.kernel_id)];
        return k.kind == fused_kernel_kind::experts ? &k : nullptr;
    }
    [[nodiscard]] std::string_view path_of(std::size_t i) const {
        return pass_.modules[static_cast<std::size_t>(pass_.operands[i].module)];
    }
    [[nodiscard]] tape_edge divided(tape_edge e) const {
        e.bytes /= divisor(e.tensor);
        return e;
    }

    void copy_description() {
        out_.tensors = pass_.tensors;
        for (std::size_t t = 0; t < out_.tensors.size(); ++t)
            out_.tensors[t].bytes /= divisor(static_cast<std::int32_t>(t));
        out_.parameters = pass_.parameters;
        out_.regions = pass_.regions;
        out_.kernels = pass_.kernels;
        out_.num_attentions = pass_.num_attentions;
        out_.buffer_bytes = pass_.buffer_bytes;
        out_.output = -1;  // the loss function frees the logits
        out_.loss = pass_.loss;
        const std::uint64_t ranks = static_cast<std::uint64_t>(options_.expert * options_.expert_tensor);
        for (const tape_node& n : pass_.nodes) {
            if (experts_of(n) == nullptr) continue;
            for (const tape_edge& e : n.inputs) {
                if (e.parameter < 0) continue;
                tape_parameter& p = out_.parameters[static_cast<std::size_t>(e.parameter)];
                if (std::exchange(p.is_routed, true)) continue;
                p.elements /= ranks;
                p.bytes /= ranks;
                if (!p.sizes.empty()) p.sizes.front() /= options_.expert;
            }
        }
    }

    /// Finds elementwise operations between products, of which one is an activation function.
    void find_activation_functions() {
        for (std::size_t i = 0; i < pass_.nodes.size(); ++i) {
            const tape_node& product = pass_.nodes[i];
            if (!is_product(product.kind) || product.inputs.empty() || experts_of(product) != nullptr) continue;
            std::vector<std::size_t> found;
            collect(product.inputs.front().tensor, i, found);
            bool has_function = false;
            for (const std::size_t j : found)
                has_function = has_function || is_activation_function(pass_.nodes[j].kind);
            if (!has_function || !is_self_contained(found, product.inputs.front().tensor)) continue;
            const std::size_t last = *std::ranges::max_element(found);
            for (const std::size_t j : found) fused_into_[j] = static_cast<std::int32_t>(last);
        }
    }
    void collect(std::int32_t t, std::size_t reader, std::vector<std::size_t>& found) const {
        if (t < 0 || tensor_of(t).producer < 0 || !tensor_of(t).requires_grad) return;
        const auto producer = static_cast<std::size_t>(tensor_of(t).producer);
        const tape_node& n = pass_.nodes[producer];
        if (producer >= reader || n.region != pass_.nodes[reader].region || !is_elementwise(n.kind) || n.in_place ||
            norm_end(producer) > producer || std::ranges::find(found, producer) != found.end())
            return;
        found.push_back(producer);
        for (const tape_edge& e : n.inputs)
            if (e.requires_grad) collect(e.tensor, producer, found);
    }
    /// Whether no other operation reads the intermediate results of a group.
    [[nodiscard]] bool is_self_contained(const std::vector<std::size_t>& group, std::int32_t result) const {
        for (const std::size_t i : group) {
            const std::int32_t t = pass_.nodes[i].output;
            if (t == result) continue;
            int readers = 0;
            for (const std::size_t j : group)
                for (const tape_edge& e : pass_.nodes[j].inputs) readers += e.tensor == t && e.requires_grad ? 1 : 0;
            if (readers != num_readers_[static_cast<std::size_t>(t)]) return false;
        }
        return true;
    }

    /// The end of a norm that begins at a node or contains it; the node itself if it belongs to no norm.
    ///
    /// A norm is a module without products whose parameters have one dimension.
    [[nodiscard]] std::size_t norm_end(std::size_t i) const {
        const std::int32_t module = pass_.operands[i].module;
        std::size_t first = i, end = i;
        while (first > 0 && pass_.operands[first - 1].module == module) --first;
        bool has_vector = false;
        for (end = first; end < pass_.nodes.size() && pass_.operands[end].module == module; ++end) {
            const tape_node& n = pass_.nodes[end];
            if (is_product(n.kind) || n.kind == op::attention || n.kind == op::gather) return i;
            for (const tape_edge& e : n.inputs) {
                if (e.parameter < 0) continue;
                if (pass_.parameters[static_cast<std::size_t>(e.parameter)].sizes.size() > 1) return i;
                has_vector = true;
            }
        }
        return has_vector ? end : i;
    }

    /// Adds the kernel that begins at a node. Returns the next node.
    std::size_t add_kernel(std::size_t i) {
        const tape_node& n = pass_.nodes[i];
        if (const fused_kernel* const experts = experts_of(n)) return add_experts(i, *experts);
        if (path_of(i) == "loss") return add_loss(i);
        if (const std::size_t end = norm_end(i); end > i + 1) return add_norm(i, end);
        if (fused_into_[i] >= 0) {
            if (fused_into_[i] == static_cast<std::int32_t>(i)) add_activation_function(i);
            return i + 1;
        }
        tape_node made = n;
        for (tape_edge& e : made.inputs) e = divided(e);
        if (n.output >= 0) made.output_bytes /= divisor(n.output);
        if (n.output >= 0 && is_divided(n.output)) made.saved_extra_bytes /= divisor(n.output);
        if (is_product(n.kind)) add_product_terms(i, made);
        if (n.kind == op::attention && options_.exchanges_heads && std::erase(made.saved, n.output) > 0)
            made.saved_extra_bytes += n.output_bytes;
        out_.nodes.push_back(std::move(made));
        return i + 1;
    }

    /// The tensors that a group of nodes reads and does not create, with a gradient; each once.
    [[nodiscard]] std::vector<tape_edge> external_inputs(const std::vector<std::size_t>& group) const {
        std::vector<tape_edge> out;
        for (const std::size_t i : group)
            for (const tape_edge& e : pass_.nodes[i].inputs) {
                if (!e.requires_grad || e.tensor < 0) continue;
                const bool is_internal = std::ranges::any_of(
                    group, [&](std::size_t j) { return pass_.nodes[j].output == e.tensor && j < i; });
                const auto same = std::ranges::find(out, e.tensor, &tape_edge::tensor);
                if (is_internal) continue;
                if (same == out.end())
                    out.push_back(e);
                else  // views of one tensor: gate and up projections
                    same->bytes = std::max(same->bytes, tensor_of(e.tensor).bytes);
            }
        for (tape_edge& e : out) e = divided(e);
        return out;
    }

    [[nodiscard]] tape_node kernel(op kind, std::size_t last) const {
        const tape_node& n = pass_.nodes[last];
        tape_node made;
        made.kind = kind;
        made.region = n.region;
        made.output = n.output;
        made.element_bits = n.element_bits;
        made.output_bytes = n.output_bytes / divisor(n.output);
        made.has_backward = n.has_backward;
        return made;
    }

    std::size_t add_norm(std::size_t first, std::size_t end) {
        std::vector<std::size_t> group;
        bool has_mean = false;
        for (std::size_t i = first; i < end; ++i) {
            group.push_back(i);
            has_mean = has_mean || pass_.nodes[i].kind == op::sub;
        }
        tape_node made = kernel(op::layer_norm_weight, end - 1);
        made.inputs = external_inputs(group);
        for (std::size_t i = first; i < end; ++i)
            for (const tape_edge& e : pass_.nodes[i].inputs)
                if (e.parameter >= 0) made.inputs.push_back(e);
        const tensor& input = pass_.operands[first].inputs.front();
        for (const tape_edge& e : made.inputs) {
            if (e.tensor < 0) continue;
            if (e.bytes < out_.tensors[static_cast<std::size_t>(e.tensor)].bytes)
                made.saved_extra_bytes += e.bytes;  // a copy of a view
            else
                made.saved.push_back(e.tensor);
            const std::uint64_t rows = input.rank > 0 && input.numel > 0
                                           ? input.numel / static_cast<std::uint64_t>(input.size[input.rank - 1])
                                           : 0;
            made.saved_extra_bytes += rows * (has_mean ? 8 : 4) / divisor(e.tensor);
        }
        out_.nodes.push_back(std::move(made));
        return end;
    }

    void add_activation_function(std::size_t last) {
        std::vector<std::size_t> group;
        for (std::size_t i = 0; i <= last; ++i)
            if (fused_into_[i] == static_cast<std::int32_t>(last)) group.push_back(i);
        tape_node made = kernel(op::silu, last);
        made.inputs = external_inputs(group);
        for (const tape_edge& e : made.inputs) made.saved.push_back(e.tensor);
        out_.nodes.push_back(std::move(made));
    }

    /// Gathered inputs and outputs with sequence parallelism, and the gradient of a weight.
    void add_product_terms(std::size_t i, tape_node& made) {
        const tape_node& n = pass_.nodes[i];
        if (n.inputs.empty() || n.inputs.front().tensor < 0) return;
        const std::int32_t input = n.inputs.front().tensor;
        const std::uint64_t full_input = tensor_of(input).bytes, full_output = n.output_bytes;
        if (is_divided(input) && !is_divided(n.output)) {  // column-parallel: gather, and reduce-scatter in backward
            made.forward_temporary_bytes += full_input;
            made.backward_temporary_bytes += 2 * full_input;
        } else if (!is_divided(input) &&
                   is_divided(n.output)) {  // row-parallel: reduce-scatter, and gather in backward
            made.forward_temporary_bytes += full_output;
            made.backward_temporary_bytes += full_output;
        }
        if (n.region < 0) return;  // the head
        for (tape_edge& e : made.inputs)
            if (e.parameter >= 0 && pass_.parameters[static_cast<std::size_t>(e.parameter)].sizes.size() > 1)
                e.requires_grad = false;
        if (options_.recomputes_norms && !is_divided(n.output)) recompute_norm(input, made);
    }
    /// A product reads the output of a norm, which backward computes again.
    ///
    /// Source: megatron/core/tensor_parallel/random.py, `CheckpointWithoutOutput`.
    void recompute_norm(std::int32_t input, tape_node& made) {
        const auto norm = std::ranges::find_if(out_.nodes, [&](const tape_node& n) {
            return n.output == input && n.kind == op::layer_norm_weight && n.region == made.region;
        });
        if (norm == out_.nodes.end()) return;
        std::erase(made.saved, input);
        made.backward_temporary_bytes += out_.tensors[static_cast<std::size_t>(input)].bytes;
    }

    std::size_t add_loss(std::size_t first) {
        std::size_t end = first;
        std::vector<std::size_t> group;
        while (end < pass_.nodes.size() && path_of(end) == "loss") group.push_back(end++);
        tape_node made = kernel(op::nll_loss, end - 1);
        made.inputs = external_inputs(group);
        for (const tape_edge& e : made.inputs) {
            const tape_tensor& logits = out_.tensors[static_cast<std::size_t>(e.tensor)];
            const std::uint64_t elements =
                e.bytes * 8 / pass_.nodes[static_cast<std::size_t>(logits.producer)].element_bits;
            if (options_.loss == vocabulary_loss::transformer_engine) {
                made.saved.push_back(e.tensor);
                made.saves_gradients = true;
            } else {
                made.saved_extra_bytes += 4 * elements;
            }
        }
        out_.nodes.push_back(std::move(made));
        return end;
    }

    std::int32_t add_tensor(std::uint64_t bytes) {
        tape_tensor t;
        t.bytes = bytes;
        t.requires_grad = true;
        t.producer = 0;
        out_.tensors.push_back(t);
        return static_cast<std::int32_t>(out_.tensors.size()) - 1;
    }
    [[nodiscard]] std::uint64_t bytes_of(std::int32_t t) const {
        return out_.tensors[static_cast<std::size_t>(t)].bytes;
    }

    std::size_t add_experts(std::size_t first, const fused_kernel& sizes) {
        std::vector<std::size_t> group;
        std::size_t end = first;
        while (end < pass_.nodes.size() && pass_.nodes[end].kernel_id == pass_.nodes[first].kernel_id)
            group.push_back(end++);
        std::vector<tape_edge> weights;
        for (const std::size_t i : group)
            for (tape_edge e : pass_.nodes[i].inputs)
                if (e.parameter >= 0) {
                    e.bytes = out_.parameters[static_cast<std::size_t>(e.parameter)].bytes;
                    e.requires_grad = false;
                    weights.push_back(e);
                }
        const tape_node& last = pass_.nodes[end - 1];
        const std::uint64_t element_bytes = last.element_bits / 8;
        const auto size = [](std::int64_t n) { return static_cast<std::uint64_t>(n); };
        const std::uint64_t sequence_ranks = options_.has_sequence_parallel ? size(options_.tensor) : 1;
        const std::uint64_t rows =
            size(sizes.num_tokens) * size(sizes.num_experts_per_tok) * size(options_.expert_tensor) / sequence_ranks;
        const std::uint64_t width = size(sizes.hidden_size),
                            inner = size(sizes.intermediate_size) / size(options_.expert_tensor);
        const std::vector<tape_edge> inputs = external_inputs(group);

        const std::int32_t dispatched = add_tensor(rows * width * element_bytes),
                           expanded = add_tensor(rows * inner * (sizes.is_gated ? 2 : 1) * element_bytes),
                           activated = add_tensor(rows * inner * element_bytes),
                           computed = add_tensor(rows * width * element_bytes);
        const auto step = [&](op kind, std::int32_t from, std::int32_t to) {
            tape_node made = kernel(kind, end - 1);
            made.output = to;
            made.output_bytes = bytes_of(to);
            if (from >= 0) made.inputs.push_back({from, -1, bytes_of(from), true});
            return made;
        };
        tape_node dispatch = step(op::gather, -1, dispatched);
        dispatch.inputs = inputs;
        dispatch.saved_integer_bytes = 8 * rows;
        dispatch.forward_temporary_bytes = bytes_of(dispatched);  // permuted tokens, then those of all ranks
        dispatch.backward_temporary_bytes = bytes_of(dispatched);
        out_.nodes.push_back(std::move(dispatch));

        tape_node expand = step(op::matmul, dispatched, expanded);
        expand.saved = {dispatched};
        for (std::size_t i = 0; i + 1 < weights.size(); ++i) expand.inputs.push_back(weights[i]);
        for (const std::size_t i : group) expand.torch_flops += pass_.nodes[i].torch_flops;
        out_.nodes.push_back(std::move(expand));

        tape_node activate = step(op::silu, expanded, activated);
        activate.saved = {expanded};
        activate.saved_extra_bytes = 4 * rows;  // the router's probabilities
        out_.nodes.push_back(std::move(activate));

        tape_node contract = step(op::matmul, activated, computed);
        if (options_.recomputes_activations)
            contract.backward_temporary_bytes = bytes_of(activated);
        else
            contract.saved = {activated};
        if (!weights.empty()) contract.inputs.push_back(weights.back());
        out_.nodes.push_back(std::move(contract));

        tape_node combine = step(op::gather, computed, last.output);
        combine.forward_temporary_bytes = bytes_of(computed);
        combine.backward_temporary_bytes = bytes_of(computed);
        out_.nodes.push_back(std::move(combine));
        return end;
    }

    /// Numbers the modules that backward computes again.
    void set_recomputed_modules() {
        out_.num_attentions = 0;
        for (tape_node& n : out_.nodes) {
            const bool is_recomputed = n.kind == op::attention && options_.recomputes_attention;
            n.attention_id = is_recomputed ? out_.num_attentions++ : -1;
        }
        if (!options_.recomputes_mlps && !options_.recomputes_moe) return;
        for (std::size_t first = 0; first < out_.nodes.size();) {
            std::size_t end = first + 1;
            while (end < out_.nodes.size() && out_.nodes[end].region == out_.nodes[first].region) ++end;
            if (out_.nodes[first].region >= 0) set_recomputed_mlp(first, end);
            first = end;
        }
    }
    /// The MLP of a layer begins after the first norm that follows attention, and ends before the residual.
    void set_recomputed_mlp(std::size_t first, std::size_t end) {
        std::size_t begin = end;
        for (std::size_t i = first; i < end; ++i)
            if (out_.nodes[i].kind == op::attention) begin = i + 1;
        while (begin < end && out_.nodes[begin].kind != op::layer_norm_weight &&
               out_.nodes[begin].kind != op::layer_norm_affine)
            ++begin;
        while (end > begin + 1 && out_.nodes[end - 1].kind == op::add) --end;
        if (begin >= end) return;
        bool has_experts = false;
        for (std::size_t i = begin + 1; i < end; ++i)
            for (const tape_edge& e : out_.nodes[i].inputs)
                has_experts = has_experts ||
                              (e.parameter >= 0 && out_.parameters[static_cast<std::size_t>(e.parameter)].is_routed);
        if (!(has_experts ? options_.recomputes_moe : options_.recomputes_mlps)) return;
        for (std::size_t i = begin + 1; i < end; ++i) out_.nodes[i].attention_id = out_.num_attentions;
        ++out_.num_attentions;
    }

    /// Producers and last readers of the tensors.
    void set_lifetimes() {
        std::vector<bool> is_created(out_.tensors.size());
        for (std::size_t t = 0; t < out_.tensors.size(); ++t)
            if (out_.tensors[t].producer < 0) is_created[t] = true;
        for (std::size_t i = 0; i < out_.nodes.size(); ++i) {
            const auto index = static_cast<std::int32_t>(i);
            const auto create = [&](std::int32_t t) {
                if (t < 0 || is_created[static_cast<std::size_t>(t)]) return;
                is_created[static_cast<std::size_t>(t)] = true;
                out_.tensors[static_cast<std::size_t>(t)].producer = index;
                out_.tensors[static_cast<std::size_t>(t)].last_read = index;
            };
            for (const tape_edge& e : out_.nodes[i].inputs)
                if (e.tensor >= 0) {
                    create(e.tensor);
                    out_.tensors[static_cast<std::size_t>(e.tensor)].last_read = index;
                }
            for (const std::int32_t t : out_.nodes[i].saved) create(t);
            create(out_.nodes[i].output);
        }
    }

    const tape& pass_;
    const megatron_options& options_;
    std::vector<int> num_readers_;          ///< by tensor: operations that read it as an operand
    std::vector<std::int32_t> fused_into_;  ///< by node: the last node of its activation function; −1: none
    std::vector<bool> is_divided_{};        ///< by tensor: sequence parallelism divides it
    tape out_{};
};

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE tape megatron_tape_of(const tape& pass, const tape& undivided, const megatron_options& options) {
    return detail::megatron_fusion(pass, undivided, options).fuse();
}

LLMCOST_INLINE std::uint64_t placeholder_gradient_bytes(const tape& pass) {
    // layers with the same input in the same module have one weight: queries, keys and values; gate and up projection
    struct weight {
        std::int32_t input = -1;
        std::string module{};
        std::uint64_t rows = 0, columns = 0, element_bytes = 0;
    };
    std::vector<weight> weights;
    for (const tape_node& n : pass.nodes) {
        if (!detail::is_product(n.kind) || n.region < 0) continue;
        for (const tape_edge& e : n.inputs) {
            if (e.parameter < 0 || e.requires_grad || n.inputs.front().tensor < 0) continue;
            const tape_parameter& p = pass.parameters[static_cast<std::size_t>(e.parameter)];
            if (!p.is_trainable || p.sizes.size() < 2 || p.elements == 0) continue;
            const auto columns = static_cast<std::uint64_t>(p.sizes.back());
            const auto experts = p.is_routed ? static_cast<std::uint64_t>(p.sizes.front()) : 1;
            const std::string module = p.name.substr(0, p.name.rfind('.', p.name.rfind('.') - 1));
            weight made{n.inputs.front().tensor, module, p.elements / columns / std::max<std::uint64_t>(experts, 1),
                        columns, p.bytes / p.elements};
            const auto same = std::ranges::find_if(weights, [&](const weight& w) {
                return !p.is_routed && w.input == made.input && w.module == made.module && w.columns == made.columns;
            });
            if (same != weights.end())
                same->rows += made.rows;
            else
                weights.push_back(std::move(made));
        }
    }
    std::set<std::pair<std::uint64_t, std::uint64_t>> shapes;
    std::uint64_t bytes = 0;
    for (const weight& w : weights)
        if (shapes.insert({w.rows, w.columns}).second) bytes += w.rows * w.columns * w.element_bytes;
    return bytes;
}

}  // namespace llmcost
