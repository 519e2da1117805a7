// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/presets.hpp>

#include <llmcost/bundled/all.hpp>
#include <llmcost/json.hpp>
#include <llmcost/llmcost.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "registry.hpp"

using llmcost::layer_spec;
using llmcost::model;
using llmcost::model_config;
using llmcost::token_mixer_kind;
namespace arch = llmcost::arch;

// ---- what a planner's compiler can see

static_assert(llmcost::count_model(llmcost::presets::llama_3_2_1b, {}).params == llmcost::count(1'235'814'400));
static_assert(llmcost::presets::gemma_2_2b.config.layers.is_heterogeneous());

// a rule of the caller's own, and a row without one
constexpr model dense_first = llmcost::planned(arch::mixtral, {.num_hidden_layers = 3},
                                               [](std::int64_t i) { return layer_spec{.has_experts = i > 0}; });
static_assert(dense_first.spec == &arch::mixtral && dense_first.config.layers.is_heterogeneous());
static_assert(!dense_first.config.layers[0].has_experts && dense_first.config.layers[2].has_experts);
static_assert(llmcost::planned(arch::llama, {.num_hidden_layers = 3}).config == model_config{.num_hidden_layers = 3});

// nothing but the layers is taken from the row
constexpr model small_gemma2 = llmcost::planned(arch::gemma2, {.num_hidden_layers = 2, .sliding_window = 8});
static_assert(!small_gemma2.config.attention_soft_cap && small_gemma2.config.sliding_window == 8);
static_assert(small_gemma2.config.layers[0].token_mixer == token_mixer_kind::sliding_attention);
static_assert(small_gemma2.config.layers[1].token_mixer == token_mixer_kind::full_attention);

TEST_CASE("a preset is what its bundled configuration says, field by field") {
    for (const llmcost::presets::named_model& preset : llmcost::presets::all) {
        CAPTURE(preset.name);
        const llmcost::bundled_config* config = llmcost::find_bundled(preset.name);
        REQUIRE(config != nullptr);
        CHECK(config->name == preset.name);
        const model read =
            llmcost::parse_config(config->json, std::string(config->name)).read_with([](llmcost::config_view root) {
                return parts::registry.read(root);
            });
        CHECK(preset.literal->spec == read.spec);
        CHECK(preset.literal->config == read.config);
    }
}

TEST_CASE("a preset has the parameters of the reference") {
    for (const llmcost::presets::named_model& preset : llmcost::presets::all) {
        CAPTURE(preset.name);
        const llmcost::bundled_config* config = llmcost::find_bundled(preset.name);
        REQUIRE(config != nullptr);
        const llmcost::count counted = llmcost::count_model(*preset.literal, {.sequence = 1}).params;
        CHECK(llmcost::count_text{counted}.view() == std::to_string(config->parameters));
    }
}

TEST_CASE("the list of presets is whole") {
    std::ifstream in(std::string(LLMCOST_TEST_DIR) + "/../include/llmcost/presets.hpp");
    REQUIRE(in);
    std::size_t written = 0;
    for (std::string line; std::getline(in, line);)
        if (line.starts_with("inline constexpr model ")) ++written;
    CHECK(written == std::size(llmcost::presets::all));
}
