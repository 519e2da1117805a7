// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ostream>
#include <string>
#include <string_view>

#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/json.hpp>
#include <llmcost/memory/adapter.hpp>
#include <llmcost/memory/quantization.hpp>
#include <llmcost/memory/read_adapter.hpp>
#include <llmcost/model/model_spec.hpp>

// `--adapter`: a PEFT configuration file, or a short form such as `lora:r=16`.
namespace llmcost::cli {

namespace option {

inline constexpr option_spec adapter{.name = "--adapter",
                                     .value = "FILE|SPEC",
                                     .type = value_type::file,
                                     .help = "PEFT adapter_config.json, or a short form: lora:r=16"};
inline constexpr option_spec lora{.name = "--lora",
                                  .value = "r=N,...",
                                  .type = value_type::text,
                                  .help = "LoRA: --lora r=16 is --adapter lora:r=16; e.g. r=16,targets=all-linear"};
inline constexpr option_spec qlora{
    .name = "--qlora", .help = "QLoRA: frozen weights in 4 bits (nf4); with --lora r=16 as --adapter qlora:r=16"};

inline constexpr option_spec freeze{.name = "--freeze",
                                    .value = "PATTERN",
                                    .type = value_type::text,
                                    .help = "parameters that are not trained: model.layers.0.*",
                                    .is_repeatable = true};

}  // namespace option

/// The adapter of a command line.
struct requested_adapter {
    adapter_file file{};
    std::string label = "none";  ///< printable
    bool is_file = false;
    bool quantizes = false;  ///< `qlora`: a base model of 4 bits

    [[nodiscard]] bool none() const noexcept { return file.adapts.kind == adapter_kind::none; }
};

namespace detail {

/// The short form of an adapter kind.
struct adapter_short_form {
    std::string_view name;
    adapter_kind kind;
};
inline constexpr adapter_short_form adapter_short_forms[]{
    {"none", adapter_kind::none},     {"lora", adapter_kind::lora},        {"qlora", adapter_kind::lora},
    {"rslora", adapter_kind::lora},   {"dora", adapter_kind::dora},        {"ia3", adapter_kind::ia3},
    {"prompt", adapter_kind::prompt}, {"ptuning", adapter_kind::p_tuning}, {"prefix", adapter_kind::prefix},
    {"ln", adapter_kind::norms},      {"bitfit", adapter_kind::bitfit},    {"freeze", adapter_kind::frozen}};

/// Parses the value of `--adapter`. Throws: `usage`, and errors of the file.
requested_adapter read_adapter_option(std::string_view text);

/// Finds the target modules of an adapter in a model; writes warnings to `notes`. Throws: `usage` if there are none.
void resolve_adapter(requested_adapter& requested, const model& m, std::ostream& notes);

}  // namespace detail

/// The quantization of the frozen weights of an adapted model: 4-bit bitsandbytes, from `quantization_config` or
/// `qlora`.
///
/// `qlora` is nf4 with double quantization. The result has no method for other formats, and for 32-bit weights.
[[nodiscard]] quantization base_of(const requested_adapter& requested, const parsed_model& read, const workload& load);

/// The value of `--adapter`, or the short form of `--lora` and `--qlora`; `none` without them. Throws: `usage`.
[[nodiscard]] std::string adapter_text(const arguments& args);

/// Parses `--adapter`, `--lora`, `--qlora` and `--freeze`; target modules are found by `resolve_adapter`. Throws:
/// `usage`.
[[nodiscard]] requested_adapter read_adapter(const arguments& args);

/// Finds the target modules of an adapter in a model; writes warnings to `notes`. Throws: `usage`.
void resolve_adapter(requested_adapter& requested, const arguments& args, const model& m, std::ostream& notes);

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/request/impl/adapter_option.ipp>  // IWYU pragma: export
#endif
