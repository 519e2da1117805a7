// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/config/image.hpp>
#include <llmcost/forward/composite.hpp>
#include <llmcost/forward/multimodal.hpp>
#include <llmcost/forward/swin_norm_layer.hpp>
#include <llmcost/forward/vq_encoder.hpp>
#include <llmcost/layers/convolution.hpp>

// Chameleon. Derived from Llama, with these differences:
//  - layer norms of queries and keys per head;
//  - a VQ-VAE that encodes images to tokens of the vocabulary.
//
// Source: transformers/models/chameleon

namespace llmcost::arch {

namespace chameleon_detail {

using vq_encoder::group_norm, vq_encoder::halve, vq_encoder::residual_block, vq_encoder::swish;

inline constexpr std::int64_t max_levels = 8;

enum vq_config_index : std::uint8_t {
    code_width,
    codes,
    latent,
    resolution,
    in_channels,
    base_channels,
    blocks,
    vanilla,    // 1 if the middle block has attention
    levels,     // number of resolutions; each halves the previous one
    attending,  // bit mask of the levels with attention
    factors
};

inline constexpr family_key vq_keys[]{
    {"embed_dim", 256},
    {"num_embeddings", 8192},
    {"latent_channels", 256},
    {"resolution", 512},
    {"in_channels", 3},
    {"base_channels", 128},
    {"num_res_blocks", 2},
    {.default_value = 1, .type = family_key_type::computed},
    {.default_value = 5, .type = family_key_type::computed},
    {.type = family_key_type::computed},
};

constexpr void parse_vq(config_view json, model_config& config) {
    constexpr std::int64_t usual[]{1, 1, 2, 2, 4};
    const auto list = json.optional_array("channel_multiplier");
    if (list) config.family[levels] = static_cast<std::int64_t>(list->size());
    if (config.family[levels] < 1 || config.family[levels] > max_levels)
        throw_unsupported(json, "channel_multiplier", "unsupported number of resolutions");
    for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(config.family[levels]); ++i) {
        const std::int64_t factor = list ? (*list)[i].as_positive() : usual[i];
        if (checked_size(json, "base_channels", factor, config.family[base_channels]) % 32 != 0)
            throw_invalid_value(json, "base_channels", "a multiple of 32 channels at every resolution");
        config.family[factors + i] = factor;
    }
    config.family[vanilla] = json.string("attn_type", "vanilla") == "vanilla";
    if (const auto attn_resolutions = json.optional_array("attn_resolutions"))
        for (const config_view entry : *attn_resolutions) {
            const std::int64_t side = entry.as_integer();
            for (std::int64_t i = 0, left = config.family[resolution]; i < config.family[levels]; ++i, left /= 2)
                if (config.family[vanilla] != 0 && side == left) config.family[attending] |= 1LL << i;
        }
    if (json.boolean("double_latent", false))
        throw_unsupported(json, "double_latent",
                          "not supported: the next projection of the reference expects one latent");
}

/// Number of image tokens along each side of an image.
[[nodiscard]] constexpr std::int64_t codes_along(const family_config& family) {
    std::int64_t side = family[resolution];
    for (std::int64_t i = 1; i < family[levels]; ++i) side = (side + 1 - 3) / 2 + 1;
    return side;
}

/// Single-head attention over all positions; the head has the size of all channels.
struct attention_block {
    const layer_context& ctx;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("EncoderAttnBlock"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = x.dim(1), places = x.dim(2) * x.dim(3);
        const convolution_2d projection{width, width};
        const tensor h = t.call("norm", group_norm{}, x);
        const tensor q = t.call("q", projection, h), k = t.call("k", projection, h), v = t.call("v", projection, h);
        const auto flat = [&](const tensor& states) { return t.reshape(states, {x.dim(0), width, places}); };
        const tensor scores = t.mul_scalar(t.bmm(flat(q).permute({0, 2, 1}), flat(k)));
        const tensor found = t.bmm(flat(v), t.softmax(scores).permute({0, 2, 1}));
        return t.add(x, t.call("proj_out", projection, t.reshape(found, {x.dim(0), width, x.dim(2), x.dim(3)})));
    }
};

constexpr tensor encode_image(const layer_context& ctx, trace& t) {
    const family_config& family = ctx.config.family;
    const module_info encoder{.name = "encoder", .class_of_module = ctx.class_of("Encoder")};
    const module_info middle{.name = "mid", .class_of_module = {"", "Module"}};
    const tensor pixels = t.input({t.load().batch, family[in_channels], family[resolution], family[resolution]});
    t.enter(encoder);
    tensor x = t.call("conv_in", convolution_2d{family[in_channels], family[base_channels], 3, 1, 1}, pixels);
    for (std::int64_t i = 0; i < family[levels]; ++i) {
        const module_info level{.name = "down", .index = i, .class_of_module = {"", "Module"}};
        const std::int64_t width = family[base_channels] * family[static_cast<std::size_t>(factors + i)];
        t.enter(level);
        for (std::int64_t j = 0; j < family[blocks]; ++j) {
            x = t.call({"block", j}, residual_block{ctx, width}, x);
            if ((family[attending] >> i & 1) != 0) x = t.call({"attn", j}, attention_block{ctx}, x);
        }
        if (i + 1 < family[levels]) x = halve(ctx, t, x);
        t.leave(level, x);
    }
    const std::int64_t width = x.dim(1);
    t.enter(middle);
    x = t.call("block_1", residual_block{ctx, width}, x);
    if (family[vanilla] != 0) x = t.call("attn_1", attention_block{ctx}, x);
    x = t.leave(middle, t.call("block_2", residual_block{ctx, width}, x));
    x = swish(t, t.call("norm_out", group_norm{}, x));
    return t.leave(encoder, t.call("conv_out", convolution_2d{width, family[latent], 3, 1, 1}, x));
}

/// Vector quantizer: finds the nearest code of each position. The reference also computes its loss.
struct quantizer {
    const layer_context& ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("VectorQuantizer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.family[code_width], n = ctx.config.family[codes];
        const tensor all = t.contiguous(x.permute({0, 2, 3, 1}));
        const tensor flat = all.view({-1, width});
        const tensor table = t.input({n, width});
        const tensor flat_squares = t.sum(t.pow(flat, 2), 1, true);
        const tensor squares = t.add(flat_squares, t.sum(t.pow(table, 2), 1));
        const tensor products = t.bmm(flat.unsqueeze(0), table.transpose(0, 1).unsqueeze(0)).view({flat.dim(0), n});
        (void)t.sub(squares, t.mul_scalar(products));
        const tensor found =
            t.call("embedding", embedding{n, width}, shape{flat.dim(0)}).view({x.dim(0), x.dim(2), x.dim(3), width});
        const auto error = [&] { return t.mean(t.pow(t.sub(found, all), 2).view({-1}), 0, true); };
        const tensor one = error(), codebook_error = error();
        (void)t.add(one, t.mul_scalar(codebook_error));
        (void)t.contiguous(t.add(all, t.sub(found, all)).permute({0, 3, 1, 2}));
        return flat;
    }
};

/// Encodes images to codes. No gradient passes the codes.
constexpr tensor encode_images(const layer_context& ctx, trace& t) {
    const family_config& family = ctx.config.family;
    const recorder::detach_guard codes_are_integers{t};
    const tensor features =
        t.call("quant_conv", convolution_2d{family[latent], family[code_width]}, encode_image(ctx, t));
    (void)t.call("quantize", quantizer{ctx}, features);
    const recorder::not_executed_guard decodes_only{t};
    (void)t.call("post_quant_conv", convolution_2d{family[code_width], family[latent]}, features);
    return features;
}

inline constexpr submodel_spec vq{
    .model_type = "chameleon_vqgan",
    .class_prefix = "ChameleonVQVAE",
    .base_model = encode_images,
    .parse_config = parse_vq,
    .family_keys = vq_keys,
    .rotary = rotary_style::none,
    .names = {.model_class = ""},
    .defaults = {.hidden_size = 256, .num_hidden_layers = 1},
};

constexpr media_shapes compute_media_shapes(const model& m, const workload&) {
    const family_config& family = m.components[0].config.family;
    const std::int64_t side = codes_along(family);
    return {.image = {.num_tokens = side * side, .height = family[resolution], .width = family[resolution]}};
}

/// Token embeddings with the embeddings of image codes inserted, then the layers and the final norm.
constexpr tensor base(const layer_context& ctx, trace& t) {
    const decoder_module_names& n = ctx.spec.names;
    tensor x = embed_tokens(ctx, t);
    {
        const recorder::not_executed_guard no_pixels{t, !has_images(t)};
        const recorder::workload_guard encoder_workload{t, image_workload(t.load(), images_in(t), 0, 0)};
        (void)forward_encoder_component(ctx, t, 0, "vqmodel", role::vision);
        const recorder::shared_parameters_guard shared_parameters{t};
        const std::int64_t side = codes_along(ctx.model.components[0].config.family);
        const embedding table{ctx.config.vocab_size, ctx.config.hidden_size};
        x = t.masked_scatter(x, t.call(n.embed_tokens, table, shape{t.load().batch, side * side}));
    }
    const decoder_inputs shared = ctx.spec.prepare_inputs(ctx, t);
    return apply_norm(ctx, t, n.norm, forward_layers(ctx, t, shared, x));
}

/// Layer norm over each head separately. Weight and bias have one element per feature of all heads.
struct head_norm {
    const layer_context& ctx;

