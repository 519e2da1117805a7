// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/forward/images.hpp>
#include <llmcost/forward/vision_encoder.hpp>
#include <llmcost/forward/vision_transformer.hpp>
#include <llmcost/layers/convolution.hpp>

// InternVL: attention, embeddings and configuration of its vision encoder (arXiv 2312.14238).
namespace llmcost::internvl_layers {

enum family_config_index : std::uint8_t { mask_token, absolute, mean_pooling, norms_heads, rms, drops_projection };

inline constexpr family_key family_keys[]{
    {"use_mask_token", 0, family_key_type::boolean},
    {"use_absolute_position_embeddings", 1, family_key_type::boolean},
    {"use_mean_pooling", 1, family_key_type::boolean},
    {"use_qk_norm", 0, family_key_type::boolean},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
};

struct attention {
    const layer_context& ctx;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Attention"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, heads = ctx.config.num_attention_heads;
        const linear projection{width, width, ctx.config.attention_bias};
        const auto split = [&](const tensor& all) {
            return t.reshape(all, {x.dim(0), x.dim(1), heads, width / heads}).transpose(1, 2);
        };
        tensor q = t.call("q_proj", projection, x), k = t.call("k_proj", projection, x);
        const tensor v = t.call("v_proj", projection, x);
        q = normed(t, "q_norm", q);
        k = normed(t, "k_norm", k);
        const attention_pattern pattern = full_pattern(x.dim(1)).pattern;
        const tensor mixed =
            attention_forward(t, split(q), split(k), split(v), pattern, {.has_float32_softmax = false});
        const tensor attention_output = t.reshape(mixed, {x.dim(0), x.dim(1), width});
        const tensor out = t.call("projection_layer", linear{width, width, true}, attention_output);
        if (ctx.config.family[drops_projection] != 0)
            return dropout(t, "projection_dropout", out, dropout_position::unconditional);
        return t.call("projection_dropout", identity{"Identity"}, out);
    }
    constexpr tensor normed(trace& t, literal name, const tensor& x) const {
        if (ctx.config.family[norms_heads] == 0) return t.call(name, identity{"Identity"}, x);
        return t.call(name, norm_module{norm_kind::rms, x.dim(-1), ctx.class_of("RMSNorm")}, x);
    }
};

constexpr tensor embed(const layer_context& ctx, trace& t) {
    return embed_with_class_token(ctx, t, ctx.config.family[mask_token] != 0, ctx.config.family[absolute] != 0);
}

constexpr void parse_config(config_view json, model_config& config) {
    parse_vit(json, config);
    if (!json.contains("image_size")) config.vision.image_height = config.vision.image_width = 448;
    if (!json.contains("patch_size")) config.vision.patch_size = 14;
    if (config.family[absolute] != 0 && config.vision.image_height != config.vision.image_width)
        throw_unsupported(json, "image_size", "interpolated positions of non-square images are not supported");
    config.attention_bias = json.boolean("attention_bias", false);
    const string_ref kind = json.string("norm_type", "layer_norm");
    if (kind != "layer_norm" && kind != "rms_norm") throw_invalid_value(json, "norm_type", "layer_norm or rms_norm");
    config.family[rms] = kind == "rms_norm";
    config.family[drops_projection] = json.real("projection_dropout", 0.0) > 0.0;
}

}  // namespace llmcost::internvl_layers
