// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "golden_models.hpp"
#include "vision_file.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <set>
#include <sstream>

#include "registry.hpp"

using namespace llmcost::testing;

// Transformers' image classifiers over images of other sizes than their own: images.txt, which tests/oracle/images.py
// writes.
TEST_CASE("a model that takes images of any size is exact at others than its own") {
    std::set<std::string> tested_types;
    for (const auto& [bound_name, record] : read_vision_records("images.txt")) {
        const auto& name = bound_name;
        INFO(name);
        const llmcost::config_document config = llmcost::parse_config(record.lines.at("config"), name);
        const llmcost::model m = config.read_with([](llmcost::config_view root) { return parts::registry.read(root); });
        if (!m.spec->accepts_any_image_size) continue;
        tested_types.insert(std::string(m.spec->model_type));
        std::istringstream sides(record.lines.at("workload"));
        std::int64_t height = 0, width = 0;
        sides >> height >> width;
        const vision_record got = record_of(m, two_images(height, width));
        for (const auto& [bound_key, line] : record.lines) {
            const auto& key = bound_key;
            if (key != "workload" && key != "config") CHECK_MESSAGE(got.lines.at(key) == line, key);
        }
        CHECK_FALSE(got.lines.contains("folded"));
    }
    // goldens that show images hold other sizes, too ("every golden that shows images, videos or sound is exact")
    for (const std::filesystem::path& path : golden_paths(media_folder())) {
        const golden_file golden = read_golden(path);
        const llmcost::model m = built_from(golden);
        const auto insert_resized_type = [&](const llmcost::component_model& part) {
            for (const golden_run& run : golden.runs)
                if (part.spec != nullptr && run.shows.images > 0 &&
                    run.shows.image_height != static_cast<std::uint64_t>(part.config.vision.image_height))
                    tested_types.insert(std::string(part.spec->model_type));
        };
        insert_resized_type({m.spec, m.config});
        for (const llmcost::component_model& part : m.components.models) insert_resized_type(part);
    }
    for (const llmcost::model_spec* row : parts::registry)
        if (row->accepts_any_image_size)
            CHECK_MESSAGE(tested_types.contains(std::string(row->model_type)),
                          row->model_type << " is not in images.txt");
}
