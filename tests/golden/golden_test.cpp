// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "golden_compare.hpp"
#include "heads_file.hpp"

#include <doctest/doctest.h>

#include <exception>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

using namespace llmcost::testing;

namespace {

/// What a golden cannot tell, in words; empty where it tells everything.
std::string left_out(const golden_file& golden) {
    std::string text;
    for (const golden_run& run : golden.runs)
        for (const auto& [call, times] : run.unknown)
            text +=
                "\n  " + run.kind + " is not compared: " + call + " has no price (" + std::to_string(times) + " times)";
    for (const auto& [kind, message] : golden.errors) text += "\n  " + kind + " was not recorded: " + message;
    if (golden.device != "meta") text += "\n  executed on " + golden.device;
    return text;
}

}  // namespace

TEST_CASE("every golden is exact") {
    const std::vector<std::filesystem::path> paths = golden_paths(verified_folder());
    REQUIRE(!paths.empty());
    for (const std::filesystem::path& path : paths) {
        const golden_file golden = read_golden(path);
        const std::string name = golden.name + " (" + golden.model_type + ")";
        if (const std::string text = left_out(golden); !text.empty()) MESSAGE(name << text);
        if (parts::registry.find(golden.model_type) == nullptr) {
            FAIL_CHECK(name << ": no row for this model_type");
            continue;
        }
        try {
            const comparison c = compare(golden, built_from(golden));
            CHECK_MESSAGE(c.differences() == 0, name << ": " << c.text());
        } catch (const std::exception& problem) {
            FAIL_CHECK(name << ": " << std::string(problem.what()));
        }
    }
}

TEST_CASE("every golden that shows images, videos or sound is exact") {
    const std::vector<std::filesystem::path> paths = golden_paths(media_folder());
    REQUIRE(!paths.empty());
    for (const std::filesystem::path& path : paths) {
        const golden_file golden = read_golden(path);
        try {
            const comparison c = compare(golden, built_from(golden));
            CHECK_MESSAGE(c.differences() == 0, golden.name << " (" << golden.model_type << "): " << c.text());
        } catch (const std::exception& problem) {
            FAIL_CHECK(golden.name << " (" << golden.model_type << "): " << std::string(problem.what()));
        }
    }
}

TEST_CASE("every row has a golden, unless the reference has no such model") {
    std::set<std::string> recorded;
    std::vector<std::filesystem::path> paths = golden_paths(golden_folder());
    for (std::filesystem::path& path : golden_paths(media_folder())) paths.push_back(std::move(path));
    for (const std::filesystem::path& path : paths) {
        const golden_file golden = read_golden(path);
        recorded.insert(golden.model_type);
        const llmcost::model m = built_from(golden);  // what it holds is held with it
        recorded.insert(std::string(m.text_model_spec().model_type));
        for (const llmcost::component_model& part : m.components.models)
            if (part.spec != nullptr) recorded.insert(std::string(part.spec->model_type));
    }
    for (const llmcost::model_spec* row : parts::registry)
        CHECK_MESSAGE(recorded.contains(std::string(row->model_type)) != row->is_remote_code,
                      std::string(row->model_type)
                          << (row->is_remote_code ? " is held by a golden" : " is held by no golden"));
}

TEST_CASE("every row has the classes that the reference has, exactly, and no others") {
    for (const llmcost::model_spec* row : parts::registry) {
        if (row->is_remote_code) continue;
        const std::string differences = class_reader(std::string(row->model_type)).differences(*row);
        CHECK_MESSAGE(differences.empty(), std::string(row->model_type) << ": " << differences);
    }
}
