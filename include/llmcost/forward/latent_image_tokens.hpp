// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/config/reader.hpp>
#include <llmcost/forward/composite.hpp>
#include <llmcost/forward/multimodal.hpp>
#include <llmcost/forward/vision_encoder.hpp>

// Kosmos: image features resampled to a fixed number of tokens of the text (arXiv 2306.14824).
namespace llmcost::latent_image_tokens {

enum family_config_index : std::uint8_t { latents };

/// Learned queries attend to an image's states and to themselves (`Kosmos2_5ImageToTextProjection`).
struct image_to_text {
    layer_context ctx;
    class_name attention_type;
    bool scales_queries = true;  ///< before their product, which is scaled by one

    static constexpr role module_role = role::projector;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("ImageToTextProjection"); }
    constexpr tensor forward(trace& t, const tensor& features) const {
        const std::int64_t width = ctx.config.hidden_size, heads = ctx.config.num_attention_heads, d = width / heads;
        const std::int64_t batch = features.dim(0), n = ctx.model.family[latents];
        const tensor states = t.call("dense", linear{features.dim(-1), width, true}, features);
        const tensor queries = t.param("latent_query", {n, width}).unsqueeze(0).expand({batch, n, width});
        const tensor all = t.cat({states, queries}, 1);
        const module_info attention{
            .name = "x_attn", .class_of_module = attention_type, .module_role = role::cross_attn};
        const linear projection{width, width, true};
        t.enter(attention);
        const auto split = [&](literal name, const tensor& x) {
            return t.call(name, projection, x).view({batch, x.dim(1), heads, d}).transpose(1, 2);
        };
        const tensor k = split("k_proj", all), v = split("v_proj", all);
        const tensor plain = split("q_proj", queries), q = scales_queries ? t.mul_scalar(plain) : plain;
        const attention_pattern pattern{.query_length = n, .cached_length = features.dim(1), .is_causal = false};
        const tensor mixed = attention_forward(t, q, k, v, pattern, {});
        return t.leave(attention, t.call("out_proj", projection, t.reshape(mixed, {batch, n, width})));
    }
};

/// Rows over their length, which is at least the smallest difference (`F.normalize`).
constexpr tensor over_length(trace& t, const tensor& x) {
    const tensor length = t.clamp_min(t.vector_norm(x, -1, true));
    return t.div(x, length.expand({x.dim(0), x.dim(1), x.dim(2)}));
}

/// The text model with its own head in separate modules; it reads the image states.
constexpr tensor forward_conditioned_text(const layer_context& ctx, trace& t, const module_info& model,
                                          const tensor& features) {
    const layer_context kosmos2_5_text_decoder = ctx.text_model();
    const module_info inner{
        .name = "model",
        .class_of_module = kosmos2_5_text_decoder.class_of(kosmos2_5_text_decoder.spec.names.model_class)};
    attention_inputs inputs;
    if (has_images(t)) inputs.family_tensors[0] = features;
    t.enter(model);
    tensor x = forward_in_module(
        inner, kosmos2_5_text_decoder.spec.base_model,
        {kosmos2_5_text_decoder.model, kosmos2_5_text_decoder.spec, kosmos2_5_text_decoder.config, &inputs}, t);
    if (ctx.config.head != head_kind::none) x = t.select_model_output(x, forward_head(kosmos2_5_text_decoder, t, x));
    return t.leave(model, x);
}

/// The tower and what brings it to the text, then the text.
template <tensor (*Look)(const layer_context&, trace&)>
constexpr tensor forward(const layer_context& ctx, trace& t) {
    const bool bare = ctx.config.head == head_kind::none;
    const module_info model_info{.class_of_module = ctx.class_of(name_of(ctx.config.head))};
    const module_info model{.name = "text_model",
                            .class_of_module = ctx.class_of(bare ? "TextModel" : "TextForCausalLM")};
    t.enter(model_info);
    const tensor features = Look(ctx, t);
    return t.leave(model_info, forward_conditioned_text(ctx, t, model, features));
}

}  // namespace llmcost::latent_image_tokens
