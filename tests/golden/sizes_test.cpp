// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "golden_models.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "rows.hpp"

using namespace llmcost::testing;

namespace {

llmcost::model read_with_file(const std::string& config, const std::string& processor) {
    llmcost::config_document document = llmcost::parse_config(config, "config.json");
    if (processor != "none") document.set("preprocessor_config", processor);
    return document.read_with([](llmcost::config_view root) { return parts::rows.read(root); });
}

/// `TOKENS PICTURES HEIGHT WIDTH` of an image, as the oracle writes it: with what it does not tell left out.
std::string shown(const llmcost::model& m, std::int64_t width, std::int64_t height, bool told) {
    const llmcost::workload load{.images = 1, .image_height = height, .image_width = width};
    try {
        const llmcost::media_shape image = m.kind->media(m, load).image;
        std::string out = std::to_string(image.tokens);
        if (!told) return out + " - - -";
        for (const std::int64_t n : {image.tiles, image.height, image.width}) out += " " + std::to_string(n);
        return out;
    } catch (const llmcost::description_error&) {
        return "refused";
    }
}

std::string refusal(const std::string& config, const std::string& processor) {
    try {
        (void)read_with_file(config, processor);
    } catch (const llmcost::error& e) {
        return e.what();
    }
    return "";
}

}  // namespace

// sizes.txt, which tests/oracle/sizes.py writes
TEST_CASE("an image of any size becomes as many tokens as its processor makes of it") {
    std::ifstream in(golden_folder() / "sizes.txt");
    std::string line, type, config, processor;
    std::map<std::string, int> rows;
    llmcost::model m;
    while (std::getline(in, line)) {
        const std::size_t space = line.find(' ');
        const std::string word = line.substr(0, space), rest = line.substr(space + 1);
        if (word == "#") continue;
        if (word == "type")
            type = rest;
        else if (word == "config")
            config = rest;
        else if (word == "processor")
            processor = rest, m = read_with_file(config, processor);
        else {
            std::istringstream sides(line);
            std::int64_t width = 0, height = 0;
            sides >> width >> height;
            const std::string want = line.substr(line.find('=') + 2);
            INFO(type << " " << processor << " " << width << "x" << height);
            CHECK(shown(m, width, height, want.find('-') == std::string::npos) == want);
            ++rows[type];
        }
    }
    CHECK(rows.size() > 50);
}

TEST_CASE("what a processor file says that a tower cannot read is refused where it stands") {
    const auto names = [](const std::string& config, const std::string& processor, const char* pointer) {
        const std::string sentence = refusal(config, processor);
        INFO(sentence);
        CHECK(sentence.find(std::string("/preprocessor_config/") + pointer + ":") != std::string::npos);
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
    CHECK(refusal(internvl, R"({"crop_to_patches": false})").empty());
}
