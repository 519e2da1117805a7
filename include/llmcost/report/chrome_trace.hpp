// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

// The Trace Event Format of Chrome, which Perfetto supports.
namespace llmcost {

/// An event on a stream.
struct trace_span {
    std::string name;
    std::string category{};
    std::size_t stream = 0;
    double begins = 0, duration = 0;  ///< s
    std::vector<std::pair<std::string, double>> numbers{};
    std::vector<std::pair<std::string, std::string>> texts{};
};

/// A trace of the streams of one process. Spans of a stream follow each other or are nested.
[[nodiscard]] std::string chrome_trace(const std::string& process, const std::vector<std::string>& streams,
                                       const std::vector<trace_span>& spans);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/report/impl/chrome_trace.ipp>  // IWYU pragma: export
#endif
