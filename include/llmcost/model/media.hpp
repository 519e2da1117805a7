// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/base/workload.hpp>

// What becomes of images, videos and sound before a model reads them.
namespace llmcost {

/// What a model reads. Models of images alone are known by their sizes.
struct senses {
    bool text = true;
    bool images = false;
    bool videos = false;
    bool audio = false;
};

/// One image or video, as a processor hands it on.
struct media_shape {
    std::int64_t tokens = 0;  ///< that stand for it in the text
    std::int64_t tiles = 1;   ///< pictures that a tower reads for it: crops and the whole, or frames
    std::int64_t height = 0;  ///< of each of them
    std::int64_t width = 0;
    std::int64_t rows = 1;  ///< crops below each other
    std::int64_t columns = 1;
};

/// How a feature extractor makes recordings ready: as a file beside the configuration says, else as its class does by
/// itself.
struct sound_settings {
    std::int64_t rate = 16000;     ///< samples of a second
    std::int64_t hop = 160;        ///< samples from the beginning of a frame to that of the next
    std::int64_t window = 400;     ///< samples of a frame
    std::int64_t transform = 400;  ///< samples of which a frame lies in the middle
    std::int64_t seconds = 30;     ///< that a recording is filled up to, or cut into
    std::int64_t least = 0;        ///< samples that a shorter one is filled up to
    std::int64_t most = 0;         ///< samples of which a longer one keeps these, or is refused
    std::int64_t joined = 1;       ///< frames that are read as one
    std::int64_t step = 1;         ///< frames from one of those to the next

    [[nodiscard]] constexpr std::int64_t samples_of(std::int64_t milliseconds) const noexcept {
        return milliseconds * rate / 1000;
    }
    /// Samples that a recording is filled up to.
    [[nodiscard]] constexpr std::int64_t filled() const noexcept { return rate * seconds; }
    /// Frames in the middles of transforms, of which the first and the last reach beyond the samples (`torch.stft`,
    /// `center`).
    [[nodiscard]] constexpr std::int64_t centred_frames(std::int64_t samples) const noexcept {
        return (samples + transform / 2 * 2 - transform) / hop + 1;
    }
    /// Frames that begin in so many samples: what a mask leaves of them.
    [[nodiscard]] constexpr std::int64_t begun_frames(std::int64_t samples) const noexcept {
        return (samples + hop - 1) / hop;
    }
    friend constexpr bool operator==(const sound_settings&, const sound_settings&) = default;
};

/// One recording, as a feature extractor hands it on.
struct sound_shape {
    std::int64_t tokens = 0;   ///< that stand for it in the text
    std::int64_t samples = 0;  ///< of a second times its seconds
    std::int64_t frames = 0;   ///< of its spectrum that a tower is fed, or that a tower makes of samples
};

/// What one sequence shows: each image is like the others, each video too.
struct media_shapes {
    media_shape image{};
    media_shape video{};
    sound_shape audio{};

    /// Tokens of a sequence that stand for what it shows.
    [[nodiscard]] constexpr std::int64_t tokens(const workload& load) const noexcept {
        return load.images * image.tokens + load.videos * video.tokens + (load.audio_milliseconds > 0 ? audio.tokens : 0);
    }
};

}  // namespace llmcost
