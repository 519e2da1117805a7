// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "media_rows.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <sstream>
#include <string>

using namespace llmcost::testing;

namespace {

/// `TOKENS PICTURES HEIGHT WIDTH` of an image, as the oracle writes it: with what it does not tell left out.
std::string format_image_shape(const llmcost::model& m, std::int64_t width, std::int64_t height, bool has_tile_shape) {
    const llmcost::workload load{.images = 1, .image_height = height, .image_width = width};
    try {
        const llmcost::media_shape image = m.spec->compute_media_shapes(m, load).image;
        std::string out = std::to_string(image.num_tokens);
        if (!has_tile_shape) return out + " - - -";
        for (const std::int64_t n : {image.num_tiles, image.height, image.width}) out += " " + std::to_string(n);
        return out;
    } catch (const llmcost::description_error&) {
        return "refused";
    }
}

std::string refused_processor(const std::string& config, const std::string& processor) {
    return refusal_of(config, "{\"preprocessor_config\": " + processor + "}");
}

}  // namespace

// sizes.txt, which tests/oracle/sizes.py writes
TEST_CASE("an image of any size becomes as many tokens as its processor makes of it") {
    const auto rows = for_media_rows("sizes.txt", [](const llmcost::model& m, const std::string& location,
                                                     const std::string& size, const std::string& want) {
        std::istringstream sides(size);
        std::int64_t width = 0, height = 0;
        sides >> width >> height;
        INFO(location << " " << size);
        CHECK(format_image_shape(m, width, height, want.find('-') == std::string::npos) == want);
    });
    CHECK(rows.size() > 50);
}

TEST_CASE("what a processor file says that a tower cannot read is refused where it stands") {
    const auto names = [](const std::string& config, const std::string& processor, const char* pointer) {
        const std::string message = refused_processor(config, processor);
        INFO(message);
        CHECK(message.find(std::string("/preprocessor_config/") + pointer + ":") != std::string::npos);
    };
    const std::string qwen = R"({"model_type": "qwen3_vl"})", internvl = R"({"model_type": "internvl"})";
    names(qwen, R"({"patch_size": 14})", "patch_size");
    names(qwen, R"({"merge_size": 1})", "merge_size");
    names(qwen, R"({"do_resize": false})", "do_resize");
    names(qwen, R"({"size": {"longest_edge": 1003520}})", "size/shortest_edge");
    names(qwen, R"({"size": {"shortest_edge": 100, "longest_edge": 10}})", "size");
    names(R"({"model_type": "cosmos3_edge"})", R"({"size": {"shortest_edge": 100, "longest_edge": 10}})",
          "size/shortest_edge");
    names(qwen, R"({"image_processor": {"patch_size": 14}})", "image_processor/patch_size");
    names(internvl, R"({"size": {"height": 384, "width": 384}})", "size/height");
    names(internvl, R"({"max_patches": 2000000000})", "max_patches");
    names(R"({"model_type": "llava_next"})", R"({"image_grid_pinpoints": [[336, 672]]})", "image_grid_pinpoints");
    names(R"({"model_type": "lfm2_vl"})", R"({"use_thumbnail": false})", "use_thumbnail");
    names(R"({"model_type": "minicpmv4_6", "vision_config": {"patch_size": 14}})", R"({"downsample_mode": "4x"})",
          "downsample_mode");
    names(R"({"model_type": "nemotron_h_omni"})", R"({"max_num_patches": 0})", "max_num_patches");
    names(R"({"model_type": "minimax_m3_vl"})", R"({"size": [336, 336]})", "size");
    // keys that the type's Processor class overrides change nothing
    CHECK(refused_processor(internvl, R"({"crop_to_patches": false})").empty());
}
