// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/serving/kernels.hpp>
#include <llmcost/serving/step.hpp>

// Prompts that show images, videos or sound.
namespace llmcost {

/// What a request shows, in a server's terms.
struct shown_media {
    std::int64_t tokens = 0;  ///< that stand for it in the prompt
    step_cost towers{};       ///< what is computed beside a text that is as long
};

/// The cost of what one sequence shows: the kernels of a pass that sees and hears it without those of a text as long, whose
/// tokens are priced as all others are.
[[nodiscard]] inline shown_media cost_of_media(const model& whole, workload load, const execution& how, const device& on,
                                               kernel_source& from) {
    shown_media out;
    if (whole.kind->media == nullptr || !load.has_media()) return out;
    out.tokens = whole.kind->media(whole, load).tokens(load);
    const auto all = [&](const workload& asked) {
        step_cost sum;
        for (const known_kernel& k : with_measurements(kernels_of(whole, asked, how), how, from)) sum += cost_of(on, k);
        return sum;
    };
    load.batch = 1, load.sequence = 1, load.past = 0, load.head = logits::last;
    workload text = load.text_alone();
    text.sequence = 1 + out.tokens;
    const step_cost seen = all(load), read = all(text);
    const auto beyond = [](double more, double less) { return more > less ? more - less : 0; };
    out.towers = {beyond(seen.seconds, read.seconds),
                  beyond(seen.flops, read.flops),
                  beyond(seen.bytes, read.bytes),
                  beyond(seen.launches, read.launches),
                  beyond(seen.wide_busy, read.wide_busy),
                  beyond(seen.narrow_busy, read.narrow_busy),
                  beyond(seen.memory_busy, read.memory_busy)};
    return out;
}

}  // namespace llmcost
