// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/device_comparison.hpp>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <istream>
#include <iterator>
#include <ostream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/device_options.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/pages/device_table.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/cli/request/memory_fit.hpp>
#include <llmcost/devices/all.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/memory/adapter.hpp>
#include <llmcost/text/messages.hpp>
#include <llmcost/text/nearest_name.hpp>

namespace llmcost::cli::detail {

LLMCOST_INLINE std::vector<std::string> listed_devices(const arguments& args) {
    const std::string_view text = args.text(option::device);
    std::vector<std::string> out;
    std::error_code none;
    if (text == "all") {
        for (const device& d : devices)
            if (d.memory_gigabytes > 0) out.emplace_back(d.names[0]);
        return out;
    }
    if (text.find(',') == std::string_view::npos || std::filesystem::exists(std::string(text), none)) return {};
    for (const std::string& name : split_list(text, ',')) {
        if (name.empty() || text.ends_with(','))
            throw_usage("--device", "expected a list such as h100,rtx_4090 or all, found " + quote(text));
        if (find_device(name) == nullptr && name != "here" && !std::filesystem::exists(name, none)) {
            name_suggestions near(name);
            for (const device& d : devices) near.add_candidate(std::string_view(d.names[0]));
            throw_usage("--device", "no device " + quote(name) + near.suggestion_text(" (see llmcost devices)"));
        }
        out.push_back(name);
    }
    return out;
}

LLMCOST_INLINE void reject_with_device_list(const arguments& args, const option_spec& o) {
    if (args.has(o)) throw_usage(o.name, "cannot be combined with several devices; expected one --device");
}

LLMCOST_INLINE device_runs::device_runs(const arguments& args, const program& io, std::vector<std::string> devices)
    : args_(args), io_(io), devices_(std::move(devices)), is_sorted_(args.text(option::device) == "all") {
    if (const std::string_view text = args.text(option::price); text.find(',') != std::string_view::npos) {
        prices_ = split_list(text, ',');
        if (prices_.size() != devices_.size())
            throw_usage(option::price.name, "expected one price, or one for each of the " +
                                                std::to_string(devices_.size()) + " devices; found " + quote(text));
    }
    const std::vector<std::string_view>& files = args.all(option::config);
    if (std::find(files.begin(), files.end(), "-") != files.end())
        input_.assign(std::istreambuf_iterator<char>(io.in), std::istreambuf_iterator<char>());
    repeated_.emplace(program{streams{io.out, notes_, repeated_input_, io.get, io.out_is_terminal, io.in_is_terminal},
                              io.models, io.bundled, io.commands, io.read, io.place, io.read_each, io.verified,
                              io.chakra});
}

LLMCOST_INLINE void device_runs::begin_device(std::size_t i) {
    args_.replace(option::device, devices_[i]);
    if (!prices_.empty()) args_.replace(option::price, prices_[i]);
    repeated_input_.clear();
    repeated_input_.str(input_);
    notes_.str({});
}

LLMCOST_INLINE void device_runs::end_device() {
    std::istringstream lines(notes_.str());
    for (std::string line; std::getline(lines, line);) {
        if (std::find(printed_notes_.begin(), printed_notes_.end(), line) != printed_notes_.end()) continue;
        io_.err << line << '\n';
        printed_notes_.push_back(line);
    }
}

LLMCOST_INLINE void device_runs::sort(std::vector<device_row>& rows) const {
    if (!is_sorted_) return;
    const auto first_figure = [](const device_row& row) { return row.figures.empty() ? 0 : row.figures.front(); };
    std::stable_sort(rows.begin(), rows.end(), [&](const device_row& a, const device_row& b) {
        if (a.fits() != b.fits()) return a.fits();
        const double x = first_figure(a), y = first_figure(b);
        return (x > 0) != (y > 0) ? x > 0 : x < y;
    });
}

LLMCOST_INLINE command_output written_devices(const device_comparison& comparison, output_format format) {
    const bool fits = std::any_of(comparison.rows.begin(), comparison.rows.end(), [](const device_row& row) {
        return row.fits() || (!row.limit.is_set() && row.problem.empty());
    });
    return {print(comparison, format), fits ? exit_code::ok : exit_code::does_not_fit};
}

}  // namespace llmcost::cli::detail
