// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/base/dtype.hpp>

namespace llmcost {

/// Which positions the head computes logits for.
enum class logits : std::uint8_t { all, last, none };

/// Whether scores are computed for all sequence × context pairs, as eager does, or for visible pairs only.
enum class attention_scores : std::uint8_t { full, causal };

/// How a training step calls attention: products and softmax one by one, or `scaled_dot_product_attention`.
enum class attention_implementation : std::uint8_t { eager, sdpa };

/// The largest number that a workload or a configuration may hold.
inline constexpr std::int64_t max_input = 2147483647;

/// What the model is asked to do in one forward pass; every number is between 0 (1 for batch and sequence) and 2^31
/// - 1.
struct workload {
    std::int64_t batch = 1;             ///< sequences, or images where the input is pixels
    std::int64_t sequence = 1024;       ///< new tokens per sequence
    std::int64_t past = 0;              ///< tokens already in the cache
    std::int64_t encoder_sequence = 0;  ///< tokens the encoder reads; 0: as many as the decoder holds
    std::int64_t images = 0;  ///< beside the text of a sequence; a model of images alone reads one per batch entry
    std::int64_t image_height = 0;  ///< of images; 0: as large as the model's own
    std::int64_t image_width = 0;
    std::int64_t videos = 0;  ///< beside the text of a sequence
    std::int64_t video_frames = 0;
    std::int64_t video_height = 0;
    std::int64_t video_width = 0;
    std::int64_t audio_milliseconds = 0;  ///< of one recording per sequence
    logits head = logits::all;
    attention_scores attention = attention_scores::full;
    dtype weights = dtype::unspecified;
    dtype activations = dtype::unspecified;
    dtype cache = dtype::unspecified;
    bool training = false;  ///< one training step: autograd keeps what backward needs, no cache
    bool uses_workload_dtypes =
        false;                      ///< tensors have the workload's types, as in training; else all count as float32
    bool uses_cpu_kernels = false;  ///< of a training step: norms keep statistics as PyTorch's CPU kernels do
    bool has_dropout = false;       ///< of a training step: the configuration's rates hold, else nothing is dropped
    bool autocast = false;          ///< products of 32 bits are made in bfloat16 (`torch.autocast`)
    attention_implementation implementation = attention_implementation::eager;

    /// Whether every number is within its bounds.
    [[nodiscard]] constexpr bool is_valid() const noexcept {
        const auto holds = [](std::int64_t n, std::int64_t minimum) { return n >= minimum && n <= max_input; };
        return holds(batch, 1) && holds(sequence, 1) && holds(past, 0) && holds(encoder_sequence, 0) &&
               holds(images, 0) && holds(image_height, 0) && holds(image_width, 0) && holds(videos, 0) &&
               holds(video_frames, 0) && holds(video_height, 0) && holds(video_width, 0) &&
               holds(audio_milliseconds, 0);
    }
    /// Whether there is something to see or to hear beside a text; with a past it lies there, and no tower runs.
    [[nodiscard]] constexpr bool has_multimodal_inputs() const noexcept {
        return images > 0 || videos > 0 || audio_milliseconds > 0;
    }
    /// The same without anything to see or to hear.
    [[nodiscard]] constexpr workload without_multimodal_inputs() const noexcept {
        workload load = *this;
        load.images = load.image_height = load.image_width = load.audio_milliseconds = 0;
        load.videos = load.video_frames = load.video_height = load.video_width = 0;
        return load;
    }
    /// Whether two workloads show the same.
    [[nodiscard]] constexpr bool has_same_multimodal_inputs(const workload& rhs) const noexcept {
        return images == rhs.images && image_height == rhs.image_height && image_width == rhs.image_width &&
               videos == rhs.videos && video_frames == rhs.video_frames && video_height == rhs.video_height &&
               video_width == rhs.video_width && audio_milliseconds == rhs.audio_milliseconds;
    }
    friend constexpr bool operator==(const workload&, const workload&) = default;
};

}  // namespace llmcost
