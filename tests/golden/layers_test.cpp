// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "vision_file.hpp"

#include <doctest/doctest.h>

#include <sstream>

using namespace llmcost::testing;

// What layers of torch.nn are and execute, and U-Nets of them: layers.txt, which tests/oracle/layers.py writes.
namespace {

/// Compares what a description is and executes with what was recorded, line by line.
void compare(const std::string& name, const vision_record& expected, const vision_record& got) {
    INFO(name);
    for (const auto& [bound_key, line] : expected.lines) {
        const auto& key = bound_key;
        if (key == "described" || key == "images") continue;
        CHECK_MESSAGE(got.lines.at(key) == line,
                      key << ": " << (expected.lines.contains("described") ? expected.lines.at("described") : ""));
    }
    CHECK_FALSE(got.lines.contains("folded"));
}

}  // namespace

TEST_CASE("every layer of the table is exact") {
    int num_verified = 0;
    for (const auto& [bound_name, record] : read_vision_records("layers.txt")) {
        const auto& name = bound_name;
        if (!record.lines.contains("described")) continue;
        const llmcost::config_document document = llmcost::parse_config(record.lines.at("described"), name);
        const auto model =
            document.read_with([&](llmcost::config_view root) { return llmcost::custom_model(root, name); });
        compare(name, record, record_of(model.as_model(), two_images(0, 0)));
        ++num_verified;
    }
    CHECK(num_verified > 100);
}

TEST_CASE("the U-Nets of configs/models/unet.json are exact") {
    int num_verified = 0;
    for (const auto& [bound_name, record] : read_vision_records("layers.txt")) {
        const auto& name = bound_name;
        if (!record.lines.contains("images")) continue;
        llmcost::config_document document =
            llmcost::read_config_file((golden_folder() / "../../configs/models/unet.json").string());
        llmcost::cli::use_variant(document, name);
        const auto model =
            document.read_with([&](llmcost::config_view root) { return llmcost::custom_model(root, name); });
        std::istringstream sides(record.lines.at("images"));
        std::int64_t height = 0, width = 0;
        sides >> height >> width;
        compare(name, record, record_of(model.as_model(), two_images(height, width)));
        ++num_verified;
    }
    CHECK(num_verified == 3);
}
