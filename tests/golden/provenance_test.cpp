// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "golden_compare.hpp"
#include "heads_file.hpp"
#include "vision_file.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <llmcost/bundled/verified_types.hpp>

// What is known of each type and how it is held: written from the goldens that the tests run, into a table that
// `llmcost models` prints and a page. LLMCOST_UPDATE=1 writes both anew.
using namespace llmcost::testing;

namespace {

const std::filesystem::path top = std::filesystem::path(LLMCOST_TEST_DIR).parent_path();

/// What the goldens of one type hold.
struct type_coverage {
    std::vector<std::string> configurations;
    std::set<std::string> runs;        ///< kinds of forward passes
    std::set<std::string> modalities;  ///< what towers were shown
    bool training = false;
    bool half = false;      ///< training in bfloat16
    bool backward = false;  ///< what backward executes, primitive by primitive
    std::vector<std::string> exceptions;
};

std::string repository(std::string name) {
    name = name.substr(0, name.find("--"));  // a class of it
    const std::size_t at = name.find("__");
    if (name.starts_with("default__")) return "its defaults";
    if (name.starts_with("variant__") || name.starts_with("synthetic__")) return "small variants";
    return at == std::string::npos ? name : name.replace(at, 2, "/");
}

std::map<std::string, type_coverage> collect_coverage() {
    std::map<std::string, type_coverage> all;
    for (const llmcost::model_spec* row : parts::rows) all[std::string(row->model_type)];
    std::vector<std::filesystem::path> paths = golden_paths(golden_folder());
    for (std::filesystem::path& path : golden_paths(media_folder())) paths.push_back(std::move(path));
    for (const std::filesystem::path& path : paths) {
        const golden_file golden = read_golden(path);
        type_coverage& coverage = all[golden.model_type];
        const std::string repository_name = repository(golden.name);
        if (std::find(coverage.configurations.begin(), coverage.configurations.end(), repository_name) ==
            coverage.configurations.end())
            coverage.configurations.push_back(repository_name);
        for (const golden_run& run : golden.runs) {
            if (run.unknown.empty()) coverage.runs.insert(run.kind);
            if (run.shows.images > 0) coverage.modalities.insert("images");
            if (run.shows.videos > 0) coverage.modalities.insert("videos");
            if (run.shows.milliseconds > 0) coverage.modalities.insert("sound");
            for (const auto& [call, times] : run.unknown)
                coverage.exceptions.push_back(run.kind + ": " + call + " has no price");
        }
        for (const golden_training& step : golden.trainings) {
            coverage.training = true;
            coverage.half = coverage.half || step.type == llmcost::dtype::bfloat16;
            coverage.backward = coverage.backward || step.has_backward;
        }
        for (const auto& [kind, message] : golden.errors)
            coverage.exceptions.push_back(kind + ": the reference cannot run it");
    }
    for (const auto& [type, name] : read_open_classes())
        if (all.contains(type)) all[type].exceptions.push_back(name + " is not described");
    for (auto& [type, coverage] : all) {
        std::sort(coverage.exceptions.begin(), coverage.exceptions.end());
        coverage.exceptions.erase(std::unique(coverage.exceptions.begin(), coverage.exceptions.end()),
                                  coverage.exceptions.end());
    }
    return all;
}

template <class Range>
std::string join_names(const Range& names) {
    std::string out;
    for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
    return out;
}
std::string training_of(const type_coverage& coverage) {
    if (!coverage.training) return "no";
    return std::string("saved bytes, FLOPs") + (coverage.backward ? ", backward's primitives" : "") +
           (coverage.half ? ", bfloat16" : "");
}

std::string header_of(const std::map<std::string, type_coverage>& all) {
    std::string out = R"(// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <llmcost/bundled/verified_type.hpp>

// Written by tests/golden/provenance_test.cpp from the goldens that the tests run.
namespace llmcost {

/// The reference of all of them.
inline constexpr std::string_view verified_reference = "Transformers 5.23.0, torch 2.15.0";

// clang-format off
inline constexpr verified_type verified_types[]{
)";
    std::size_t width = 0;
    for (const auto& [type, coverage] : all) {
        const std::string row = "{\"" + type + "\", \"" + join_names(coverage.configurations) + "\", \"" +
                                join_names(coverage.runs) + "\", \"" + training_of(coverage) + "\", \"" +
                                join_names(coverage.exceptions) + "\", \"" + join_names(coverage.modalities) + "\"},";
        const bool fits_line = width > 0 && width + 1 + row.size() <= 200;
        out += (fits_line ? " " : width > 0 ? "\n    " : "    ") + row;
        width = fits_line ? width + 1 + row.size() : 4 + row.size();
    }
    return out + R"(
};
// clang-format on

/// The same with their reference, as a value.
inline constexpr verified_table every_verified{verified_reference, verified_types};

}  // namespace llmcost
)";
}

