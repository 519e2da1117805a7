// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "vision_file.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <set>

using namespace llmcost::testing;

namespace {

const std::filesystem::path root = std::filesystem::path(LLMCOST_TEST_DIR).parent_path();

std::string contents_of(const std::filesystem::path& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("what is bundled of torchvision are the files in configs/models/torchvision") {
    const std::filesystem::path path = root / "include/llmcost/bundled/torchvision.hpp";
    const std::map<std::string, vision_record> records = read_vision_records();
    const std::string text = bundled_header(
        {"torchvision", "torchvision/", "torchvision 0.29.2",
         "The classification models of torchvision, each a variant of its family's description.", "vision_test.cpp"},
        [&](const std::string& name) {
            const auto found = records.find(name);
            const std::string model_line = found == records.end() ? " 0" : found->second.lines.at("model");
            return model_line.substr(model_line.find(' ') + 1);
        });
    if (std::getenv("LLMCOST_UPDATE") != nullptr) std::ofstream(path) << text;
    const std::string difference = first_difference(text, contents_of(path));
    CHECK_MESSAGE(difference.empty(), path << ": " << difference << "; run LLMCOST_UPDATE=1 build/tests/golden");
}

TEST_CASE("every model of torchvision is exact") {
    const std::map<std::string, vision_record> records = read_vision_records();
    REQUIRE(!records.empty());
    std::set<std::string> verified_names;
    for (const llmcost::bundled_config& c : llmcost::bundled_torchvision) {
        const std::string name(c.variant);
        verified_names.insert(name);
        INFO(name);
        if (!records.contains(name)) {
            FAIL_CHECK("torchvision.txt has no record of it");
            continue;
        }
        const llmcost::custom_model custom = build_custom_model(c);
        const vision_record got = record_of(custom.as_model());
        for (const auto& [bound_key, line] : records.at(name).lines) {
            const auto& key = bound_key;
            CHECK_MESSAGE(got.lines.at(key) == line, key << ": see tests/oracle/vision.py --against");
        }
        CHECK_FALSE(got.lines.contains("folded"));
    }
    for (const auto& [bound_name, record] : records) {
        const auto& name = bound_name;
        CHECK_MESSAGE(verified_names.contains(name), name << " is not described");
    }
}
