// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "golden_models.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>

// What an engine keeps of images, videos and sound, by what was recorded.
namespace llmcost::testing {

namespace {

/// How many modules of a list hold recorded parameters.
std::size_t listed(const golden_file& golden, const std::string& list) {
    std::set<std::string> numbers;
    for (const auto& [name, shape] : golden.tensors)
        if (const std::size_t position = name.find(list + '.'); position != std::string::npos) {
            const std::size_t begin = position + list.size() + 1;
            numbers.insert(name.substr(begin, name.find('.', begin) - begin));
        }
    return numbers.size();
}
/// Features of each token of a picture that the text is handed: those in the place of its word, and those that layers
/// add.
std::size_t features_of_picture(const golden_file& golden) {
    const std::size_t of_layers = listed(golden, "layerwise_projectors") + listed(golden, "spatial_projectors");
    return of_layers > 0 ? of_layers : 1 + listed(golden, "merger_list") + listed(golden, "deepstack_mergers");
}

}  // namespace

// As many embeddings as tokens were recorded for the multimodal inputs, each as wide as the text's, of 4 bytes.
TEST_CASE("an encoder's cache holds an embedding for each token that stands for what is shown") {
    std::size_t num_cached_runs = 0;
    for (const std::filesystem::path& path : golden_paths(media_folder())) {
        const golden_file golden = read_golden(path);
        if (parts::registry.find(golden.model_type) == nullptr) continue;
        const model built = built_from(golden);
        for (const golden_run& run : golden.runs) {
            const std::uint64_t pictures = run.tokens[0] + run.tokens[1], sound = run.tokens[2];
            const std::uint64_t features = run.past > 0 ? 0 : pictures * features_of_picture(golden) + sound;
            const count elements = count(run.batch) * count(features) * count(built.config.hidden_size);
            INFO(golden.name);
            INFO(features);
            CHECK(count_model(built, workload_of(run)).encoder_cache_bytes == elements * count(4));
            num_cached_runs += features > 0 ? 1 : 0;
        }
    }
    CHECK(num_cached_runs > 100);
}

}  // namespace llmcost::testing