std::string page_of(const std::map<std::string, type_coverage>& all) {
    std::ostringstream out;
    out << "<!-- SPDX-FileCopyrightText: 2026 The llmcost authors -->\n<!-- SPDX-License-Identifier: Apache-2.0 -->\n"
        << "# Models\n\n"
        << "The " << all.size() << " model types that llmcost knows, and how each is held. The reference is "
        << "Transformers 5.23.0 with torch 2.15.0.\nEvery figure of every module of these runs is compared with `==`: "
        << "[counting.md](counting.md) says what they mean.\n\n"
        << "This page is written by `tests/golden/provenance_test.cpp` from the goldens that the tests run; `llmcost "
           "models` "
           "prints the same.\n\n"
        << "| type | held against | forward passes | shown | training | exceptions |\n|---|---|---|---|---|---|\n";
    for (const auto& [type, coverage] : all)
        out << "| `" << type << "` | "
            << (coverage.configurations.empty() ? std::string(llmcost::not_verified)
                                                : join_names(coverage.configurations))
            << " | " << (coverage.runs.empty() ? "tensors only" : join_names(coverage.runs)) << " | "
            << join_names(coverage.modalities) << " | " << training_of(coverage) << " | "
            << join_names(coverage.exceptions) << " |\n";
    out << "\n## Models of torchvision\n\n"
        << "`--model torchvision/NAME`, described in files as [your own](own-models.md) are. Each name is held against "
           "torchvision "
           "0.29.2:\ntensors, classes, every figure of every module over two images of 3x224x224, and of a training "
           "step of "
           "them "
           "FLOPs, what\nbackward executes and the bytes that autograd keeps.\n\n| description | names |\n|---|---|\n";
    const auto list = [&](const std::string& folder) {
        for (const vision_family& family : read_families(folder)) {
            out << "| [" << family.name << ".json](../configs/models/" << folder << '/' << family.name << ".json) |";
            for (const std::string& name : family.variants) out << " `" << name << '`';
            out << " |\n";
        }
    };
    list("torchvision");
    out << "\n## Denoisers of diffusers\n\n"
        << "A `config.json` whose `_class_name` is one of these classes is read by its description, and these "
           "repositories "
           "are "
           "known by\nname. They and small configurations are held against diffusers 0.42.1 in the same figures, for "
           "one "
           "denoising step of two images:\nattention is one fused call.\n\n| description | repositories |\n|---|---|\n";
    list("diffusers");
    out << "\n## Models of timm\n\n"
        << "A `config.json` of timm names an `architecture`. These are described, and known as `timm/NAME`; they are "
           "held "
           "against "
           "timm 1.0.31\nin the same figures as torchvision's, with attention in one fused call.\n\n| description | "
           "names "
           "|\n|---|---|\n";
    list("timm");
    out << "\nThese are torchvision's, though their modules have other names: parameters, every primitive, FLOPs "
           "forward "
           "and "
           "backward, what\nbackward executes and the bytes that autograd keeps are equal.\n\n";
    for (const auto& [name, record] : read_vision_records("timm.txt"))
        if (!name.starts_with("vit_")) out << "`" << name << "` ";
    out << "\n";
    return out.str();
}

std::string text_of(const std::filesystem::path& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("what llmcost and its pages say of a type is what its goldens hold") {
    const std::map<std::string, type_coverage> all = collect_coverage();
    const std::map<std::filesystem::path, std::string> written{
        {top / "include/llmcost/bundled/verified_types.hpp", header_of(all)}, {top / "docs/models.md", page_of(all)}};
    for (const auto& [path, text] : written) {
        if (std::getenv("LLMCOST_UPDATE") != nullptr) std::ofstream(path) << text;
        CHECK_MESSAGE(text_of(path) == text, path << ": run LLMCOST_UPDATE=1 build/tests/golden");
    }
}