    static constexpr role module_role = role::norm;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("LayerNorm"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor weight = t.param("weight", {x.dim(1), x.dim(2)}), bias = t.param("bias", {x.dim(1), x.dim(2)});
        return t.add(t.mul(t.layer_norm(x, 0), weight), bias);
    }
};

constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const model_config& config = ctx.config;
    query_key_value qkv = project_qkv(ctx, t, x);
    const auto norm_heads = [&](literal name, tensor& all, std::int64_t heads) {
        all = t.call(name, head_norm{ctx}, all.view({-1, heads, config.head_dim}));
        all = all.view({x.dim(0), x.dim(1), heads * config.head_dim});
    };
    norm_heads(ctx.spec.names.q_norm, qkv.query, config.num_attention_heads);
    norm_heads(ctx.spec.names.k_norm, qkv.key, config.num_key_value_heads);
    split_heads(ctx, qkv);
    transpose_heads(qkv);
    apply_rotary(ctx, t, qkv);
    update_kv_cache(ctx, t, qkv);
    return output_projection(ctx, t, scaled_dot_product_attention(ctx, t, qkv));
}

inline constexpr family_key family_keys[]{{"swin_norm", 0, family_key_type::boolean}};

}  // namespace chameleon_detail

inline constexpr model_spec chameleon = [](model_spec spec) {
    spec.dropout_keys = {};
    spec.model_type = "chameleon";
    spec.class_prefix = "Chameleon";
    spec.base_model = chameleon_detail::base;
    spec.decoder_layer = swin_norm_layer::decoder_layer;
    spec.attention = chameleon_detail::attention;
    spec.family_keys = chameleon_detail::family_keys;
    spec.compute_media_shapes = chameleon_detail::compute_media_shapes;
    spec.modalities.has_images = true;
    spec.supported_heads = composite_heads;
    spec.components[0] = {.key = "vq_config", .default_spec = &chameleon_detail::vq, .ignores_model_type = true};
    spec.defaults.vocab_size = 65536;
    spec.defaults.max_position_embeddings = 4096;
    spec.defaults.head = head_kind::conditional_generation;
    return spec;
}(llama);

}  // namespace llmcost::arch
