// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/minicpmv4_6.hpp>
#include <llmcost/forward/image_slices.hpp>

namespace llmcost::arch {

namespace minicpmv4_7_detail {

using namespace image_slices;

inline constexpr submodel_spec tower = [](model_spec spec) {
    spec.class_prefix = "MiniCPMV4_7";
    return spec;
}(minicpmv4_6_vision_encoder);

/// Places on a canvas are rounded floats, of which positions of the text model are made (`get_vision_position_ids`).
constexpr tensor base(const layer_context& ctx, trace& t) {
    if (has_images(t)) {
        const recorder::no_grad_guard constants{t};
        const media_shape shape = compute_media_shapes(ctx.model, t.load()).image;
        if (shape.num_tiles > 1) throw_description_error("positions of image slices on a canvas are not supported");
        const std::int64_t unit =
            ctx.model.components[0].config.vision.patch_size * (ctx.model.family[fourfold] != 0 ? 2 : 4);
        for (const std::int64_t side : {shape.height / unit, shape.width / unit}) {
            const tensor places = t.full({side});
            tensor rounded = t.round(places);
            for (loop layer_loop = t.loop_time_steps(images_in(t) - 1, rounded); layer_loop.next();)
                rounded = t.round(t.full({side}));
        }
    }
    return image_slices::base(ctx, t);
}

}  // namespace minicpmv4_7_detail

// transformers/models/minicpmv4_7: MiniCPM-V 4.6 with positions on a canvas
inline constexpr model_spec minicpmv4_7 = [](model_spec spec) {
    spec.model_type = "minicpmv4_7";
    spec.class_prefix = "MiniCPMV4_7";
    spec.base_model = minicpmv4_7_detail::base;
    spec.components[0].default_spec = &minicpmv4_7_detail::tower;
    return spec;
}(minicpmv4_6);

}  // namespace llmcost::arch
