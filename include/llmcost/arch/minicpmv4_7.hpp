// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/minicpmv4_6.hpp>

namespace llmcost::arch {

namespace minicpmv4_7_detail {

using namespace minicpmv4_6_detail;

inline constexpr architecture tower = [](architecture a) {
    a.prefix = "MiniCPMV4_7";
    return a;
}(minicpmv4_6_detail::tower);

/// Places on a canvas are rounded floats, of which positions of the text model are made (`get_vision_position_ids`).
constexpr value base(const site& here, trace& t) {
    if (sees_images(t)) {
        const recorder::no_grad_guard constants{t};
        const media_shape shape = show(here.whole, t.load()).image;
        if (shape.tiles > 1) report_description("positions of slices on a canvas are not described");
        const std::int64_t unit = here.whole.beside[0].dims.vision.patch_size * (here.whole.own[fourfold] != 0 ? 2 : 4);
        for (const std::int64_t side : {shape.height / unit, shape.width / unit}) {
            const value places = t.constant({side});
            value rounded = t.unary(op::compare, places);
            for (repetition each = t.steps(images_in(t) - 1, rounded); each.next();)
                rounded = t.unary(op::compare, t.constant({side}));
        }
    }
    return minicpmv4_6_detail::base(here, t);
}

}  // namespace minicpmv4_7_detail

// transformers/models/minicpmv4_7: MiniCPM-V 4.6 whose positions stand on a canvas
inline constexpr architecture minicpmv4_7 = [](architecture a) {
    a.model_type = "minicpmv4_7", a.prefix = "MiniCPMV4_7", a.base = minicpmv4_7_detail::base;
    a.beside[0].otherwise = &minicpmv4_7_detail::tower;
    return a;
}(minicpmv4_6);

}  // namespace llmcost::arch
