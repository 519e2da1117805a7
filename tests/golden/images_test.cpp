// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "golden_models.hpp"
#include "vision_file.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <set>
#include <sstream>

#include "rows.hpp"

using namespace llmcost::testing;

// Transformers' image classifiers over images of other sizes than their own: images.txt, which tests/oracle/images.py
// writes.
TEST_CASE("a model that takes images of any size is exact at others than its own") {
    std::set<std::string> held;
    for (const auto& [name, record] : read_vision_records("images.txt")) {
        INFO(name);
        const llmcost::config_document config = llmcost::parse_config(record.lines.at("config"), name);
        const llmcost::model m = config.read_with([](llmcost::config_view root) { return parts::rows.read(root); });
        if (!m.kind->any_image) continue;
        held.insert(std::string(m.kind->model_type));
        std::istringstream sides(record.lines.at("workload"));
        std::int64_t height = 0, width = 0;
        sides >> height >> width;
        const vision_record got = record_of(m, two_images(height, width));
        for (const auto& [word, line] : record.lines)
            if (word != "workload" && word != "config") CHECK_MESSAGE(got.lines.at(word) == line, word);
        CHECK_FALSE(got.lines.contains("folded"));
    }
    // goldens that show images hold other sizes, too ("every golden that shows images, videos or sound is exact")
    for (const std::filesystem::path& path : golden_paths(media_folder())) {
        const golden_file golden = read_golden(path);
        const llmcost::model m = built_from(golden);
        const auto other = [&](const llmcost::component& part) {
            for (const golden_run& run : golden.runs)
                if (part.kind != nullptr && run.shows.images > 0 &&
                    run.shows.image_height != static_cast<std::uint64_t>(part.dims.vision.image_height))
                    held.insert(std::string(part.kind->model_type));
        };
        other({m.kind, m.dims});
        for (const llmcost::component& part : m.beside.held) other(part);
    }
    for (const llmcost::architecture* row : parts::rows)
        if (row->any_image)
            CHECK_MESSAGE(held.contains(std::string(row->model_type)), row->model_type << " is not in images.txt");
}
