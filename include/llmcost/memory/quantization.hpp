// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/memory/name_pattern.hpp>
#include <llmcost/memory/vllm_kernels.hpp>

// The `quantization_config` of a checkpoint: the quantized modules and the layout of their weights.
namespace llmcost {

/// The part of a weight that has one element of an auxiliary tensor.
enum class quantization_granularity : std::uint8_t {
    block,         ///< a block of inputs and outputs
    packed_block,  ///< a block; outputs are packed into 32-bit words
    output,
    input,
    matrix,
    run,       ///< `block_inputs` elements that are consecutive in memory
    run_group  ///< 256 runs
};

/// A tensor stored next to a quantized weight: scales, zero points, indices.
struct auxiliary_tensor {
    std::string_view name;
    std::string_view type;  ///< element type; empty: that of unquantized weights
    int bits = 0;           ///< bits per element; 0: those of unquantized weights
    quantization_granularity granularity = quantization_granularity::block;
    std::int64_t number = 1;  ///< elements per part

    friend bool operator==(const auxiliary_tensor&, const auxiliary_tensor&) = default;
};

/// The axis along which values are packed into words.
enum class packing_rule : std::uint8_t {
    inputs,   ///< the values of one output
    outputs,  ///< the values of one input
    runs      ///< all values of a matrix
};

/// The layout of a quantized matrix (outputs × inputs) in a checkpoint.
///
/// If a size is not a multiple of a block or a word, the last one is counted in full.
struct weight_layout {
    std::string_view numbers;  ///< name of the tensor with the values
    std::string_view type;     ///< element type of that tensor
    int bits = 8;              ///< bits per value
    int element_bits = 8;      ///< bits per element of that tensor
    packing_rule packs = packing_rule::inputs;
    std::int64_t block_outputs = 0;  ///< outputs per block of scales; 0: all
    std::int64_t block_inputs = 0;
    bool requires_full_blocks = false;  ///< a weight with an incomplete block stays unquantized
    std::vector<auxiliary_tensor> auxiliary_tensors{};

    friend bool operator==(const weight_layout&, const weight_layout&) = default;
};

namespace detail {

[[nodiscard]] constexpr std::int64_t parts(std::int64_t total, std::int64_t size) noexcept {
    return size == 0 ? 1 : total / size + (total % size != 0 ? 1 : 0);
}

}  // namespace detail

/// Bytes of the values of one matrix.
[[nodiscard]] constexpr count bytes_of_numbers(const weight_layout& layout, std::int64_t outputs, std::int64_t inputs) {
    count lines = 1, line = count(outputs) * count(inputs);
    if (layout.packs == packing_rule::inputs) {
        lines = outputs;
        line = inputs;
    }
    if (layout.packs == packing_rule::outputs) {
        lines = inputs;
        line = outputs;
    }
    return lines * ((line * count(layout.bits) + count(layout.element_bits - 1)) / count(layout.element_bits)) *
           count(layout.element_bits / 8);
}

/// Bytes of an auxiliary tensor. `default_type`: element type of unquantized weights.
[[nodiscard]] constexpr count bytes_of_auxiliary_tensor(const weight_layout& layout, const auxiliary_tensor& t,
                                                        std::int64_t outputs, std::int64_t inputs, dtype default_type) {
    const count down = detail::parts(outputs, layout.block_outputs),
                input_blocks = detail::parts(inputs, layout.block_inputs);
    const int bits = t.bits != 0 ? t.bits : bits_of(default_type);
    const count size = layout.block_inputs == 0 ? count(1) : count(layout.block_inputs);
    const count runs = (count(outputs) * count(inputs) + size - count(1)) / size;
    count n = 1;
    switch (t.granularity) {
        case quantization_granularity::block: n = down * input_blocks; break;
        case quantization_granularity::packed_block:
            return input_blocks * ((down * count(bits) + count(31)) / count(32)) * count(4);
        case quantization_granularity::output: n = outputs; break;
        case quantization_granularity::input: n = inputs; break;
        case quantization_granularity::matrix: break;
        case quantization_granularity::run: n = runs; break;
        case quantization_granularity::run_group: n = (runs + count(255)) / count(256); break;
    }
    return (n * count(t.number) * count(bits) + count(7)) / count(8);
}

/// An entry of a module list in a configuration.
struct module_rule {
    enum class kind : std::uint8_t {
        name,         ///< a complete name, or a class
        expression,   ///< a regular expression that matches at the start of a name
        segments,     ///< a regular expression that ends with a segment, or a name ending
        ending,       ///< a name ending
        part_or_card  ///< a part of a name, or a wildcard for the complete name
    };
    kind means = kind::name;
    std::string text{};
    std::optional<name_pattern> pattern{};
    bool is_from_config = true;  ///< from the configuration; false: from the format

    /// Parses an entry. Returns nothing if the text is not a pattern of this kind.
    [[nodiscard]] static std::optional<module_rule> read(kind means, std::string_view text);
    /// Whether the rule matches a module name.
    [[nodiscard]] bool matches_module(std::string_view name) const;
};

/// The experts that a format's converter quantizes, if they are stored in tensors for all experts.
enum class expert_scope : std::uint8_t { none, unpacked, all };

/// The modules that a format's converter quantizes, before any list applies.
struct module_scope {
    bool linear = true;
    bool relatives = false;  ///< classes derived from `nn.Linear`
    bool grouped = false;    ///< block-diagonal linear layers
    bool conv1d = false;     ///< `Conv1D`, whose weight has the shape inputs × outputs
    bool embedding = false;
    bool listed = false;  ///< matrices of any other class that an entry of the configuration names, e.g. routers
    /// `unpacked`: only experts that Transformers converts to linear layers first
    expert_scope experts = expert_scope::none;
};

/// Weights with one layout.
struct quantization_group {
    std::vector<module_rule> targets{};  ///< empty: every module
    weight_layout layout{};
    std::optional<weight_layout> experts{};  ///< layout of experts, if it differs
};

/// The quantization of a checkpoint. Without a method, all weights are unquantized.
struct quantization {
    std::string method{};  ///< name in the configuration
    module_scope reach{};
    std::vector<quantization_group> groups{};           ///< the first group that matches a module applies
    std::vector<module_rule> modules_to_not_convert{};  ///< modules that stay unquantized
    bool keeps_head = false;                  ///< the language model head and the last module stay unquantized
    bool keeps_32_bits = false;               ///< modules that Transformers loads in float32 stay unquantized
    dtype default_type = dtype::unspecified;  ///< type of unquantized weights, if the configuration has none
    /// names of layer lists, of which the first existing one is quantized; empty: no restriction
    std::vector<std::string> blocks{};

    [[nodiscard]] bool none() const noexcept { return method.empty(); }
};

/// The format of routed experts in a checkpoint that quantizes them.
[[nodiscard]] expert_weight_format expert_weight_format_of(const quantization& plan);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/memory/impl/quantization.ipp>  // IWYU pragma: export
#endif
