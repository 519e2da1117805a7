// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/config/image.hpp>
#include <llmcost/config/processor.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/multimodal.hpp>
#include <llmcost/forward/siglip_heads.hpp>

// PaliGemma: a linear projection of image features (arXiv 2407.07726).
namespace llmcost::linear_image_projector {

enum family_config_index : std::uint8_t { projection_dim };

/// What brings patches to the width of the text.
struct projector {
    layer_context ctx;

    static constexpr role module_role = role::projector;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("MultiModalProjector"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        return t.call("linear", linear{x.dim(-1), ctx.model.family[projection_dim], true}, x);
    }
};

}  // namespace llmcost::linear_image_projector
