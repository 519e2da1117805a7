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

#include "rows.hpp"

using llmcost::layer_kind;
using llmcost::mixer_kind;
using llmcost::model;
using llmcost::sizes;
namespace arch = llmcost::arch;

// ---- what a planner's compiler can see

static_assert(llmcost::count_model(llmcost::presets::llama_3_2_1b, {}).params == llmcost::count(1'235'814'400));
static_assert(llmcost::presets::gemma_2_2b.dims.layers.mixed());

// a rule of the caller's own, and a row without one
constexpr model dense_first =
    llmcost::planned(arch::mixtral, {.num_hidden_layers = 3}, [](std::int64_t i) { return layer_kind{.experts = i > 0}; });
static_assert(dense_first.kind == &arch::mixtral && dense_first.dims.layers.mixed());
static_assert(!dense_first.dims.layers[0].experts && dense_first.dims.layers[2].experts);
static_assert(llmcost::planned(arch::llama, {.num_hidden_layers = 3}).dims == sizes{.num_hidden_layers = 3});

// nothing but the layers is taken from the row
constexpr model few = llmcost::planned(arch::gemma2, {.num_hidden_layers = 2, .sliding_window = 8});
static_assert(!few.dims.attention_soft_cap && few.dims.sliding_window == 8);
static_assert(few.dims.layers[0].mixer == mixer_kind::sliding_attention);
static_assert(few.dims.layers[1].mixer == mixer_kind::full_attention);

TEST_CASE("a preset is what its bundled configuration says, field by field") {
    for (const llmcost::presets::named_model& preset : llmcost::presets::all) {
        CAPTURE(preset.name);
        const llmcost::bundled_config* config = llmcost::find_bundled(preset.name);
        REQUIRE(config != nullptr);
        CHECK(config->name == preset.name);
        const model read = llmcost::parse_config(config->json, std::string(config->name)).read_with([](llmcost::config_view root) { return parts::rows.read(root); });
        CHECK(preset.literal->kind == read.kind);
        CHECK(preset.literal->dims == read.dims);
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
