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

// `llmcost report`: a model at a workload as one page, and its pictures as files.
namespace llmcost::cli {

namespace detail {

/// Writes every picture into a folder, which is made where it is not there; gives their names, one a line.
inline std::string write_pictures(const report_pictures& pictures, const std::string& folder) {
    std::error_code problem;
    std::filesystem::create_directories(folder, problem);
    if (problem) throw error(errc::io, printable(folder), "could not be made: " + problem.message());
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

/// What `llmcost report` writes: the page into its file, or without one to the standard output.
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

inline constexpr std::array report_options =
    concatenate(model_options, report_lists,
                std::array{option::encoder_sequence, option::image, option::images, option::video, option::videos,
                           option::audio, option::logits, option::attention, option::dtype, option::quantization,
                           option::activation_dtype, option::cache_dtype, option::allocator},
                std::array{option::reported_on, option::calibration}, training_options, std::array{option::with_step},
                std::array{option::html, option::svg}, help_option);

inline constexpr std::array<command_example, 3> report_examples{{
    {"llmcost report --model meta-llama/Llama-3.2-1B --html llama.html", "a page to look at"},
    {"llmcost report --model Qwen/Qwen3-8B --device h200 --training --precision bf16 --html qwen.html",
     "with a training step"},
    {"llmcost report --model openai-community/gpt2 --batch 1,8,64 --sequence 128..1024:x2 --svg pictures",
     "its pictures"},
}};

inline constexpr command report_command{
    .name = "report",
    .summary = "a model at a workload as one page to look at",
    .usage = "(--model NAME | --config FILE) [option]...",
    .description =
        "Figures, memory, modules, a roofline, a layer's graph and sweeps in one page that\n"
        "fetches nothing. Lists of --batch and --sequence are what is swept; their first\n"
        "number is the workload of all else.\n",
    .options = report_options,
    .run = run_report,
    .examples = report_examples};

}  // namespace llmcost::cli
