// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/report.hpp>

#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include <llmcost/base/inline.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/commands/graph.hpp>
#include <llmcost/cli/commands/report_data.hpp>
#include <llmcost/cli/commands/report_page.hpp>
#include <llmcost/cli/commands/report_pictures.hpp>
#include <llmcost/cli/commands/train.hpp>
#include <llmcost/cli/pages/train_page.hpp>
#include <llmcost/cli/request/memory_fit.hpp>
#include <llmcost/memory/inference.hpp>
#include <llmcost/report/chart.hpp>
#include <llmcost/report/icicle.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::cli::detail {

/// Writes all charts into a directory, which is created if necessary; returns the file names, one per line.
LLMCOST_INLINE std::string write_pictures(const report_pictures& pictures, const std::string& folder) {
    std::error_code problem;
    std::filesystem::create_directories(folder, problem);
    if (problem) throw error(errc::io, printable(folder), "cannot be created: " + problem.message());
    std::string names;
    const auto write = [&](const std::string& file, const svg_picture& drawn) {
        if (!(drawn.height > 0)) return;
        const std::string path = (std::filesystem::path(folder) / (file + ".svg")).string();
        write_file(path, drawn.document());
        names += printable(path) + '\n';
    };
    write(pictures.memory.file, pictures.memory.drawn);
    for (const report_picture& p : pictures.training) write(p.file, p.drawn);
    write("scopes", icicle_picture(pictures.scopes.boxes));
    for (const report_picture& p : pictures.roofline) write(p.file, p.drawn);
    write(pictures.layer.file, pictures.layer.drawn);
    for (const report_picture& p : pictures.sweeps) write(p.file, p.drawn);
    return names;
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE command_output run_report(const arguments& args, const program& io) {
    const std::unique_ptr<reported> r = read_report(args, training_options, io);
    const report_pictures pictures = pictures_of(*r);
    command_output out;
    out.exit_status = exit_code_of_fit(
        r->limit, r->step ? std::max(r->memory.total_bytes(), r->step->needed()) : r->memory.total_bytes());
    if (args.has(option::svg)) out.text = detail::write_pictures(pictures, std::string(args.text(option::svg)));
    if (args.has(option::svg) && !args.has(option::html)) return out;
    std::string page = report_page(*r, pictures, io.verified);
    if (!args.has(option::html)) {
        out.text = std::move(page);
        return out;
    }
    out.file = {std::string(args.text(option::html)), std::move(page)};
    out.text = printable(out.file.name) + '\n' + out.text;
    return out;
}

}  // namespace llmcost::cli
