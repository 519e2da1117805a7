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

/// One recording, as a feature extractor hands it on.
struct sound_shape {
    std::int64_t tokens = 0;   ///< that stand for it in the text
    std::int64_t samples = 0;  ///< of a second times its seconds
    std::int64_t frames = 0;   ///< of its spectrum
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
