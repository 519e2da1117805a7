// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "golden_file.hpp"

#include <llmcost/json.hpp>
#include <llmcost/llmcost.hpp>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "registry.hpp"

namespace llmcost::testing {

/// The folder of the goldens, in the sources.
[[nodiscard]] inline std::filesystem::path golden_folder() {
    return std::filesystem::path(LLMCOST_TEST_DIR) / "golden";
}

/// The folder of those that show something: images, videos, sound.
[[nodiscard]] inline std::filesystem::path media_folder() { return golden_folder() / "media"; }

/// The folder whose goldens are held: the sources', or the one that `LLMCOST_GOLDENS` names (tests/oracle/draw.py).
[[nodiscard]] inline std::filesystem::path verified_folder() {
    const char* named = std::getenv("LLMCOST_GOLDENS");
    return named != nullptr ? std::filesystem::path(named) : golden_folder();
}

/// Whether a golden's configuration names a registered model type: reads only the text of the configuration.
[[nodiscard]] inline bool names_registered_type(std::filesystem::path path) {
    std::ifstream in(path.replace_extension(".json"));
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    for (const llmcost::model_registry_entry& entry : parts::registry)
        if (text.find('"' + std::string(entry.model_type) + '"') != std::string::npos) return true;
    return false;
}

/// The model that the library reads from a golden's configuration.
[[nodiscard]] inline model built_from(const golden_file& golden) {
    return read_config_file(golden.config_path.string()).read_with([](config_view root) {
        return parts::registry.read(root);
    });
}

/// The workload that a golden recorded. One that reads no text has one token, which is not used.
[[nodiscard]] inline workload showing(workload load, const golden_media& m) {
    load.images = static_cast<std::int64_t>(m.images);
    load.image_height = static_cast<std::int64_t>(m.image_height);
    load.image_width = static_cast<std::int64_t>(m.image_width);
    load.videos = static_cast<std::int64_t>(m.videos);
    load.video_frames = static_cast<std::int64_t>(m.frames);
    load.video_height = static_cast<std::int64_t>(m.video_height);
    load.video_width = static_cast<std::int64_t>(m.video_width);
    load.audio_milliseconds = static_cast<std::int64_t>(m.milliseconds);
    if (load.sequence == 0) load.sequence = 1;
    return load;
}

/// What the library is asked for a recorded run; float32, as the reference ran.
[[nodiscard]] inline workload workload_of(const golden_run& run) {
    const workload text{.batch = static_cast<std::int64_t>(run.batch),
                        .sequence = static_cast<std::int64_t>(run.sequence),
                        .past = static_cast<std::int64_t>(run.past),
                        .encoder_sequence = static_cast<std::int64_t>(run.encoder_sequence),
                        .weights = dtype::float32};
    return showing(text, run.shows);
}

/// What the library is asked for the recorded training step.
[[nodiscard]] inline workload workload_of(const golden_training& step) {
    const workload text{.batch = static_cast<std::int64_t>(step.batch),
                        .sequence = static_cast<std::int64_t>(step.sequence),
                        .encoder_sequence = static_cast<std::int64_t>(step.encoder_sequence),
                        .weights = step.type,
                        .activations = step.type,
                        .training = true};
    return showing(text, step.shows);
}

/// A golden whose `model_type` the library knows, with its model.
struct golden_model {
    golden_file golden;
    model built;
};

/// Every golden of a known type, in the order of their names.
[[nodiscard]] inline const std::vector<golden_model>& golden_models() {
    static const std::vector<golden_model> all = [] {
        std::vector<golden_model> found;
        for (const std::filesystem::path& path : golden_paths(golden_folder())) {
            golden_file golden = read_golden(path);
            if (parts::registry.find(golden.model_type) == nullptr) continue;
            const model built = built_from(golden);
            found.push_back({std::move(golden), built});
        }
        return found;
    }();
    return all;
}

/// A run's figures in the golden's order, from ours.
[[nodiscard]] inline std::vector<count> columns_of(const llmcost::model_metrics& f) {
    return {f.add,
            f.mult,
            f.div,
            f.sqrt,
            f.exp,
            f.log,
            f.tanh,
            f.erf,
            f.trig,
            f.pow,
            f.neg,
            f.cmp,
            f.module_output_elements,
            f.written_elements};
}

}  // namespace llmcost::testing
