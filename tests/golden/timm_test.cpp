// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "vision_file.hpp"

#include <llmcost/bundled/timm.hpp>
#include <llmcost/cli/request/class_config.hpp>

#include <doctest/doctest.h>

#include <cstdlib>
#include <set>
#include <sstream>

using namespace llmcost::testing;

// Models of timm by the `architecture` of their configurations: timm.txt, which tests/oracle/timm_models.py writes.
namespace {

/// The first so many words of a line.
std::string extract_fields(const std::string& line, int n, int offset = 0) {
    std::istringstream in(line);
    std::string out, text;
    for (int i = 0; i < offset + n && in >> text; ++i)
        if (i >= offset) out += text + ' ';
    return out;
}

}  // namespace

TEST_CASE("what is bundled of timm are the files in configs/models/timm") {
    const std::filesystem::path path = golden_folder() / "../../include/llmcost/bundled/timm.hpp";
    const std::map<std::string, vision_record> records = read_vision_records("timm.txt");
    const std::string text = bundled_header(
        {"timm", "timm/", "timm 1.0.31", "Models of timm, each a variant of its family's description.",
         "timm_test.cpp"},
        [&](const std::string& name) {
            const auto found = records.find(name);
            const std::string model_line = found == records.end() ? " 0" : found->second.lines.at("model");
            return model_line.substr(model_line.find(' ') + 1);
        });
    if (std::getenv("LLMCOST_UPDATE") != nullptr) std::ofstream(path) << text;
    std::ifstream in(path);
    const std::string shipped{std::istreambuf_iterator<char>(in), {}};
    const std::string difference = first_difference(text, shipped);
    CHECK_MESSAGE(difference.empty(), path << ": " << difference << "; run LLMCOST_UPDATE=1 build/tests/golden");
}

TEST_CASE("every architecture of timm that a description names is exact") {
    std::vector<vision_family> families = read_families("torchvision"), timm_families = read_families("timm");
    std::set<std::string> timm_names;
    for (const vision_family& f : timm_families) timm_names.insert(f.variants.begin(), f.variants.end());
    families.insert(families.end(), timm_families.begin(), timm_families.end());
    std::vector<llmcost::bundled_config> classes;
    for (const vision_family& f : families) classes.push_back({f.name, "", f.json, 0, f.variants.front()});
    const std::map<std::string, vision_record> records = read_vision_records("timm.txt");
    REQUIRE(records.size() > 40);
    for (const auto& [bound_name, record] : records) {
        const auto& name = bound_name;
        INFO(name);
        const llmcost::config_document config = llmcost::parse_config(record.lines.at("config"), name);
        const auto description = llmcost::cli::description_from_architecture(config, classes);
        REQUIRE(description.has_value());
        const auto model =
            description->read_with([&](llmcost::config_view root) { return llmcost::custom_model(root, name); });
        llmcost::workload load = two_images(0, 0);
        const vision_record got = record_of(model.as_model(), load);
        if (timm_names.contains(name)) {
            for (const auto& [bound_key, line] : record.lines) {
                const auto& key = bound_key;
                if (key != "workload" && key != "config") CHECK_MESSAGE(got.lines.at(key) == line, key);
            }
            continue;
        }
        // torchvision's modules have other names, and hand out other parts of the same work
        CHECK(extract_fields(got.lines.at("model"), 1, 1) == extract_fields(record.lines.at("model"), 1, 1));
        CHECK(extract_fields(got.lines.at("total"), 12) == extract_fields(record.lines.at("total"), 12));
        for (const char* key : {"torch", "saved", "backward"})
            CHECK_MESSAGE(got.lines.at(key) == record.lines.at(key), key);
    }
}
