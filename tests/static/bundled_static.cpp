// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/bundled/all.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <string_view>

// The bundled table: every row of every family once, in order, found by name, and shaped as its readers expect.
namespace {

using llmcost::bundled_config;
using llmcost::bundled_configs;
using llmcost::find_bundled;
using llmcost::detail::compare_ignoring_case;
using llmcost::detail::merge_bundled;
using llmcost::detail::names_ascend;

constexpr std::size_t rows_of_all_families =
    std::size(llmcost::bundled_dense) + std::size(llmcost::bundled_encoder) + std::size(llmcost::bundled_gemma) +
    std::size(llmcost::bundled_gpt) + std::size(llmcost::bundled_llama) + std::size(llmcost::bundled_mistral) +
    std::size(llmcost::bundled_mixture) + std::size(llmcost::bundled_qwen) + std::size(llmcost::bundled_state_space) +
    std::size(llmcost::bundled_torchvision) + std::size(llmcost::bundled_diffusers) + std::size(llmcost::bundled_timm) +
    std::size(llmcost::bundled_causal) + std::size(llmcost::bundled_image_text_from_q) +
    std::size(llmcost::bundled_image_text_to_p) + std::size(llmcost::bundled_sound) + std::size(llmcost::bundled_text) +
    std::size(llmcost::bundled_vision);
static_assert(bundled_configs.size() == rows_of_all_families);
static_assert(names_ascend(bundled_configs));

// What the order means, and that the check sees a fault.
static_assert(compare_ignoring_case("Qwen/Qwen3-8B", "qwen/qwen3-8b") == 0);
static_assert(compare_ignoring_case("facebook/opt-125m", "FacebookAI/roberta-base") < 0);
static_assert(compare_ignoring_case("google/gemma-2-9b-it", "google/gemma-2-9b") > 0);
static_assert(compare_ignoring_case("", "a") < 0);

constexpr bundled_config named(std::string_view name) { return {name, "", "", 0}; }
constexpr std::array descending{named("b/model"), named("a/model")};
constexpr std::array twice{named("org/model"), named("org/model")};
constexpr std::array twice_by_case{named("org/Model"), named("ORG/model")};
static_assert(!names_ascend(descending) && !names_ascend(twice) && !names_ascend(twice_by_case));

constexpr bundled_config odd[] = {named("a"), named("C"), named("e")};
constexpr bundled_config even[] = {named("B"), named("d")};
constexpr auto merged = merge_bundled(odd, even);
static_assert(merged.size() == 5 && names_ascend(merged));
static_assert(merged.front().name == "a" && merged[1].name == "B" && merged.back().name == "e");

// Every row is found by its own name, and a name is whole or not found.
constexpr bool every_row_is_found() {
    for (const bundled_config& c : bundled_configs)
        if (find_bundled(c.name) != &c) return false;
    return true;
}
static_assert(every_row_is_found());
static_assert(find_bundled("META-llama/llama-3.2-1b") == find_bundled("meta-llama/Llama-3.2-1B"));
static_assert(find_bundled("META-llama/llama-3.2-1b")->name == "meta-llama/Llama-3.2-1B");
static_assert(find_bundled("") == nullptr);
static_assert(find_bundled("meta-llama/Llama-3.2-1") == nullptr);
static_assert(find_bundled("meta-llama/Llama-3.2-1B ") == nullptr);
static_assert(find_bundled("Llama-3.2-1B") == nullptr);
static_assert(find_bundled("meta-llama") == nullptr);
static_assert(find_bundled("zzz/last") == nullptr);

// Published totals, to the last parameter.
static_assert(find_bundled("openai-community/gpt2-xl")->parameters == 1'557'611'200);
static_assert(find_bundled("EleutherAI/pythia-12b")->parameters == 11'846'072'320);
static_assert(find_bundled("bigscience/bloom")->parameters == 176'247'271'424);
static_assert(find_bundled("google/gemma-2-27b")->parameters == 27'227'128'320);
static_assert(find_bundled("mistralai/Mixtral-8x7B-v0.1")->parameters == 46'702'792'704);
static_assert(find_bundled("google/mt5-base")->parameters == 582'401'280);
static_assert(find_bundled("OpenGVLab/InternVL3-14B-hf")->parameters == 15'117'256'704);

constexpr bool well_formed(const bundled_config& c) {
    if (c.source.empty() || c.parameters <= 0 || std::ranges::count(c.name, '/') != 1) return false;
    if (!c.json.starts_with(R"({"model_type":")") || c.json.find(R"(,"architectures":[")") == std::string_view::npos)
        return false;
    int depth = 0;
    bool quoted = false;
    bool closed = false;
    for (const char letter : c.json) {
        if (closed || letter == '\\' || letter == '\n') return false;
        if (letter == '"') quoted = !quoted;
        if (quoted) continue;
        if (letter == ' ') return false;
        if (letter == '{' || letter == '[') ++depth;
        if (letter == '}' || letter == ']') closed = --depth == 0;
    }
    return closed && !quoted;
}
constexpr std::string_view open_object = R"({"model_type":"llama","architectures":["LlamaForCausalLM"])";
constexpr std::string_view object = R"({"model_type":"llama","architectures":["LlamaForCausalLM"]})";
constexpr std::string_view object_and_more = R"({"model_type":"llama","architectures":["LlamaForCausalLM"]}})";
static_assert(well_formed({"org/model", "paper", object, 1}));
static_assert(!well_formed({"org/model", "paper", open_object, 1}));
static_assert(!well_formed({"org/model", "paper", object_and_more, 1}));
static_assert(!well_formed({"org/model", "", object, 1}));
static_assert(!well_formed({"model", "paper", object, 1}));
static_assert(!well_formed({"org/model", "paper", object, 0}));
static_assert(std::ranges::all_of(llmcost::bundled_dense, well_formed));
static_assert(std::ranges::all_of(llmcost::bundled_encoder, well_formed));
static_assert(std::ranges::all_of(llmcost::bundled_gemma, well_formed));
static_assert(std::ranges::all_of(llmcost::bundled_gpt, well_formed));
static_assert(std::ranges::all_of(llmcost::bundled_llama, well_formed));
static_assert(std::ranges::all_of(llmcost::bundled_mistral, well_formed));
static_assert(std::ranges::all_of(llmcost::bundled_mixture, well_formed));
static_assert(std::ranges::all_of(llmcost::bundled_qwen, well_formed));
static_assert(std::ranges::all_of(llmcost::bundled_state_space, well_formed));

}  // namespace
