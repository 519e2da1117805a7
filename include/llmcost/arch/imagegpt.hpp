// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/gpt2.hpp>
#include <llmcost/forward/conv_1d_mlp.hpp>
#include <llmcost/forward/images.hpp>

namespace llmcost::arch {

namespace imagegpt_detail {

enum family_config_index : std::uint8_t { colors, scales, scales_by_layer };
inline constexpr family_key family_keys[]{{.type = family_key_type::computed},  // a pixel is one of so many
                                          {"scale_attn_weights", 1, family_key_type::boolean},
                                          {"scale_attn_by_inverse_layer_idx", 0, family_key_type::boolean}};

/// x over the root of its mean square, times a weight: not mean centered.
struct root_norm {
    std::int64_t width;
    class_name named;

    static constexpr role module_role = role::norm;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor weight = t.param("weight", {width});
        const tensor length = t.sqrt(t.add_scalar(t.mean(t.pow(x, 2), -1, true)));
        return t.mul(t.div(x, length), weight);
    }
};

/// Pixels see those before: their scores are chosen by a mask, which is added nowhere.
struct attention {
    const layer_context& ctx;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Attention"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, heads = ctx.config.num_attention_heads, n = x.dim(1);
        // `bias`: a causal mask of Booleans
        t.register_buffer(count(ctx.config.max_position_embeddings) * count(ctx.config.max_position_embeddings));
        const tensor all = t.call("c_attn", conv_1d{width, 3 * width}, x);
        const tensor part = all.slice(-1, width).view({x.dim(0), n, heads, width / heads}).transpose(1, 2);
        const attention_pattern pattern{.query_length = n};
        const tensor q = part, k = update_kv_cache(t, part, pattern), v = update_kv_cache(t, part, pattern);
        tensor mixed;
        {
            const recorder::fused_kernel_guard fused{t, fused_attention_kernel(q, heads, pattern, n)};
            const bool sparse = t.load().attention == attention_scores::causal;
            tensor scores = t.matmul(q, k.transpose(-1, -2), sparse ? pattern.visible_pairs() : 0);
            if (ctx.config.family[scales] != 0) scores = t.div_scalar(scores);
            if (ctx.config.family[scales_by_layer] != 0) scores = t.div_scalar(scores);
            if (!sparse) scores = t.masked_fill(scores);
            mixed = t.matmul(dropout(t, "attn_dropout", t.softmax(scores), dropout_position::attention), v);
        }
        const tensor attention_output = t.contiguous(mixed.permute({0, 2, 1, 3})).view({x.dim(0), n, width});
        return dropout(t, "resid_dropout", t.call("c_proj", conv_1d{width, width}, attention_output));
    }
};

struct layer {
    const layer_context& ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Block"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const root_norm normed{ctx.config.hidden_size, ctx.class_of("LayerNorm")};
        const tensor middle = t.add(t.call("attn", attention{ctx}, t.call("ln_1", normed, x)), x);
        return t.add(middle, t.call("mlp", conv_1d_mlp{ctx}, t.call("ln_2", normed, middle)));
    }
};

/// Embeds one token per pixel and adds learned positions.
constexpr tensor base(const layer_context& ctx, trace& t) {
    const vision_config& image = ctx.config.vision;
    const std::int64_t n = image.image_height * image.image_width, width = ctx.config.hidden_size;
    const tensor token_embeddings =
        t.call("wte", embedding{ctx.config.family[colors], width}, shape{t.load().batch, n});
    const embedding places{
        .num_embeddings = ctx.config.max_position_embeddings, .embedding_dim = width, .creates_indices = true};
    tensor x =
        dropout(t, "drop", t.add(token_embeddings, t.call("wpe", places, shape{1, n})), dropout_position::embeddings);
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, x); layer_loop.next();)
        x = t.call({"h", layer_loop.index()}, layer{ctx}, x);
    return t.call("ln_f", root_norm{width, ctx.class_of("LayerNorm")}, x);
}

constexpr tensor classify(const layer_context& ctx, trace& t, const tensor& x) {
    return t.call("score", head_linear{{ctx.config.hidden_size, ctx.config.num_labels}}, t.mean(x, 1));
}

constexpr void parse_config(config_view json, model_config& config) {
    gpt2.parse_config(json, config);
    if (json.boolean("reorder_and_upcast_attn", false))
        throw_unsupported(json, "reorder_and_upcast_attn", "upcast attention scores of pixels are not supported");
    std::int64_t side = 1;
    while ((side + 1) * (side + 1) <= config.max_position_embeddings) ++side;
    config.vision = {side, side, 1, 3};
    config.family[colors] = config.vocab_size;
    config.vocab_size = 0;
}

}  // namespace imagegpt_detail

// transformers/models/imagegpt: configuration_imagegpt.py, modeling_imagegpt.py, GPT-2 whose tokens are pixel colors
inline constexpr model_spec imagegpt = [](model_spec spec) {
    spec.dropout_keys = {};
    spec.model_type = "imagegpt";
    spec.class_prefix = "ImageGPT";
    spec.parse_config = imagegpt_detail::parse_config;
    spec.family_keys = imagegpt_detail::family_keys;
    spec.forward = [](const layer_context& ctx, trace& t) {
        return forward_image_model(ctx, t, "transformer", imagegpt_detail::base, imagegpt_detail::classify);
    };
    spec.base_model = imagegpt_detail::base;
    spec.supported_heads = {head_kind::none, head_kind::image_classification};
    spec.defaults.head = head_kind::image_classification;
    spec.defaults.vocab_size = 513;
    spec.defaults.hidden_size = 512;
    spec.defaults.num_hidden_layers = 24;
    spec.defaults.num_attention_heads = 8;
    spec.defaults.hidden_act = activation::quick_gelu;
    spec.defaults.tie_word_embeddings = false;
    return spec;
}(gpt2);

}  // namespace llmcost::arch
