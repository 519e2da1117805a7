// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/report/chrome_trace.hpp>

#include <cstddef>
#include <string>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/report/json_writer.hpp>

namespace llmcost {

LLMCOST_INLINE std::string chrome_trace(const std::string& process, const std::vector<std::string>& streams,
                                        const std::vector<trace_span>& spans) {
    constexpr double micro = 1e6;  // unit of the format
    json_writer json(1);
    json.object().member("displayTimeUnit", "ns").key("traceEvents").array();
    const auto name = [&](const char* event, std::size_t stream, const std::string& content) {
        json.object().member("name", event).member("ph", "M").member("pid", 1);
        json.member("tid", static_cast<std::ptrdiff_t>(stream) + 1).key("args").object().member("name", content);
        json.end_object().end_object();
    };
    name("process_name", 0, process);
    for (std::size_t i = 0; i < streams.size(); ++i) name("thread_name", i, streams[i]);
    for (const trace_span& s : spans) {
        json.object().member("name", s.name).member("cat", s.category).member("ph", "X");
        json.member("ts", micro * s.begins).member("dur", micro * s.duration).member("pid", 1);
        json.member("tid", static_cast<std::ptrdiff_t>(s.stream) + 1).key("args").object();
        for (const auto& [key, n] : s.numbers) json.member(key, n);
        for (const auto& [key, text] : s.texts) json.member(key, text);
        json.end_object().end_object();
    }
    json.end_array().end_object();
    return json.text() + '\n';
}

}  // namespace llmcost
