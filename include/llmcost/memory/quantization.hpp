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

// What a checkpoint's `quantization_config` says of its weights, as values: which modules, and how a weight of them lies.
namespace llmcost {

/// What there is one of in a tensor beside the numbers of a weight.
enum class each : std::uint8_t {
    block,         ///< of scales
    packed_block,  ///< the same, outputs side by side in words of 32 bits
    output,
    input,
    matrix,
    run,       ///< elements in their order in memory, `block_inputs` of them
    many_runs  ///< 256 runs
};

/// A tensor beside the numbers of a weight: scales, zero points, indices.
struct tensor_beside {
    std::string_view name;
    std::string_view type;  ///< empty: that of the weights that are not quantised
    int bits = 0;           ///< of an element; 0: of that type
    each of = each::block;
    std::int64_t number = 1;  ///< elements for each
};

/// How numbers are put into words.
enum class packing : std::uint8_t {
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
    int word = 8;              ///< of its elements
    packing packs = packing::inputs;
    std::int64_t block_outputs = 0;  ///< of scales; 0: all
    std::int64_t block_inputs = 0;
    bool whole_blocks = false;  ///< a weight with a part of a block stays as it is
    std::vector<tensor_beside> beside{};
};

namespace detail {

[[nodiscard]] constexpr std::int64_t parts(std::int64_t whole, std::int64_t size) noexcept {
    return size == 0 ? 1 : whole / size + (whole % size != 0 ? 1 : 0);
}

}  // namespace detail

/// Bytes of the numbers of one matrix.
[[nodiscard]] constexpr count bytes_of_numbers(const weight_layout& how, std::int64_t outputs, std::int64_t inputs) {
    count lines = 1, line = count(outputs) * count(inputs);
    if (how.packs == packing::inputs) lines = outputs, line = inputs;
    if (how.packs == packing::outputs) lines = inputs, line = outputs;
    return lines * ((line * count(how.bits) + count(how.word - 1)) / count(how.word)) * count(how.word / 8);
}

/// Bytes of a tensor beside them; `otherwise` is the type of what is not quantised.
[[nodiscard]] constexpr count bytes_of_beside(const weight_layout& how, const tensor_beside& t, std::int64_t outputs,
                                              std::int64_t inputs, dtype otherwise) {
    const count down = detail::parts(outputs, how.block_outputs), along = detail::parts(inputs, how.block_inputs);
    const int bits = t.bits != 0 ? t.bits : bits_of(otherwise);
    const count size = how.block_inputs == 0 ? count(1) : count(how.block_inputs);
    const count runs = (count(outputs) * count(inputs) + size - count(1)) / size;
    count n = 1;
    switch (t.of) {
        case each::block: n = down * along; break;
        case each::packed_block: return along * ((down * count(bits) + count(31)) / count(32)) * count(4);
        case each::output: n = outputs; break;
        case each::input: n = inputs; break;
        case each::matrix: break;
        case each::run: n = runs; break;
        case each::many_runs: n = (runs + count(255)) / count(256); break;
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
    bool told = true;  ///< by the configuration; else by the format

    /// Nothing where the text is no pattern of this kind.
    [[nodiscard]] static std::optional<module_rule> read(kind means, std::string_view text) {
        module_rule out{means, std::string(text), {}, true};
        const bool card = means == kind::part_or_card;
        if (means != kind::expression && means != kind::segments && !card) return out;
        out.pattern = card ? name_pattern::parse_wildcard(text) : name_pattern::parse(text);
        return out.pattern ? std::optional(std::move(out)) : std::nullopt;
    }
    /// Whether it means a module with this name.
    [[nodiscard]] bool names(std::string_view name) const {
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
enum class expert_reach : std::uint8_t { none, unpacked, all };

/// Which modules a format's converter touches, before any list.
struct module_reach {
    bool linear = true;
    bool relatives = false;  ///< classes derived from it
    bool grouped = false;    ///< linear layers in diagonal blocks
    bool turned = false;     ///< `Conv1D`, whose weight lies inputs × outputs
    bool embedding = false;
    expert_reach experts = expert_reach::none;  ///< `unpacked`: those of which Transformers makes linear layers first
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
    module_reach reach{};
    std::vector<quantization_group> groups{};  ///< the first that names a module has it
    std::vector<module_rule> kept{};           ///< modules that stay as they are
    bool keeps_head = false;                   ///< the module that makes scores of words stays, and the last module of all
    bool keeps_32_bits = false;                ///< so do those that Transformers keeps in 32 bits
    dtype otherwise = dtype::unspecified;      ///< of what is not quantised, where the configuration names no type
    std::vector<std::string> blocks{};         ///< names of lists of layers, the first that is there alone; none: everywhere

    [[nodiscard]] bool none() const noexcept { return method.empty(); }
};

}  // namespace llmcost
