// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "vision_file.hpp"

#include <llmcost/bundled/diffusers.hpp>
#include <llmcost/cli/request/class_config.hpp>

#include <doctest/doctest.h>

#include <cstdlib>
#include <sstream>

using namespace llmcost::testing;

// Denoisers of diffusers by their configurations: diffusers.txt, which tests/oracle/diffusion.py writes.
namespace {

/// A description as configurations by class and bundled names find it.
std::vector<llmcost::bundled_config> make_bundled_classes(const std::vector<vision_family>& families) {
    std::vector<llmcost::bundled_config> all;
    for (const vision_family& f : families) all.push_back({f.name, "", f.json, 0, f.variants.front()});
    return all;
}

llmcost::workload work_of(const vision_record& record) {
    std::istringstream sides(record.lines.at("workload"));
    std::int64_t height = 0, width = 0, tokens = 0;
    sides >> height >> width >> tokens;
    llmcost::workload load = two_images(height, width);
    load.sequence = tokens;
    return load;
}

void compare_with(const vision_record& record, const llmcost::config_document& description, const std::string& name) {
    const auto model =
        description.read_with([&](llmcost::config_view root) { return llmcost::custom_model(root, name); });
    const vision_record got = record_of(model.as_model(), work_of(record));
    for (const auto& [bound_key, line] : record.lines) {
        const auto& key = bound_key;
        if (key == "workload" || key == "config") continue;
        CHECK_MESSAGE(got.lines.at(key) == line, key << ": see tests/oracle/diffusion.py --against");
    }
    CHECK_FALSE(got.lines.contains("folded"));
}

}  // namespace

TEST_CASE("what is bundled of diffusers are the files in configs/models/diffusers") {
    const std::filesystem::path path = golden_folder() / "../../include/llmcost/bundled/diffusers.hpp";
    const std::map<std::string, vision_record> records = read_vision_records("diffusers.txt");
    const std::string text = bundled_header(
        {"diffusers", "", "its own config.json", "Denoisers of diffusers, each a variant of its class's description.",
         "diffusers_test.cpp"},
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

TEST_CASE("every configuration of diffusers is exact") {
    const std::vector<vision_family> families = read_families("diffusers");
    const std::vector<llmcost::bundled_config> classes = make_bundled_classes(families);
    const std::map<std::string, vision_record> records = read_vision_records("diffusers.txt");
    REQUIRE(!records.empty());
    for (const auto& [bound_name, record] : records) {
        const auto& name = bound_name;
        INFO(name);
        const llmcost::config_document config = llmcost::parse_config(record.lines.at("config"), name);
        const auto description = llmcost::cli::description_from_class(config, classes);
        REQUIRE(description.has_value());
        compare_with(record, *description, name);
    }
    for (const vision_family& family : families)  // by its bundled name
        for (const std::string& variant : family.variants) {
            INFO(variant);
            REQUIRE(records.contains(variant));
            llmcost::config_document description = llmcost::parse_config(family.json, family.name);
            llmcost::cli::use_variant(description, variant);
            compare_with(records.at(variant), description, variant);
        }
}
