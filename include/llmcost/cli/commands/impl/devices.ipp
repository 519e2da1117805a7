// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/devices.hpp>

#include <array>
#include <charconv>
#include <string>
#include <utility>

#include <llmcost/base/inline.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/devices/all.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/report/json_writer.hpp>

namespace llmcost::cli::detail {

/// A datasheet value with the fewest digits; `none` if there is no value.
LLMCOST_INLINE std::string datasheet_number(double n, std::string_view none) {
    if (n == 0) return std::string(none);
    std::array<char, 32> buffer{};
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), n).ptr;
    return {buffer.data(), end};
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE command_output devices_answer(const arguments& args, const program&) {
    const auto format = static_cast<output_format>(args.choice(option::format));
    if (format == output_format::json) {
        json_writer json;
        json.object().key("devices").array();
        for (const device& d : devices) {
            json.object().member("name", d.names[0]).member("title", d.title).member("vendor", d.vendor);
            for (const detail::device_column& c : detail::device_columns)
                if (d.*c.figure != 0) json.member(c.name, d.*c.figure);
            json.end_object();
        }
        json.end_array().end_object();
        return json.text() + "\n";
    }
    const bool text = format == output_format::text;
    table t;
    t.columns = {{"name"}};
    if (!text) t.columns.insert(t.columns.end(), {{"title"}, {"vendor"}});
    for (const detail::device_column& c : detail::device_columns)
        if (!text || !c.title.empty()) t.columns.push_back({std::string(text ? c.title : c.name), true});
    for (const device& d : devices) {
        std::vector<std::string> row{std::string(d.names[0])};
        if (!text) row.insert(row.end(), {std::string(d.title), std::string(d.vendor)});
        for (const detail::device_column& c : detail::device_columns)
            if (!text || !c.title.empty()) row.push_back(detail::datasheet_number(d.*c.figure, text ? "-" : ""));
        t.rows.push_back(std::move(row));
    }
    if (!text) return written(t, format);
    return plain(t) + "Dense TFLOP/s (int8: TOP/s); GB/s: memory bandwidth; link: GB/s per direction between devices\n";
}

}  // namespace llmcost::cli
