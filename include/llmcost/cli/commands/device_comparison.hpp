// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <exception>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/device_options.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/pages/device_table.hpp>
#include <llmcost/cli/request/memory_fit.hpp>
#include <llmcost/text/error.hpp>

// `--device h100,rtx_4090` and `--device all`: one workload on several devices, as a table.
namespace llmcost::cli {

namespace option {

/// `--device` of the commands that also accept several devices.
inline constexpr option_spec device_list = [] {
    option_spec row = with_help(device,
                                "device from llmcost devices, a datasheet file, or here (the calibrated local GPU); "
                                "a list or all prints a table");
    row.value = "NAME|FILE|LIST";
    return row;
}();

}  // namespace option

/// The options of a memory limit: a device, several devices, or a size.
inline constexpr std::array device_list_options{option::device_list, option::memory};

namespace detail {

/// The devices of a list or of `all`; empty for one device. Throws: `usage` for unknown names.
std::vector<std::string> listed_devices(const arguments& args);

/// Throws: `usage` if an option cannot be combined with several devices.
void reject_with_device_list(const arguments& args, const option_spec& o);

/// Runs a command once per device: the input is repeated, and equal warnings are printed once.
class device_runs {
public:
    device_runs(const arguments& args, const program& io, std::vector<std::string> devices);

    /// Calls `evaluate(args, io)` for each device, which returns a `device_row`.
    ///
    /// Usage errors and missing features of one device are the problem of its row. Throws: the first problem, if all
    /// devices have one.
    template <class Evaluate>
    std::vector<device_row> run(Evaluate evaluate) {
        std::vector<device_row> rows;
        std::exception_ptr first_problem;
        bool has_result = false;
        for (std::size_t i = 0; i < devices_.size(); ++i) {
            begin_device(i);
            device_row row;
            try {
                row = evaluate(args_, *repeated_);
                has_result = true;
            } catch (const error& e) {
                if (e.code() != errc::usage && e.code() != errc::unsupported && e.code() != errc::does_not_fit) throw;
                if (!first_problem) first_problem = std::current_exception();
                row.problem = e.what();
            }
            row.device = devices_[i];
            rows.push_back(std::move(row));
            end_device();
        }
        if (!has_result) std::rethrow_exception(first_problem);
        sort(rows);
        return rows;
    }

private:
    void begin_device(std::size_t i);
    void end_device();
    /// Orders the rows of `all`: devices on which the workload fits first, then by the first figure.
    void sort(std::vector<device_row>& rows) const;

    arguments args_;
    const program& io_;
    std::vector<std::string> devices_;
    std::vector<std::string> prices_;  ///< of a list of `--price`; empty: one price for all devices
    bool is_sorted_ = false;
    std::string input_;
    std::istringstream repeated_input_;
    std::ostringstream notes_;
    std::vector<std::string> printed_notes_;
    std::optional<program> repeated_;
};

/// The output of a device table. The exit code is 8 if the workload fits on no device.
command_output written_devices(const device_comparison& comparison, output_format format);

}  // namespace detail

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/device_comparison.ipp>  // IWYU pragma: export
#endif
