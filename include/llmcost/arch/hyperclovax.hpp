// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/granite.hpp>

namespace llmcost::arch {

namespace hyperclovax_detail {

enum family_config_index : std::uint8_t { norms_outputs };
inline constexpr family_key family_keys[]{
    {"use_post_norm", 1, family_key_type::boolean},  // norms of what blocks give out, else modules that do nothing
};

constexpr tensor apply_post_norm(const layer_context& ctx, trace& t, literal name, const tensor& x) {
    return ctx.config.family[norms_outputs] != 0 ? apply_norm(ctx, t, name, x) : t.call(name, identity{"Identity"}, x);
}

constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    tensor h = mix_tokens(ctx, t, apply_norm(ctx, t, "input_layernorm", x));
    const tensor middle = ctx.spec.add_residual(ctx, t, x, apply_post_norm(ctx, t, "post_norm1", h));
    h = ctx.spec.mlp(ctx, t, apply_norm(ctx, t, "post_attention_layernorm", middle));
    return ctx.spec.add_residual(ctx, t, middle, apply_post_norm(ctx, t, "post_norm2", h));
}

}  // namespace hyperclovax_detail

// transformers/models/hyperclovax: Granite's constants, a logits multiplier, norms after the blocks
inline constexpr model_spec hyperclovax = [](model_spec spec) {
    spec.model_type = "hyperclovax";
    spec.class_prefix = "HyperCLOVAX";
    spec.family_keys = hyperclovax_detail::family_keys;
    spec.decoder_layer = hyperclovax_detail::decoder_layer;
    spec.process_logits = scale_logits;
    return spec;
}(granite);

}  // namespace llmcost::arch
