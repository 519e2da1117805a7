// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/device_options.hpp>
#include <llmcost/cli/args/input_labels.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/sweep.hpp>
#include <llmcost/cli/args/workload_request.hpp>
#include <llmcost/cli/commands/graph_devices.hpp>
#include <llmcost/cli/pages/role_totals.hpp>
#include <llmcost/cli/pages/train_page.hpp>
#include <llmcost/cli/request/memory_fit.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/cli/request/request.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/graph/operator_table.hpp>
#include <llmcost/graph/pass_graph.hpp>
#include <llmcost/memory/inference.hpp>
#include <llmcost/text/messages.hpp>
#include <llmcost/torch/step.hpp>

// The data of `llmcost report`, computed by the analyses of other commands.
namespace llmcost::cli {

namespace option {

inline constexpr option_spec html{.name = "--html",
                                  .value = "FILE",
                                  .type = value_type::file,
                                  .help = "output file of the page (default: standard output)"};
inline constexpr option_spec svg{
    .name = "--svg", .value = "DIR", .type = value_type::directory, .help = "output directory, one SVG file per chart"};
inline constexpr option_spec with_step = with_help(option::training, "include the memory of a training step over time");
inline constexpr option_spec reported_on =
    with_help(option::device, "device of the roofline and of the memory check (default: roofline of h100_sxm)");

}  // namespace option

/// The default device of a report.
inline constexpr std::string_view usual_device = "h100_sxm";

/// The options of a report that accept lists.
inline constexpr std::array report_lists{accepts_list(option::batch), accepts_list(option::sequence),
                                         accepts_list(option::past)};

/// An axis of a sweep.
struct swept_number {
    std::string name;
    std::int64_t workload::*member;
    std::vector<std::int64_t> values;
};

/// The graph of a pass with its times on a device.
struct reported_pass {
    workload load{};  ///< workload in the element types of the device
    operator_graph graph{};
    graph_device device{};
    seconds_of_operations seconds{};
    std::optional<torch_step> torch{};  ///< of `--engine torch`
    std::string problem{};              ///< why there are no times; empty: there are

    [[nodiscard]] bool timed() const noexcept { return device.target_device != nullptr; }
    [[nodiscard]] std::string device_title() const { return printable(device.target_device->title); }
};

/// The data of a report.
struct reported {
    parsed_model read;
    llmcost::cli::request request{};
    role_results roles{};
    engine_memory_profile memory_profile{};
    memory_limit limit{};
    workload memory_load{};  ///< workload of the memory section: one step
    inference_memory memory{};
    reported_pass pass{};
    std::optional<detail::training_response> step{};
    std::vector<swept_number> sweeps{};
    std::string command{};  ///< command line of this report
    bool command_names_device = false;

    [[nodiscard]] const workload& load() const { return request.workload.base_workload; }
    [[nodiscard]] bool tokens() const { return input_unit_of(request) == input_unit::token; }
};

/// Computes the data of a report. Throws: `usage`.
[[nodiscard]] std::unique_ptr<reported> read_report(const arguments& typed, std::span<const option_spec> training,
                                                    const program& io);

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/report_data.ipp>  // IWYU pragma: export
#endif
