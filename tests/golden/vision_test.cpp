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

/// JSON without the blanks between its words.
std::string without_blanks(const std::string& json) {
    std::string out;
    bool quoted = false;
    for (const char c : json) {
        if (c == '"') quoted = !quoted;
        if (quoted || (c != ' ' && c != '\n')) out += c;
    }
    return out;
}

/// The header that bundles the descriptions of `configs/models/torchvision`.
std::string bundled_header(const std::map<std::string, vision_record>& records) {
    std::string families;
    std::map<std::string, std::string> family_of;
    for (const vision_family& family : read_vision_families()) {
        families += "inline constexpr std::string_view described_" + family.name + " =\n    R\"json(" +
                    without_blanks(family.json) + ")json\"sv;\n";
        for (const std::string& variant : family.variants) family_of[variant] = family.name;
    }
    std::string rows;
    for (const auto& [name, family] : family_of) {
        const auto found = records.find(name);
        const std::string held = found == records.end() ? " 0" : found->second.lines.at("model");
        rows += "    {\"torchvision/" + name + "\"sv, \"torchvision 0.29.2\"sv, detail::described_" + family + ", " +
                held.substr(held.find(' ') + 1) + ", \"" + name + "\"sv},\n";
    }
    return R"(// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/bundled/bundled_config.hpp>

// Written by tests/golden/vision_test.cpp from configs/models/torchvision.
namespace llmcost {

// clang-format off
namespace detail {

)" + families +
           R"(
}  // namespace detail

/// The classification models of torchvision, each a variant of its family's description.
inline constexpr bundled_config bundled_torchvision[] = {
)" + rows + R"(};
// clang-format on

}  // namespace llmcost
)";
}

}  // namespace

TEST_CASE("what is bundled of torchvision are the files in configs/models/torchvision") {
    const std::filesystem::path path = root / "include/llmcost/bundled/torchvision.hpp";
    const std::string text = bundled_header(read_vision_records());
    if (std::getenv("LLMCOST_UPDATE") != nullptr) std::ofstream(path) << text;
    CHECK_MESSAGE(contents_of(path) == text, path << ": run LLMCOST_UPDATE=1 build/tests/golden");
}

TEST_CASE("every model of torchvision is exact") {
    const std::map<std::string, vision_record> records = read_vision_records();
    REQUIRE(!records.empty());
    std::set<std::string> described;
    for (const llmcost::bundled_config& c : llmcost::bundled_torchvision) {
        const std::string name(c.variant);
        described.insert(name);
        INFO(name);
        if (!records.contains(name)) {
            FAIL_CHECK("torchvision.txt has no record of it");
            continue;
        }
        const llmcost::described_model held = described_by(c);
        const vision_record got = record_of(held.subject());
        for (const auto& [word, line] : records.at(name).lines)
            CHECK_MESSAGE(got.lines.at(word) == line, word << ": see tests/oracle/vision.py --against");
        CHECK_FALSE(got.lines.contains("folded"));
    }
    for (const auto& [name, record] : records) CHECK_MESSAGE(described.contains(name), name << " is not described");
}
