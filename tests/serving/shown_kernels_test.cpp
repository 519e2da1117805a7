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

/// FLOPs of products and of attention, those of depthwise convolutions and of scores in a chain too, each as often as
/// it runs.
double flops_of_kernels(const model& m, const workload& load) {
    double sum = 0;
    for (const model_kernel& k : kernels_of(m, load, {})) {
        const bool chain = k.shape.type->name == "elementwise";
        const double kernel_flops = chain ? 2 * static_cast<double>(k.shape.sizes[4]) : k.shape.work().flops;
        sum += static_cast<double>(k.num_runs) * kernel_flops;
    }
    return sum;
}
/// The additional work of a pass with multimodal inputs, compared with a text of equal length: of kernels, and as the
/// reference executes it.
struct media_flops {
    double by_kernels = 0, executed = 0;
};
media_flops compute_media_flops(const model& m, const workload& media_load) {
    workload text = media_load.without_multimodal_inputs();
    text.sequence = media_load.sequence + m.spec->compute_media_shapes(m, media_load).num_tokens(media_load);
    return {flops_of_kernels(m, media_load) - flops_of_kernels(m, text),
            static_cast<double>(count_model(m, media_load).torch_flops.to_64()) -
                static_cast<double>(count_model(m, text).torch_flops.to_64())};
}

}  // namespace

// towers see all of a picture, of a window or of a recording: what eager executes and what kernels do is the same
TEST_CASE("kernels execute what towers do, all of it and no more") {
    std::size_t num_checked = 0;
    for_models(
        [&](const golden_model& g) {
            const model& m = g.built;
            if (m.spec->compute_media_shapes == nullptr) return;
            workload media_load{.sequence = 3, .head = logits::last};
            if (m.spec->modalities.has_images) {
                media_load.images = 1;
                media_load.image_height = 448;
                media_load.image_width = 672;
            }
            if (m.spec->modalities.has_audio) media_load.audio_milliseconds = 7000;
            media_flops extra_flops;
            try {
                extra_flops = compute_media_flops(m, media_load);
            } catch (const description_error&) {
                return;  // the reference builds such a model, and cannot show it anything
            }
            CHECK(extra_flops.by_kernels == extra_flops.executed);
            ++num_checked;
        },
        {{"git", "stands an image in front of its text by itself, where a prompt's kernels see no later ones"},
         {"granite_speech granite_speech_plus", "relative positions are scored by products that no kernel does"},
         {"florence2", "its decoder, whose kernels see no later words, is as long as its encoder's text alone is"}});
    CHECK(num_checked > 60);
}
