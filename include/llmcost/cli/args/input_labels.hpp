// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/cli/args/text.hpp>

// What a pass reads, in words: tokens, images, sound, or whatever a description calls its input.
namespace llmcost::cli {

/// What pages count of a pass.
enum class input_unit : std::uint8_t { token, image, sound, sample };

/// Their names, one and many, in the order of the enumeration; sound is counted by recordings.
inline constexpr std::string_view input_unit_names[]{"tokens", "images", "recordings", "samples"};
inline constexpr std::string_view one_input_names[]{"token", "image", "recording", "sample"};

/// Whether the input is images, so that tokens mean nothing.
[[nodiscard]] inline bool reads_pixels(const model& m) noexcept {
    return m.config.vision.image_height > 0 && m.config.vocab_size == 0;
}

/// What a model reads: tokens, unless nothing of it grows with their number.
[[nodiscard]] inline input_unit unit_of(const model& m, const workload& load) {
    if (reads_pixels(m)) return input_unit::image;
    const bool silent = m.spec->modalities.has_text && m.config.head != head_kind::audio_classification;
    if (!silent && load.audio_milliseconds > 0) return input_unit::sound;
    if (!m.spec->is_fixed_trace) return input_unit::token;
    workload one = load, two = load;
    one.sequence = 1;
    two.sequence = 2;
    const model_metrics figures_of_one = count_model(m, one), figures_of_two = count_model(m, two);
    return figures_of_one.flops() == figures_of_two.flops() &&
                   figures_of_one.written_elements == figures_of_two.written_elements
               ? input_unit::sample
               : input_unit::token;
}

/// Tokens, images, recordings or samples of a pass.
[[nodiscard]] inline std::int64_t count_inputs(const model& m, const workload& load) {
    return unit_of(m, load) == input_unit::token ? load.batch * load.sequence : load.batch;
}
[[nodiscard]] inline std::string_view inputs_name(const model& m, const workload& load) {
    return input_unit_names[static_cast<std::size_t>(unit_of(m, load))];
}
[[nodiscard]] inline std::string_view one_input_name(const model& m, const workload& load) {
    return one_input_names[static_cast<std::size_t>(unit_of(m, load))];
}

/// `10 s of sound`.
[[nodiscard]] inline std::string audio_label(std::int64_t milliseconds) {
    std::array<char, 40> text{};
    std::snprintf(text.data(), text.size(), "%g s of sound", static_cast<double>(milliseconds) / 1000);
    return text.data();
}

/// `8 images`, `2 x 10 s of sound`, `64 samples`, `16 x 1 token`.
[[nodiscard]] inline std::string input_label(const model& m, const workload& load) {
    const std::string batch = std::to_string(load.batch);
    switch (unit_of(m, load)) {
        case input_unit::image: return batch + (load.batch == 1 ? " image" : " images");
        case input_unit::sample: return batch + (load.batch == 1 ? " sample" : " samples");
        case input_unit::sound: return batch + " x " + audio_label(load.audio_milliseconds);
        case input_unit::token: break;
    }
    return batch + " x " + grouped(count(load.sequence)) + (load.sequence == 1 ? " token" : " tokens");
}

}  // namespace llmcost::cli
