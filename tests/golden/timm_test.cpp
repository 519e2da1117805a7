// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "vision_file.hpp"

#include <llmcost/bundled/timm.hpp>
#include <llmcost/cli/class_config.hpp>

#include <doctest/doctest.h>

#include <cstdlib>
#include <set>
#include <sstream>

using namespace llmcost::testing;

// Models of timm by the `architecture` of their configurations: timm.txt, which tests/oracle/timm_models.py writes.
namespace {

/// The first so many words of a line.
std::string words_of(const std::string& line, int n, int from = 0) {
    std::istringstream in(line);
    std::string out, word;
    for (int i = 0; i < from + n && in >> word; ++i)
        if (i >= from) out += word + ' ';
    return out;
}

}  // namespace

TEST_CASE("what is bundled of timm are the files in configs/models/timm") {
    const std::filesystem::path path = golden_folder() / "../../include/llmcost/bundled/timm.hpp";
    const std::map<std::string, vision_record> records = read_vision_records("timm.txt");
    const std::string text = bundled_header(
        {"timm", "timm/", "timm 1.0.31", "Models of timm, each a variant of its family's description.", "timm_test.cpp"},
        [&](const std::string& name) {
            const auto found = records.find(name);
            const std::string held = found == records.end() ? " 0" : found->second.lines.at("model");
            return held.substr(held.find(' ') + 1);
        });
    if (std::getenv("LLMCOST_UPDATE") != nullptr) std::ofstream(path) << text;
    std::ifstream in(path);
    const std::string shipped{std::istreambuf_iterator<char>(in), {}};
    CHECK_MESSAGE(shipped == text, path << ": run LLMCOST_UPDATE=1 build/tests/golden");
}

TEST_CASE("every architecture of timm that a description names is exact") {
    std::vector<vision_family> families = read_families("torchvision"), own = read_families("timm");
    std::set<std::string> own_names;
    for (const vision_family& f : own) own_names.insert(f.variants.begin(), f.variants.end());
    families.insert(families.end(), own.begin(), own.end());
    std::vector<llmcost::bundled_config> classes;
    for (const vision_family& f : families) classes.push_back({f.name, "", f.json, 0, f.variants.front()});
    const std::map<std::string, vision_record> records = read_vision_records("timm.txt");
    REQUIRE(records.size() > 40);
    for (const auto& [name, record] : records) {
        INFO(name);
        const llmcost::config_document config = llmcost::parse_config(record.lines.at("config"), name);
        const auto description = llmcost::cli::described_by_architecture(config, classes);
        REQUIRE(description.has_value());
        const auto model =
            description->read_with([&](llmcost::config_view root) { return llmcost::described_model(root, name); });
        llmcost::workload load = two_images(0, 0);
        const vision_record got = record_of(model.subject(), load);
        if (own_names.contains(name)) {
            for (const auto& [word, line] : record.lines)
                if (word != "workload" && word != "config") CHECK_MESSAGE(got.lines.at(word) == line, word);
            continue;
        }
        // torchvision's modules have other names, and hand out other parts of the same work
        CHECK(words_of(got.lines.at("model"), 1, 1) == words_of(record.lines.at("model"), 1, 1));
        CHECK(words_of(got.lines.at("total"), 12) == words_of(record.lines.at("total"), 12));
        for (const char* word : {"torch", "saved", "backward"})
            CHECK_MESSAGE(got.lines.at(word) == record.lines.at(word), word);
    }
}
