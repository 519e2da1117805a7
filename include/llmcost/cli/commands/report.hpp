// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include <llmcost/cli/args/command.hpp>
#include <llmcost/cli/commands/graph.hpp>
#include <llmcost/cli/commands/report_page.hpp>

// `llmcost report`: an HTML page of a model and a workload, and its charts as files.
namespace llmcost::cli {

namespace detail {

/// Writes all charts into a directory, which is created if necessary; returns the file names, one per line.
inline std::string write_pictures(const report_pictures& pictures, const std::string& folder) {
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

}  // namespace detail

/// Runs `llmcost report`. Writes the page to its file, or to standard output.
[[nodiscard]] inline command_output run_report(const arguments& args, const program& io) {
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

inline constexpr std::array report_options = concatenate(
    with_section("Model", model_options),
    with_section("Workload",
                 concatenate(report_lists, std::array{option::encoder_sequence, option::logits, option::attention})),
    with_section("Multimodal inputs", multimodal_options), with_section("Training", std::array{option::with_step}),
    without_first_section(training_options),
    with_section("Hardware and engine", std::array{option::reported_on, option::calibration, option::allocator}),
    with_section("Precision",
                 std::array{option::dtype, option::quantization, option::activation_dtype, option::cache_dtype}),
    with_section("Output", std::array{option::html, option::svg}), help_option);

inline constexpr std::array<command_example, 3> report_examples{{
    {"llmcost report --model meta-llama/Llama-3.2-1B --html llama.html", "a report of one model"},
    {"llmcost report --model Qwen/Qwen3-8B --device h200 --training --precision bf16 --html qwen.html",
     "a report with a training step"},
    {"llmcost report --model openai-community/gpt2 --batch 1,8,64 --sequence 128..1024:x2 --svg pictures",
     "charts as SVG files"},
}};

inline constexpr command report_command{
    .name = "report",
    .summary = "Write an HTML report of a model and a workload",
    .usage = "(--model NAME | --config FILE) [options]",
    .description =
        "Writes an HTML page without external resources: metrics, memory, modules, a roofline, the graph\n"
        "of a layer, and sweeps. LIST, e.g. 1,8,64..512:x2, sets the values of a sweep; its first value is\n"
        "the workload of all other sections.\n"
        "Exit code 8: the workload does not fit into the memory of --device.\n",
    .options = report_options,
    .run = run_report,
    .examples = report_examples};

}  // namespace llmcost::cli
