// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/model/architecture.hpp>
#include <llmcost/walks/images.hpp>

// Models of videos: one for each batch entry, of the frames and sides that the configuration says or the workload asks for.
namespace llmcost {

/// Frames and sides of the videos of a workload.
struct video_sizes {
    std::int64_t frames, height, width;
    friend constexpr bool operator==(const video_sizes&, const video_sizes&) = default;
};
[[nodiscard]] constexpr video_sizes videos_in(const workload& load, const video_sizes& own) noexcept {
    return load.videos == 0 ? own : video_sizes{load.video_frames, load.video_height, load.video_width};
}

/// What is shown to a model of videos alone, as it is.
constexpr media_shapes show_one_video(const workload& load, const video_sizes& own, bool any) {
    if (load.videos > 1) report_description("one video for each sequence: say how many by --batch");
    if (load.images > 0 || load.image_height > 0) report_description("this model reads videos, no images");
    const video_sizes shown = videos_in(load, own);
    if (!any && !(shown == own))
        report_description("this model's videos have the frames and the size that its configuration says");
    return {.video = {.tiles = shown.frames, .height = shown.height, .width = shown.width}};
}

/// Pixels: (B, frames, channels, height, width).
constexpr value pixels_of_videos(const site& here, trace& t, const video_sizes& own) {
    const video_sizes shown = videos_in(t.load(), own);
    return t.input({t.load().batch, shown.frames, here.dims.vision.num_channels, shown.height, shown.width});
}

/// `nn.Conv3d` whose windows do not overlap: (B, in, frames, height, width) -> (B, out, steps, rows, columns).
struct tubelet_convolution {
    std::int64_t in, out, frames, rows, columns;

    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return {"", "Conv3d"}; }
    constexpr value describe(trace& t, const value& x) const {
        const value weight = t.param("weight", {out, in, frames, rows, columns});
        t.beside(t.param("bias", {out}));
        return t.convolution(x, weight, true, {.stride = {frames, rows, columns}});
    }
};

/// (B, channels, steps, rows, columns) -> (B, steps · rows · columns, channels), a view.
constexpr value tubelets_as_tokens(const value& x) { return x.view({x.dim(0), x.dim(1), -1}).transpose(1, 2); }

/// The same with frames and channels changing places first.
constexpr value channels_first(const value& pixels) { return pixels.permute({0, 2, 1, 3, 4}); }

/// A model of videos, bare, or under a classifier of what the base hands out.
constexpr value describe_video_model(const site& here, trace& t, source_part base, layer_part classify) {
    return describe_image_model(here, t, here.row.names.base, base, classify);
}

/// Sizes of its defaults, as most of them have them.
[[nodiscard]] constexpr sizes video_defaults(activation act) {
    sizes s = image_defaults(act);
    s.hidden_size = 768, s.intermediate_size = 3072, s.num_hidden_layers = s.num_attention_heads = 12;
    s.head = head_kind::video_classification;
    return s;
}

}  // namespace llmcost
