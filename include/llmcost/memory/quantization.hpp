// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/memory/name_pattern.hpp>

// What a checkpoint's `quantization_config` says of its weights, as values: which modules, and how a weight of them
// lies.
namespace llmcost {

/// What there is one of in a tensor beside the numbers of a weight.
enum class quantization_granularity : std::uint8_t {
    block,         ///< of scales
    packed_block,  ///< the same, outputs side by side in words of 32 bits
    output,
    input,
    matrix,
    run,       ///< elements in their order in memory, `block_inputs` of them
    run_group  ///< 256 runs
};

/// A tensor beside the numbers of a weight: scales, zero points, indices.
struct auxiliary_tensor {
    std::string_view name;
    std::string_view type;  ///< empty: that of the weights that are not quantised
    int bits = 0;           ///< of an element; 0: of that type
    quantization_granularity granularity = quantization_granularity::block;
    std::int64_t number = 1;  ///< elements for each
};

/// How numbers are put into words.
enum class packing_rule : std::uint8_t {
    inputs,   ///< numbers of one output side by side
    outputs,  ///< numbers of one input
    runs      ///< all numbers of a matrix in a row
};

/// How a matrix of outputs × inputs lies in a checkpoint.
///
/// Where sizes are no multiples of a block or a word, the last one counts whole.
struct weight_layout {
    std::string_view numbers;  ///< the tensor of the numbers
    std::string_view type;     ///< of its elements
    int bits = 8;              ///< of a number
    int element_bits = 8;      ///< of its elements
    packing_rule packs = packing_rule::inputs;
    std::int64_t block_outputs = 0;  ///< of scales; 0: all
    std::int64_t block_inputs = 0;
    bool requires_full_blocks = false;  ///< a weight with a part of a block stays as it is
    std::vector<auxiliary_tensor> auxiliary_tensors{};
};

namespace detail {

[[nodiscard]] constexpr std::int64_t parts(std::int64_t total, std::int64_t size) noexcept {
    return size == 0 ? 1 : total / size + (total % size != 0 ? 1 : 0);
}

}  // namespace detail

/// Bytes of the numbers of one matrix.
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

/// Bytes of a tensor beside them; `otherwise` is the type of what is not quantised.
[[nodiscard]] constexpr count bytes_of_auxiliary_tensor(const weight_layout& layout, const auxiliary_tensor& t,
                                                        std::int64_t outputs, std::int64_t inputs, dtype otherwise) {
    const count down = detail::parts(outputs, layout.block_outputs),
                input_blocks = detail::parts(inputs, layout.block_inputs);
    const int bits = t.bits != 0 ? t.bits : bits_of(otherwise);
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

/// A word of a configuration that names modules, and what it says in its own list.
struct module_rule {
    enum class kind : std::uint8_t {
        name,         ///< a name, whole, or a class
        expression,   ///< a regular expression at the beginning of a name
        segments,     ///< one that ends with a segment there, or the end of a name
        ending,       ///< the end of a name
        part_or_card  ///< a part of a name, or a wildcard for all of it
    };
    kind means = kind::name;
    std::string text{};
    std::optional<name_pattern> pattern{};
    bool is_from_config = true;  ///< by the configuration; else by the format

    /// Nothing where the text is no pattern of this kind.
    [[nodiscard]] static std::optional<module_rule> read(kind means, std::string_view text) {
        module_rule out{means, std::string(text), {}, true};
        const bool card = means == kind::part_or_card;
        if (means != kind::expression && means != kind::segments && !card) return out;
        out.pattern = card ? name_pattern::parse_wildcard(text) : name_pattern::parse(text);
        return out.pattern ? std::optional(std::move(out)) : std::nullopt;
    }
    /// Whether it means a module with this name.
    [[nodiscard]] bool matches_module(std::string_view name) const {
        switch (means) {
            case kind::name: return name == text;
            case kind::expression: return pattern->begins(name, false);
            case kind::segments: return name.ends_with(text) || pattern->begins(name, true);
            case kind::ending: return name.ends_with(text);
            case kind::part_or_card: break;
        }
        return name.find(text) != std::string_view::npos || pattern->begins(name, false);
    }
};

/// Which experts a format's converter touches, where they are no linear layers but tensors of all of them.
enum class expert_scope : std::uint8_t { none, unpacked, all };

/// Which modules a format's converter touches, before any list.
struct module_scope {
    bool linear = true;
    bool relatives = false;  ///< classes derived from it
    bool grouped = false;    ///< linear layers in diagonal blocks
    bool conv1d = false;     ///< `Conv1D`, whose weight lies inputs × outputs
    bool embedding = false;
    expert_scope experts = expert_scope::none;  ///< `unpacked`: those of which Transformers makes linear layers first
};

/// Weights that lie in one way.
struct quantization_group {
    std::vector<module_rule> targets{};  ///< none: every module
    weight_layout layout{};
    std::optional<weight_layout> experts{};  ///< where experts lie otherwise
};

/// A checkpoint's plan; one without a method leaves every weight as it is.
struct quantization {
    std::string method{};  ///< as the configuration names it
    module_scope reach{};
    std::vector<quantization_group> groups{};           ///< the first that names a module has it
    std::vector<module_rule> modules_to_not_convert{};  ///< modules that stay as they are
    bool keeps_head = false;               ///< the module that makes scores of words stays, and the last module of all
    bool keeps_32_bits = false;            ///< so do those that Transformers keeps in 32 bits
    dtype otherwise = dtype::unspecified;  ///< of what is not quantised, where the configuration names no type
    std::vector<std::string> blocks{};  ///< names of lists of layers, the first that is there alone; none: everywhere

    [[nodiscard]] bool none() const noexcept { return method.empty(); }
};

}  // namespace llmcost
