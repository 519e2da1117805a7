// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "../unit/laws.hpp"

#include <llmcost/serving/kernels.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>

// Kernels of what prompts show.
using namespace llmcost;
using namespace llmcost::testing;

namespace {

/// FLOPs of products and of attention, those of depthwise convolutions and of scores in a chain too, each as often as it
/// runs.
double flops_of_kernels(const model& m, const workload& load) {
    double sum = 0;
    for (const model_kernel& k : kernels_of(m, load, {})) {
        const bool chain = k.shape.family->name == "elementwise";
        const double once = chain ? 2 * static_cast<double>(k.shape.sizes[4]) : k.shape.work().flops;
        sum += static_cast<double>(k.times) * once;
    }
    return sum;
}
/// What a pass that sees or hears computes beside a text as long: of kernels, and as the reference executes it.
struct beside_text {
    double by_kernels = 0, executed = 0;
};
beside_text beside_text_of(const model& m, const workload& shown) {
    workload text = shown.text_alone();
    text.sequence = shown.sequence + m.kind->media(m, shown).tokens(shown);
    return {flops_of_kernels(m, shown) - flops_of_kernels(m, text),
            static_cast<double>(count_model(m, shown).torch_flops.to_64()) -
                static_cast<double>(count_model(m, text).torch_flops.to_64())};
}

}  // namespace

// towers see all of a picture, of a window or of a recording: what eager executes and what kernels do is the same
TEST_CASE("kernels execute what towers do, all of it and no more") {
    std::size_t held = 0;
    for_models(
        [&](const golden_model& g) {
            const model& m = g.built;
            if (m.kind->media == nullptr) return;
            workload shown{.sequence = 3, .head = logits::last};
            if (m.kind->reads.images) shown.images = 1, shown.image_height = 448, shown.image_width = 672;
            if (m.kind->reads.audio) shown.audio_milliseconds = 7000;
            beside_text both;
            try {
                both = beside_text_of(m, shown);
            } catch (const description_error&) {
                return;  // the reference builds such a model, and cannot show it anything
            }
            CHECK(both.by_kernels == both.executed);
            ++held;
        },
        {{"git", "stands an image in front of its text by itself, where a prompt's kernels see no later ones"},
         {"granite_speech granite_speech_plus", "relative positions are scored by products that no kernel does"},
         {"florence2", "its decoder, whose kernels see no later words, is as long as its encoder's text alone is"}});
    CHECK(held > 60);
}
