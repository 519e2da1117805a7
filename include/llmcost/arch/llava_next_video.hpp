// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/arch/llava_next.hpp>
#include <llmcost/config/image.hpp>
#include <llmcost/config/processor.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/any_resolution.hpp>
#include <llmcost/forward/images.hpp>
#include <llmcost/forward/multimodal.hpp>
#include <llmcost/forward/vision_encoder.hpp>
#include <llmcost/forward/vision_features.hpp>

namespace llmcost::arch {

namespace llava_next_video_detail {

using any_resolution::base_of, any_resolution::parse_config, any_resolution::pool_channels, any_resolution::pool_mode,
    any_resolution::pool_stride, any_resolution::compute_media_shapes, any_resolution::states_of_frames;

// how frames of a video are made smaller
enum pooling : std::uint8_t { average, maximum, convolved };

/// Squares of patches become one (`LlavaNextVideoPooler`).
struct pooler {
    layer_context ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Pooler"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const family_config& family = ctx.model.family;
        const vision_config& image = ctx.model.components[0].config.vision;
        const std::int64_t side = image.image_height / image.patch_size, stride = family[pool_stride];
        const tensor frames = x.view({x.dim(0), side, side, x.dim(2)}).permute({0, 3, 1, 2});
        tensor out;
        switch (static_cast<pooling>(family[pool_mode])) {
            case average: out = t.call("pool", average_pool_2d{stride, stride}, frames); break;
            case maximum: out = t.call("pool", max_pool_2d{stride, stride}, frames); break;
            case convolved:
                out = t.call("pool", convolution_2d{x.dim(2), family[pool_channels], stride, stride}, frames);
                break;
        }
        if (frames.is_channels_last()) out.make_channels_last_strides();  // as ATen's pools do
        return t.contiguous(as_tokens(out));
    }
};

constexpr media_shapes compute_pooled_shapes(const model& m, const workload& load) {
    media_shapes all = compute_media_shapes(m, load);
    const vision_config& image = m.components[0].config.vision;
    const std::int64_t side = image.image_height / image.patch_size / m.family[pool_stride];
    all.video = {.num_tokens = load.video_frames * side * side, .num_tiles = load.video_frames};
    return all;
}

constexpr tensor base_pooled(const layer_context& ctx, trace& t) {
    return base_of(ctx, t, [&](const tensor&) {
        tensor states;
        {
            const recorder::shared_parameters_guard twice{t};
            states = states_of_frames(ctx, t);
        }
        states = t.call("vision_resampler", pooler{ctx}, states);
        const recorder::shared_parameters_guard twice{t};
        return t.cat({vision_features::project(ctx, t, states).view({-1, ctx.config.hidden_size})}, 0);
    });
}

constexpr void parse_pooled(config_view json, model& m) {
    parse_config(json, m);
    const string_ref mode = json.string("spatial_pool_mode", "average");
    if (mode == "average")
        m.family[pool_mode] = average;
    else if (mode == "max")
        m.family[pool_mode] = maximum;
    else if (mode == "conv")
        m.family[pool_mode] = convolved;
    else
        throw_invalid_value(json, "spatial_pool_mode", "average, max or conv");
    const vision_config& image = m.components[0].config.vision;
    if (m.family[pool_stride] > image.image_height / image.patch_size)
        throw_invalid_value(json, "spatial_pool_stride", "at most the patches along a side");
    m.family[pool_channels] = json.positive("spatial_pool_out_channels", m.components[0].config.hidden_size);
}

}  // namespace llava_next_video_detail

// transformers/models/llava_next_video: the same with frames made smaller
inline constexpr model_spec llava_next_video = [](model_spec spec) {
    spec.model_type = "llava_next_video";
    spec.class_prefix = "LlavaNextVideo";
    spec.base_model = llava_next_video_detail::base_pooled;
    spec.parse_composite_config = llava_next_video_detail::parse_pooled;
    spec.compute_media_shapes = llava_next_video_detail::compute_pooled_shapes;
    spec.modalities.has_videos = true;
    return spec;
}(llava_next);

}  // namespace llmcost::arch
