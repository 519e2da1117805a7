// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <llmcost/base/count.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/device_options.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/report/json_writer.hpp>

// The memory limit of a command line, and the line and members that report whether a workload fits.
namespace llmcost::cli {

namespace option {

inline constexpr option_spec memory{.name = "--memory",
                                    .value = "SIZE",
                                    .type = value_type::text,
                                    .help = "memory limit instead of --device: 24GB, 80GiB, 24G (binary)"};

}  // namespace option

namespace detail {

/// Parses a size with a unit, in any case, e.g. `24GB`. KB to TB are powers of 1000; KiB to TiB, Ki to Ti and K to T
/// are powers of 1024. Throws: `usage` without a unit.
std::uint64_t read_bytes(std::string_view option_name, std::string_view text);

}  // namespace detail

/// A memory limit; 0 bytes: no limit.
struct memory_limit {
    std::uint64_t bytes = 0;
    std::string label{};          ///< printable: `H100 SXM`, `24GB`
    std::string other_reading{};  ///< the size in the other system of units: `24G is 24 GiB` for `24GB`

    [[nodiscard]] bool is_set() const noexcept { return bytes != 0; }
    [[nodiscard]] bool fits(count needed) const { return needed <= count(bytes); }
};

/// The value of a size with powers of 1000 (`24GB`) if they were powers of 1024 (`24G`), and vice versa.
///
/// Empty for an unambiguous unit (`24GiB`, bytes).
[[nodiscard]] std::string other_reading_of(std::string_view size);

/// The memory of each device that its driver reports; no limit if the datasheet has no memory size.
[[nodiscard]] memory_limit memory_limit_on(const device& target_device, std::int64_t devices = 1);

/// Parses `--device` or `--memory`. Throws: `usage`.
[[nodiscard]] memory_limit parse_memory_limit(const arguments& args);

/// `Fits: 25.3 GiB of 79.1 GiB (H100 SXM), 53.8 GiB free`; empty without a limit.
///
/// `assumptions` follow in the same line: `; with bf16, sdpa, adamw`.
[[nodiscard]] std::string memory_fit_text(const memory_limit& limit, count needed, std::string_view assumptions = {});

/// Writes `"available"` and `"fits"`; null without a limit.
void write_memory_fit(json_writer& json, const memory_limit& limit, count needed);

/// The exit code of a memory check.
[[nodiscard]] inline exit_code exit_code_of_fit(const memory_limit& limit, count needed) {
    return !limit.is_set() || limit.fits(needed) ? exit_code::ok : exit_code::does_not_fit;
}

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/request/impl/memory_fit.ipp>  // IWYU pragma: export
#endif
