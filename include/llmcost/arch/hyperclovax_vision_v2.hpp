// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/hyperclovax.hpp>
#include <llmcost/arch/qwen2_vl.hpp>

namespace llmcost::arch {

namespace hyperclovax_vision_v2_detail {

struct projector : linear {
    static constexpr role what = role::projector;
};

constexpr value base(const site& here, trace& t) {
    return describe_text_after(here, t, "language_model", [&](const value& words) {
        return place_pictures(here, t, words, [&] {
            const value merged = describe_tower(here, t, 0, "vision_model", role::vision);
            return t.call("projector", projector{{merged.dim(-1), here.dims.hidden_size, true}}, merged);
        });
    });
}

}  // namespace hyperclovax_vision_v2_detail

// transformers/models/hyperclovax_vision_v2: Qwen2.5-VL's tower and a projection in front of HyperCLOVA X
inline constexpr architecture hyperclovax_vision_v2 = [](architecture a) {
    a.model_type = "hyperclovax_vision_v2", a.prefix = "HyperCLOVAXVisionV2";
    a.base = hyperclovax_vision_v2_detail::base, a.own = qwen2_vl_detail::bound_keys;
    a.media = qwen2_vl_detail::show, a.read_processor = qwen2_vl_detail::read_processor, a.reads.images = true,
    a.finish = multiply_logits;
    a.text = {.key = "text_config", .otherwise = &hyperclovax, .always = true};
    a.beside[0] = {.key = "vision_config", .otherwise = &qwen2_5_vl_vision, .always = true};
    a.defaults.tie_word_embeddings = true;
    return a;
}(shared_composite);

}  // namespace llmcost::arch
