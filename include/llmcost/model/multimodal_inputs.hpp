// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/base/workload.hpp>

// Sizes of images, videos and audio after preprocessing.
namespace llmcost {

/// The modalities that a model reads. Vision models are recognized by their sizes.
struct modality_set {
    bool has_text = true;
    bool has_images = false;
    bool has_videos = false;
    bool has_audio = false;
};

/// One image or video after preprocessing.
struct media_shape {
    std::int64_t num_tokens = 0;  ///< placeholder tokens in the text
    /// images that the vision encoder reads for it: tiles and the overview image, or frames
    std::int64_t num_tiles = 1;
    std::int64_t height = 0;  ///< height of each tile
    std::int64_t width = 0;
    std::int64_t tile_rows = 1;  ///< tiles per column
    std::int64_t tile_columns = 1;
};

/// Options of an audio feature extractor: from a file next to the configuration, otherwise the defaults of its class.
struct audio_preprocessing_config {
    std::int64_t sampling_rate = 16000;  ///< samples per second
    std::int64_t hop_length = 160;       ///< samples between the starts of consecutive frames
    std::int64_t win_length = 400;       ///< samples per frame
    std::int64_t n_fft = 400;            ///< samples per Fourier transform, which is centered on the frame
    std::int64_t chunk_seconds = 30;     ///< seconds to which a recording is padded, or into which it is cut
    std::int64_t min_samples = 0;        ///< samples to which a shorter recording is padded
    std::int64_t max_samples = 0;  ///< samples to which a longer recording is truncated, or above which it is rejected
    std::int64_t stacked_frames = 1;  ///< frames that are concatenated into one
    std::int64_t frame_stride = 1;    ///< frames between the starts of consecutive concatenated frames

    [[nodiscard]] constexpr std::int64_t samples_from_milliseconds(std::int64_t milliseconds) const noexcept {
        return milliseconds * sampling_rate / 1000;
    }
    /// Samples of a padded recording.
    [[nodiscard]] constexpr std::int64_t padded_samples() const noexcept { return sampling_rate * chunk_seconds; }
    /// Frames of centered transforms, the first and last of which extend beyond the samples.
    ///
    /// Source: `torch.stft`, `center`.
    [[nodiscard]] constexpr std::int64_t num_centered_frames(std::int64_t samples) const noexcept {
        return (samples + n_fft / 2 * 2 - n_fft) / hop_length + 1;
    }
    /// Frames that begin within the samples: those that a mask leaves.
    [[nodiscard]] constexpr std::int64_t num_started_frames(std::int64_t samples) const noexcept {
        return (samples + hop_length - 1) / hop_length;
    }
    friend constexpr bool operator==(const audio_preprocessing_config&, const audio_preprocessing_config&) = default;
};

/// One recording after preprocessing.
struct audio_shape {
    std::int64_t num_tokens = 0;   ///< placeholder tokens in the text
    std::int64_t num_samples = 0;  ///< sampling rate times seconds
    std::int64_t num_frames = 0;   ///< spectrogram frames that an audio encoder reads, or that it computes from samples
};

/// The multimodal inputs of one sequence. All images have the same size, and so have all videos.
struct media_shapes {
    media_shape image{};
    media_shape video{};
    audio_shape audio{};

    /// Number of placeholder tokens of a sequence.
    [[nodiscard]] constexpr std::int64_t num_tokens(const workload& load) const noexcept {
        return load.images * image.num_tokens + load.videos * video.num_tokens +
               (load.audio_milliseconds > 0 ? audio.num_tokens : 0);
    }
};

}  // namespace llmcost
