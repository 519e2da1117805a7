// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <llmcost/base/workload.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/model/model_spec.hpp>

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
[[nodiscard]] input_unit unit_of(const model& m, const workload& load);

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

/// Whether a forward pass has attention, self-attention or cross-attention.
[[nodiscard]] bool has_attention(const model& m, const workload& load);

/// `10 s of sound`.
[[nodiscard]] std::string audio_label(std::int64_t milliseconds);

/// `8 images`, `2 x 10 s of sound`, `64 samples`, `16 x 1 token`.
[[nodiscard]] std::string input_label(const model& m, const workload& load);

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/args/impl/input_labels.ipp>  // IWYU pragma: export
#endif
