// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/gpt2.hpp>
#include <llmcost/walks/images.hpp>

namespace llmcost::arch {

namespace imagegpt_detail {

enum own : std::uint8_t { colors, scales, scales_by_layer };
inline constexpr own_key keys[]{{.value = own_value::computed},  // a pixel is one of so many
                                {"scale_attn_weights", 1, own_value::boolean},
                                {"scale_attn_by_inverse_layer_idx", 0, own_value::boolean}};

/// x over the root of its mean square, times a weight: not mean centered.
struct root_norm {
    std::int64_t width;
    class_name named;

    static constexpr role what = role::norm;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr value describe(trace& t, const value& x) const {
        const value weight = t.param("weight", {width});
        const value length = t.unary(op::sqrt, t.add(t.mean(t.pow(x, 2), -1, true)));
        return t.mul(t.div(x, length), weight);
    }
};

/// Pixels see those before: their scores are chosen by a mask, which is added nowhere.
struct attention {
    const site& here;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Attention"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, heads = here.dims.num_attention_heads, n = x.dim(1);
        const value all = t.call("c_attn", conv_1d{width, 3 * width}, x);
        const value part = all.slice(-1, width).view({x.dim(0), n, heads, width / heads}).transpose(1, 2);
        const context where{.sequence = n};
        const value q = part, k = update_cache(t, part, where), v = update_cache(t, part, where);
        value mixed;
        {
            const recorder::fused_guard fused{t, fused_attention(q, heads, where, n)};
            const bool sparse = t.load().attention == attention_scores::causal;
            value scores = t.matmul(q, k.transpose(-1, -2), sparse ? where.visible_pairs() : 0);
            if (here.dims.own[scales] != 0) scores = t.div(scores);
            if (here.dims.own[scales_by_layer] != 0) scores = t.div(scores);
            if (!sparse) scores = t.where(scores);
            mixed = t.matmul(dropout(t, "attn_dropout", t.softmax(scores), dropout_of::attention), v);
        }
        const value joined = t.contiguous(mixed.permute({0, 2, 1, 3})).view({x.dim(0), n, width});
        return dropout(t, "resid_dropout", t.call("c_proj", conv_1d{width, width}, joined));
    }
};

struct layer {
    const site& here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Block"); }
    constexpr value describe(trace& t, const value& x) const {
        const root_norm normed{here.dims.hidden_size, here.type("LayerNorm")};
        const value middle = t.add(t.call("attn", attention{here}, t.call("ln_1", normed, x)), x);
        return t.add(middle, t.call("mlp", gpt2_detail::feed_forward_block{here}, t.call("ln_2", normed, middle)));
    }
};

/// One token for each pixel, behind learned positions.
constexpr value base(const site& here, trace& t) {
    const vision_sizes& image = here.dims.vision;
    const std::int64_t n = image.image_height * image.image_width, width = here.dims.hidden_size;
    const value words = t.call("wte", embedding{here.dims.own[colors], width}, extents{t.load().batch, n});
    const embedding places{.rows = here.dims.max_position_embeddings, .width = width, .makes_indices = true};
    value x = dropout(t, "drop", t.add(words, t.call("wpe", places, extents{1, n})), dropout_of::embeddings);
    for (repetition each = t.repeat(here.dims.num_hidden_layers, x); each.next();)
        x = t.call({"h", each.index()}, layer{here}, x);
    return t.call("ln_f", root_norm{width, here.type("LayerNorm")}, x);
}

constexpr value classify(const site& here, trace& t, const value& x) {
    return t.call("score", head_linear{{here.dims.hidden_size, here.dims.num_labels}}, t.mean(x, 1));
}

constexpr void read(config_view config, sizes& s) {
    gpt2_detail::read(config, s);
    if (config.boolean("reorder_and_upcast_attn", false))
        fail_unsupported(config, "reorder_and_upcast_attn", "no row describes pixels with scores that are upcast");
    std::int64_t side = 1;
    while ((side + 1) * (side + 1) <= s.max_position_embeddings) ++side;
    s.vision = {side, side, 1, 3};
    s.own[colors] = s.vocab_size, s.vocab_size = 0;
}

}  // namespace imagegpt_detail

// transformers/models/imagegpt: configuration_imagegpt.py, modeling_imagegpt.py, GPT-2 whose words are colors of pixels
inline constexpr architecture imagegpt = [](architecture a) {
    a.drops = {}, a.model_type = "imagegpt", a.prefix = "ImageGPT", a.read = imagegpt_detail::read, a.own = imagegpt_detail::keys;
    a.describe = [](const site& here, trace& t) {
        return describe_image_model(here, t, "transformer", imagegpt_detail::base, imagegpt_detail::classify);
    };
    a.base = imagegpt_detail::base, a.heads = {head_kind::none, head_kind::image_classification};
    a.defaults.head = head_kind::image_classification, a.defaults.vocab_size = 513, a.defaults.hidden_size = 512;
    a.defaults.num_hidden_layers = 24, a.defaults.num_attention_heads = 8, a.defaults.hidden_act = activation::quick_gelu;
    a.defaults.tie_word_embeddings = false;
    return a;
}(gpt2);

}  // namespace llmcost::arch
