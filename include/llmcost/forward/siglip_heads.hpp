// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/config/image.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/dual_encoder.hpp>
#include <llmcost/layers/multihead_attention.hpp>

// SigLIP: a head that pools by attention, and the logits of images and texts (arXiv 2303.15343).
namespace llmcost::siglip_heads {

enum family_config_index : std::uint8_t { uses_head, num_patches };

/// A learned query attends to all patches (`SiglipMultiheadAttentionPoolingHead`).
struct pooling_head {
    layer_context ctx;
    bool hides = false;  ///< patches with a boolean mask

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("MultiheadAttentionPoolingHead"); }
    constexpr tensor forward(trace& t, const tensor& x, const tensor* mask) const {
        const std::int64_t width = ctx.config.hidden_size;
        const tensor probe = t.param("probe", {1, 1, width});
        const tensor queries = t.copy(probe.expand({x.dim(0), 1, width}));
        const multihead_attention pooling_attention{
            .width = width, .heads = ctx.config.num_attention_heads, .hides = hides};
        const tensor h = t.call("attention", pooling_attention, queries, x, mask);
        const tensor normed = t.call("layernorm", norm_module{norm_kind::layer, width}, h);
        return t.select(t.add(h, t.call("mlp", vision_encoder_layer::vision_mlp_of(ctx), normed)), 1);
    }
};

/// Runs the layers, the final norm, and pooling by a learned query on embedded patches; padded patches need a mask.
constexpr tensor_pair process_logits(const layer_context& ctx, trace& t, const tensor& embedded, bool reads_pool,
                                     bool padded = false) {
    const std::int64_t batch = embedded.dim(0), n = embedded.dim(1), heads = ctx.config.num_attention_heads;
    attention_inputs inputs{.pattern = full_pattern(n).pattern};
    if (padded) inputs.mask = eager_mask(t, inputs.pattern, batch);
    tensor x = encode(ctx, t, embedded, "Encoder", inputs);
    const recorder::detach_guard unread_norm{t, needs_hidden_states(ctx)};
    x = t.call("post_layernorm", norm_module{norm_kind::layer, ctx.config.hidden_size}, x);
    if (ctx.config.family[uses_head] == 0) return {x, {}};
    const recorder::detach_guard unread{t, !reads_pool};
    const module_info head{.name = "head", .class_of_module = ctx.class_of("MultiheadAttentionPoolingHead")};
    t.enter(head);
    tensor mask;
    if (padded) {
        const tensor of_keys = eager_mask(t, {.query_length = 1, .cached_length = n - 1}, batch);
        mask = t.copy(of_keys.expand({batch, heads, 1, n})).view({batch * heads, 1, n});
    }
    return {x, t.leave(head, pooling_head{ctx}.forward(t, x, padded ? &mask : nullptr))};
}

constexpr void parse_config(config_view json, model_config& config) {
    parse_square_image(json, config, 224, 16);
    divide_by_heads(json, config, {"num_attention_heads"});
}

enum text_config_index : std::uint8_t { projection };

/// A text's tokens see each other; the last one's state is projected.
constexpr tensor_pair read_text_half(const layer_context& ctx, trace& t, bool reads_pool) {
    const tensor x = forward_text_encoder(ctx, t, text_mask::none);
    const recorder::detach_guard unread{t, !reads_pool};
    return {x, t.call("head", linear{ctx.config.hidden_size, ctx.config.family[projection], true}, t.select(x, 1))};
}

/// Scores of every text and image, from the directions of what pools each.
template <class Pool>
constexpr tensor forward_dual_encoder(const layer_context& ctx, trace& t, const Pool& pool,
                                      layer_forward_function classify) {
    if (ctx.config.head == head_kind::image_classification) return forward_image_encoder(ctx, t, classify);
    const module_info model_info{.class_of_module = ctx.class_of("Model")};
    const layer_context text = ctx.text_model(), tower = ctx.component(0);
    t.enter(model_info);
    const tensor scale = t.param("logit_scale", {1}), bias = t.param("logit_bias", {1});
    const tensor read = forward_pooled_text(ctx, t, [&] { return read_text_half(text, t, true).second; });
    const tensor features = forward_pooled_images(ctx, t, [&] { return pool(tower, t, true).second; });
    const tensor image_embeds = normalize_l2(t, features), text_embeds = normalize_l2(t, read);
    return t.leave(model_info, t.add(similarity_logits(t, text_embeds, image_embeds, scale), bias));
}

}  // namespace llmcost::siglip_heads
