// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/base/workload.hpp>

// What becomes of images, videos and sound before a model reads them.
namespace llmcost {

/// What a model reads. Models of images alone are known by their sizes.
struct modality_set {
    bool has_text = true;
    bool has_images = false;
    bool has_videos = false;
    bool has_audio = false;
};

/// One image or video, as a processor hands it on.
struct media_shape {
    std::int64_t num_tokens = 0;  ///< that stand for it in the text
    std::int64_t num_tiles = 1;   ///< pictures that a tower reads for it: crops and the whole, or frames
    std::int64_t height = 0;      ///< of each of them
    std::int64_t width = 0;
    std::int64_t tile_rows = 1;  ///< crops below each other
    std::int64_t tile_columns = 1;
};

/// How a feature extractor makes recordings ready: as a file beside the configuration says, else as its class does by
/// itself.
struct audio_preprocessing_config {
    std::int64_t sampling_rate = 16000;  ///< samples of a second
    std::int64_t hop_length = 160;       ///< samples from the beginning of a frame to that of the next
    std::int64_t win_length = 400;       ///< samples of a frame
    std::int64_t n_fft = 400;            ///< samples of which a frame lies in the middle
    std::int64_t chunk_seconds = 30;     ///< that a recording is filled up to, or cut into
    std::int64_t min_samples = 0;        ///< samples that a shorter one is filled up to
    std::int64_t max_samples = 0;        ///< samples of which a longer one keeps these, or is refused
    std::int64_t stacked_frames = 1;     ///< frames that are read as one
    std::int64_t frame_stride = 1;       ///< frames from one of those to the next

    [[nodiscard]] constexpr std::int64_t samples_from_milliseconds(std::int64_t milliseconds) const noexcept {
        return milliseconds * sampling_rate / 1000;
    }
    /// Samples that a recording is filled up to.
    [[nodiscard]] constexpr std::int64_t padded_samples() const noexcept { return sampling_rate * chunk_seconds; }
    /// Frames in the middles of transforms, of which the first and the last reach beyond the samples (`torch.stft`,
    /// `center`).
    [[nodiscard]] constexpr std::int64_t num_centered_frames(std::int64_t samples) const noexcept {
        return (samples + n_fft / 2 * 2 - n_fft) / hop_length + 1;
    }
    /// Frames that begin in so many samples: what a mask leaves of them.
    [[nodiscard]] constexpr std::int64_t num_started_frames(std::int64_t samples) const noexcept {
        return (samples + hop_length - 1) / hop_length;
    }
    friend constexpr bool operator==(const audio_preprocessing_config&, const audio_preprocessing_config&) = default;
};

/// One recording, as a feature extractor hands it on.
struct audio_shape {
    std::int64_t num_tokens = 0;   ///< that stand for it in the text
    std::int64_t num_samples = 0;  ///< of a second times its seconds
    std::int64_t num_frames = 0;   ///< of its spectrum that a tower is fed, or that a tower makes of samples
};

/// What one sequence shows: each image is like the others, each video too.
struct media_shapes {
    media_shape image{};
    media_shape video{};
    audio_shape audio{};

    /// Tokens of a sequence that stand for what it shows.
    [[nodiscard]] constexpr std::int64_t num_tokens(const workload& load) const noexcept {
        return load.images * image.num_tokens + load.videos * video.num_tokens +
               (load.audio_milliseconds > 0 ? audio.num_tokens : 0);
    }
};

}  // namespace llmcost
