// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include <llmcost/cli/command.hpp>
#include <llmcost/cli/graph.hpp>
#include <llmcost/cli/report_page.hpp>

// `llmcost report`: a model at a workload as one page, and its pictures as files.
namespace llmcost::cli {

namespace detail {

/// Writes every picture into a folder, which is made where it is not there; gives their names, one a line.
inline std::string write_pictures(const report_pictures& shown, const std::string& folder) {
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
    write(shown.memory.file, shown.memory.drawn);
    for (const report_picture& p : shown.training) write(p.file, p.drawn);
    write("scopes", icicle_picture(shown.scopes.boxes));
    for (const report_picture& p : shown.roofline) write(p.file, p.drawn);
    write(shown.layer.file, shown.layer.drawn);
    for (const report_picture& p : shown.sweeps) write(p.file, p.drawn);
    return names;
}

}  // namespace detail

/// What `llmcost report` writes: the page into its file, or without one to the standard output.
[[nodiscard]] inline answered report_answer(const arguments& given, const program& io) {
    const std::unique_ptr<reported> r = read_report(given, training_options, io);
    const report_pictures shown = pictures_of(*r);
    answered out;
    out.code = code_of(r->room, r->step ? std::max(r->held.total(), r->step->needed()) : r->held.total());
    if (given.has(option::svg)) out.text = detail::write_pictures(shown, std::string(given.text(option::svg)));
    if (given.has(option::svg) && !given.has(option::html)) return out;
    std::string page = report_page(*r, shown, io.verified);
    if (!given.has(option::html)) {
        out.text = std::move(page);
        return out;
    }
    out.file = {std::string(given.text(option::html)), std::move(page)};
    out.text = printable(out.file.name) + '\n' + out.text;
    return out;
}

inline constexpr std::array report_options =
    joined(model_options, report_lists,
           std::array{option::encoder_sequence, option::image, option::images, option::video, option::videos, option::audio, option::logits, option::attention, option::dtype,
                      option::quantization, option::activation_dtype, option::cache_dtype, option::allocator},
           std::array{option::reported_on, option::calibration}, training_options, std::array{option::with_step},
           std::array{option::html, option::svg}, help_option);

inline constexpr std::array<example_row, 3> report_examples{{
    {"llmcost report --model meta-llama/Llama-3.2-1B --html llama.html", "a page to look at"},
    {"llmcost report --model Qwen/Qwen3-8B --device h200 --training --precision bf16 --html qwen.html",
     "with a training step"},
    {"llmcost report --model openai-community/gpt2 --batch 1,8,64 --sequence 128..1024:x2 --svg pictures", "its pictures"},
}};

inline constexpr command report_command{
    .name = "report",
    .meaning = "a model at a workload as one page to look at",
    .usage = "(--model NAME | --config FILE) [option]...",
    .about =
        "Figures, memory, modules, a roofline, a layer's graph and sweeps in one page that\n"
        "fetches nothing. Lists of --batch and --sequence are what is swept; their first\n"
        "number is the workload of all else.\n",
    .options = report_options,
    .answer = report_answer,
    .examples = report_examples};

}  // namespace llmcost::cli
