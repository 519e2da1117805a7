// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <llmcost/distributed/pipeline_schedule.hpp>
#include <llmcost/distributed/schedule_simulation.hpp>
#include <llmcost/report/chart.hpp>

// The time of a pipeline schedule as a picture and as a trace.
namespace llmcost {

/// A picture of forward and backward actions over time. Each rank has one row per stage; bubbles are empty.
///
/// Labels are microbatches. They are omitted where an action is too narrow. The tooltip of an action is its text in
/// PyTorch and its time. Long schedules widen the picture up to 1600 pixels.
[[nodiscard]] svg_picture pipeline_timeline_picture(const chart_text& text,
                                                    const distributed::pipeline_schedule& schedule,
                                                    const distributed::schedule_timeline& timeline);

/// A trace in the Trace Event Format of Chrome: a stream per rank with its computation and waits, and one each with its
/// gathers and reductions if it has any. Transfers between ranks are not part of it, because they overlap.
[[nodiscard]] std::string pipeline_trace(const std::string& process, const distributed::schedule_timeline& timeline);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/report/impl/pipeline_timeline.ipp>  // IWYU pragma: export
#endif
