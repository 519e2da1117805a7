// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/base/dtype.hpp>

namespace llmcost {

/// Which positions the head computes logits for.
enum class logits : std::uint8_t { all, last, none };

/// Whether scores are computed for all sequence × context pairs (eager), or only for the pairs visible to the causal
/// mask.
enum class attention_scores : std::uint8_t { full, causal };

/// How attention is called: as separate products and softmax (eager), or as `scaled_dot_product_attention`.
enum class attention_implementation : std::uint8_t { eager, sdpa };

/// The largest number in a workload or a configuration.
inline constexpr std::int64_t max_input = 2147483647;

/// The inputs and options of one forward pass or training step.
///
/// Numbers are from 0 (batch and sequence: from 1) to 2^31 - 1.
struct workload {
    std::int64_t batch = 1;             ///< sequences; for vision models: images
    std::int64_t sequence = 1024;       ///< new tokens per sequence
    std::int64_t past = 0;              ///< tokens already in the KV cache
    std::int64_t encoder_sequence = 0;  ///< input tokens of the encoder; 0: `past + sequence`
    /// images per sequence, in addition to its text; a vision model reads one per batch entry
    std::int64_t images = 0;
    std::int64_t image_height = 0;  ///< height of an image; 0: the size in the configuration
    std::int64_t image_width = 0;
    std::int64_t videos = 0;  ///< videos per sequence, in addition to its text
    std::int64_t video_frames = 0;
    std::int64_t video_height = 0;
    std::int64_t video_width = 0;
    std::int64_t audio_milliseconds = 0;  ///< length of one recording per sequence
    logits head = logits::all;
    attention_scores attention = attention_scores::full;
    dtype weights = dtype::unspecified;
    dtype activations = dtype::unspecified;
    dtype cache = dtype::unspecified;
    bool training = false;  ///< one training step: tensors are saved for backward, and there is no cache
    bool uses_workload_dtypes =
        false;  ///< true: tensors have the element types of the workload, as in training; false: all are float32
    bool uses_cpu_kernels = false;  ///< training: norms save statistics as the CPU kernels of PyTorch do
    /// training: compute capability of the CUDA device whose kernels PyTorch runs, for example 90; 0: none
    std::int32_t cuda_capability = 0;
    bool has_training_cache = false;  ///< training: the model returns a KV cache, as `use_cache` of configurations does
    bool has_dropout = false;         ///< training: uses the dropout rates of the configuration; false: no dropout
    bool autocast = false;            ///< float32 products run in bfloat16 (`torch.autocast`)
    bool recomputes_layers = false;   ///< training: the model checkpoints its layers (`gradient_checkpointing`)
    bool is_train_mode =
        false;  ///< training: modules are in training mode (`model.train()`), where some choose at random
    /// parameters that Transformers' `from_pretrained` keeps in float32 are in float32
    bool keeps_float32_parameters = false;
    attention_implementation implementation = attention_implementation::eager;

    /// Whether autocast follows the lists of CUDA devices.
    [[nodiscard]] constexpr bool has_cuda_autocast() const noexcept { return autocast && cuda_capability > 0; }
    /// Whether every number is within its bounds.
    [[nodiscard]] constexpr bool is_valid() const noexcept {
        const auto holds = [](std::int64_t n, std::int64_t minimum) { return n >= minimum && n <= max_input; };
        return holds(batch, 1) && holds(sequence, 1) && holds(past, 0) && holds(encoder_sequence, 0) &&
               holds(images, 0) && holds(image_height, 0) && holds(image_width, 0) && holds(videos, 0) &&
               holds(video_frames, 0) && holds(video_height, 0) && holds(video_width, 0) &&
               holds(audio_milliseconds, 0);
    }
    /// Whether there are images, videos or audio. With `past` > 0 they belong to the past, and no encoder runs.
    [[nodiscard]] constexpr bool has_multimodal_inputs() const noexcept {
        return images > 0 || videos > 0 || audio_milliseconds > 0;
    }
    /// Returns this workload without images, videos and audio.
    [[nodiscard]] constexpr workload without_multimodal_inputs() const noexcept {
        workload load = *this;
        load.images = load.image_height = load.image_width = load.audio_milliseconds = 0;
        load.videos = load.video_frames = load.video_height = load.video_width = 0;
        return load;
    }
    /// Whether two workloads have the same images, videos and audio.
    [[nodiscard]] constexpr bool has_same_multimodal_inputs(const workload& rhs) const noexcept {
        return images == rhs.images && image_height == rhs.image_height && image_width == rhs.image_width &&
               videos == rhs.videos && video_frames == rhs.video_frames && video_height == rhs.video_height &&
               video_width == rhs.video_width && audio_milliseconds == rhs.audio_milliseconds;
    }
    friend constexpr bool operator==(const workload&, const workload&) = default;
};

}  // namespace llmcost
