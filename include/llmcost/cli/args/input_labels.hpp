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

// Labels of the inputs of a forward pass: tokens, images, audio or samples.
namespace llmcost::cli {

/// The unit in which the inputs of a forward pass are counted.
enum class input_unit : std::uint8_t { token, image, sound, sample };

/// The names of the units, plural and singular, in the order of `input_unit`; audio is counted in recordings.
inline constexpr std::string_view input_unit_names[]{"tokens", "images", "recordings", "samples"};
inline constexpr std::string_view one_input_names[]{"token", "image", "recording", "sample"};

/// Whether the only input is images, so that token counts do not apply.
[[nodiscard]] inline bool reads_pixels(const model& m) noexcept {
    return m.config.vision.image_height > 0 && m.config.vocab_size == 0;
}

/// The input unit of a model: tokens, unless the cost does not depend on their number.
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

/// The number of tokens, images, recordings or samples of a forward pass.
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
