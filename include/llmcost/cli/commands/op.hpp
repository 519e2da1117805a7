// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/command.hpp>
#include <llmcost/cli/args/device_options.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/latency/operator_types.hpp>
#include <llmcost/latency/roofline.hpp>

// `llmcost op`: the time of single operators.
namespace llmcost::cli {

namespace detail {

inline std::vector<std::string_view> software_names(const program&) { return {"trtllm", "vllm", "sglang", "torch"}; }

}  // namespace detail

namespace option {

inline constexpr option_spec kernels{.name = "--kernels",
                                     .value = "SOFTWARE",
                                     .type = value_type::text,
                                     .help = "software of the kernels: trtllm, vllm, sglang or torch (default: any)",
                                     .completions = detail::software_names};
inline constexpr option_spec kernels_version{.name = "--engine-version",
                                             .value = "VERSION",
                                             .type = value_type::text,
                                             .help = "version of the kernel measurements (default: newest)"};
inline constexpr option_spec operand{.name = "--dtype",
                                     .value = "TYPE",
                                     .type = value_type::text,
                                     .help =
                                         "operand type: bfloat16, float16, fp8, fp8_block, int8, nvfp4 ... (default "
                                         "bfloat16)",
                                     .completions = detail::operand_names};
inline constexpr option_spec one_format =
    with_help(option::text_or_json_format, "text or json, for one operator (default text); json prints exact numbers");

}  // namespace option

inline constexpr std::array op_options =
    concatenate(with_section("Hardware and engine",
                             std::array{option::device, option::calibration, option::kernels, option::kernels_version}),
                with_section("Precision", std::array{option::operand}),
                with_section("Output", std::array{option::one_format}), help_option);

namespace detail {

/// The options of `llmcost op TYPE`: the common ones, then the sizes and the variant of the operator type.
class operator_options {
public:
    explicit operator_options(const operator_type& family);
    [[nodiscard]] const std::vector<option_spec>& rows() const noexcept { return rows_; }
    [[nodiscard]] const option_spec& size(std::size_t i) const { return rows_[op_options.size() + i]; }
    /// The option of the variant; it follows the sizes.
    [[nodiscard]] const option_spec& variant() const { return rows_.back(); }

private:
    void add(std::string_view column, value_type kind, std::string_view value);

    std::vector<std::string> names_;
    std::vector<option_spec> rows_;
};

/// The options of an operator type, created at the first call and valid until the program ends.
const operator_options& options_of_family(const operator_type& family);

inline std::string_view name_of(roofline_bound b) {
    return b == roofline_bound::launch ? "launch" : b == roofline_bound::compute ? "compute" : "memory";
}

std::string op_families();

/// The operator type with a name. Throws: `usage`.
const operator_type& family_of(std::string_view name);

inline std::vector<std::string_view> operator_names(const program&) { return names_in(operator_families); }
inline std::span<const option_spec> op_options_of(std::string_view family) {
    return options_of_family(family_of(family)).rows();
}

}  // namespace detail

/// Runs `llmcost op TYPE`.
[[nodiscard]] command_output run_op(const arguments& args, const program& io);

inline constexpr std::array<command_example, 3> op_examples{{
    {"llmcost op gemm --device h200 --m 64 --n 4096 --k 4096 --dtype fp8", "one GEMM"},
    {"llmcost op gemm --device h200 < shapes.csv", "a CSV table of shapes; times are appended to each row"},
    {"llmcost op primitive --device h200 --dtype float32", "latency and throughput of single operations"},
}};

inline constexpr command op_command{
    .name = "op",
    .summary = "Estimate the time of one operator; its sizes are options",
    .usage = "TYPE --device NAME --SIZE N... [options]\nTYPE [options] < SHAPES.csv",
    .description =
        "Estimates the time of one operator. The sizes of an operator type are options, e.g. --m 64.\n"
        "\n"
        "Without sizes, reads a CSV table from standard input. Its columns are the sizes of the operator\n"
        "type, and optionally system, backend, version and kernel_source. Appends predicted_us, lower_us,\n"
        "upper_us and error to each row.\n"
        "\n"
        "op primitive without sizes and without a table reports the latency and the throughput of each\n"
        "operation of the vector units (ADD, DIV, EXP, ...) by element type.\n"
        "Exit code 7: some rows have no result.\n",
    .options = op_options,
    .run = run_op,
    .examples = op_examples,
    .completions = detail::operator_names,
    .options_of = detail::op_options_of,
    .extra_help = detail::op_families};

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/op.ipp>  // IWYU pragma: export
#endif
