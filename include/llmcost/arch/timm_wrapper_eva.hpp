// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/keys.hpp>
#include <llmcost/forward/timm_eva_config.hpp>
#include <llmcost/forward/timm_modules.hpp>
#include <llmcost/forward/vision_encoder.hpp>
#include <llmcost/layers/attention.hpp>
#include <llmcost/layers/norm.hpp>
#include <llmcost/layers/rotary.hpp>

// timm's `Eva` as the language side of Perception Encoder has it, in Transformers' wrapper.
namespace llmcost::arch {

namespace timm_wrapper_eva_detail {

using timm_eva_config::norms_last, timm_eva_config::pools, timm_eva_config::tokens_ahead, timm_modules::call_in_module;

inline constexpr family_key family_keys[]{
    {.type = family_key_type::computed},  // a class token, or none
    {.type = family_key_type::computed},
    {"do_pooling", 1, family_key_type::boolean},
};

/// A configuration of `timm.create_model`, with its name.
struct variant {
    literal name;
    std::int64_t width, layers, inner, ahead;
};

inline constexpr variant variants[]{
    {"vit_pe_lang_large_patch14_448", 1024, 23, 4096, 1},
    {"vit_pe_lang_gigantic_patch14_448", 1536, 47, 8960, 0},
};

inline constexpr std::int64_t heads = 16;

/// Applies RoPE by row and column to queries or keys of patches, after those of a class token (`apply_rot_embed_cat`).
constexpr tensor apply_patch_rotary(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t ahead = ctx.config.family[tokens_ahead], patches = x.dim(2) - ahead;
    const tensor table = trace::buffer({1, patches, x.dim(3)});
    const tensor first = t.slice(x, 2, ahead), rest = t.slice(x, 2, patches);
    return t.cat({first, rotate<rotary_style::interleaved>(t, rest, table, table)}, 2);
}

/// Self-attention, for which timm always calls PyTorch's SDPA, whatever attention implementation is configured.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t width = x.dim(2), batch = x.dim(0), tokens = x.dim(1), d = width / heads;
    const tensor all = t.call("qkv", linear{width, 3 * width, true}, x);
    const tensor operand = t.reshape(all, {batch, tokens, 3, heads, d}).permute({2, 0, 3, 1, 4}).select(0);
    const tensor q = apply_patch_rotary(ctx, t, t.call("q_norm", identity{}, operand));
    const tensor k = apply_patch_rotary(ctx, t, t.call("k_norm", identity{}, operand));
    const attention_pattern pattern{.query_length = tokens, .is_causal = false};
    const bool fused = t.load().implementation == attention_implementation::sdpa;
    const tensor mixed =
        fused ? sdpa_attention_heads(t, q, k, operand, pattern, {}) : math_attention_heads(t, q, k, operand, pattern);
    const tensor attention_output =
        t.call("norm", identity{}, t.reshape(mixed.transpose(1, 2), {batch, tokens, width}));
    return dropout(t, "proj_drop", t.call("proj", linear{width, width, true}, attention_output));
}

constexpr tensor mlp(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t width = x.dim(2), inner = ctx.config.intermediate_size;
    tensor h = t.call("act", gelu_module{}, t.call("fc1", linear{width, inner, true}, x));
    h = t.call("norm", identity{}, dropout(t, "drop1", h));
    return dropout(t, "drop2", t.call("fc2", linear{inner, width, true}, h));
}

constexpr tensor block(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t width = x.dim(2);
    const norm_module layer_norm{norm_kind::layer, width};
    const tensor first = t.param("gamma_1", {width}), second = t.param("gamma_2", {width});
    tensor h = call_in_module(
        t, "attn", "AttentionRope", t.call("norm1", layer_norm, x),
        [&](const tensor& normed) { return timm_wrapper_eva_detail::attention(ctx, t, normed); }, role::attn);
    const tensor middle = t.add(x, t.call("drop_path1", identity{}, t.mul(first, h)));
    h = call_in_module(
        t, "mlp", "Mlp", t.call("norm2", layer_norm, middle), [&](const tensor& normed) { return mlp(ctx, t, normed); },
        role::mlp);
    return t.add(middle, t.call("drop_path2", identity{}, t.mul(second, h)));
}

/// Runs the encoder. The wrapper calls `forward_features` and pools with methods of the model, so their operations
/// belong to it.
constexpr tensor base(const layer_context& ctx, trace& t) {
    const vision_config& image = ctx.config.vision;
    const std::int64_t width = ctx.config.hidden_size, ahead = ctx.config.family[tokens_ahead],
                       patches = patches_of(image);
    const convolution_2d by_patch{image.num_channels, width, image.patch_size, image.patch_size, 0, 1, false};
    const auto in_model = [&](const tensor& x, const auto& body) {
        return call_in_module(t, "timm_model", "Eva", x, body);
    };
    const tensor pixels = pixel_values(ctx, t);
    t.register_buffer(count(patches) * count(2 * (width / heads)) * count(4));  // turns of all patches, in float32
    tensor token, places;
    tensor x = in_model(pixels, [&](const tensor& input) {
        if (ahead > 0) token = t.param("cls_token", {1, 1, width});
        places = t.param("pos_embed", {1, patches + ahead, width});
        return call_in_module(t, "patch_embed", "PatchEmbed", input, [&](const tensor& image_pixels) {
            return t.call("norm", identity{}, as_tokens(t.call("proj", by_patch, image_pixels)));
        });
    });
    if (ahead > 0) x = t.cat({token.expand({x.dim(0), 1, width}), x}, 1);
    x = t.add(x, places);
    x = in_model(x, [&](tensor h) {
        h = t.call("norm_pre", norm_module{norm_kind::layer, width}, dropout(t, "pos_drop", h));
        for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, h); layer_loop.next();)
            h = call_in_module(t, {"blocks", layer_loop.index()}, "EvaBlock", h,
                               [&](const tensor& in) { return block(ctx, t, in); });
        return ctx.config.family[norms_last] != 0 ? t.call("norm", norm_module{norm_kind::layer, width}, h)
                                                  : t.call("norm", identity{}, h);
    });
    const recorder::detach_guard unread{t};
    const recorder::not_executed_guard unused{t, ctx.config.family[pools] == 0};
    (void)in_model(x, [&](const tensor& h) {
        const tensor normed_states = dropout(t, "head_drop", t.call("fc_norm", identity{}, h));
        return t.call("head", identity{}, normed_states);
    });
    return x;
}

/// Sides of images: one number or a pair.
constexpr void parse_sides(config_view json, vision_config& image) {
    if (!json.is_array()) {
        image.image_height = image.image_width = json.as_positive();
        return;
    }
    if (json.size() != 2) throw_invalid_value(json, "one side or two");
    image.image_height = json[0].as_positive();
    image.image_width = json[1].as_positive();
}

constexpr void parse_config(config_view json, model_config& config) {
    (void)json.find("architectures");  // of the wrapper, which has one
    const string_ref architecture_name = json.string("architecture", "resnet50");
    const string_ref name = architecture_name.substr(0, architecture_name.find('.'));
    const variant* found = nullptr;
    for (const variant& candidate : variants)
        if (name == candidate.name) found = &candidate;
    if (found == nullptr) throw_unsupported(json, "architecture", "unsupported timm vision encoder");
    config.vision = {448, 448, 14, 3};
    config.hidden_size = found->width;
    config.num_hidden_layers = found->layers;
    config.family[tokens_ahead] = found->ahead;
    const double ratio = static_cast<double>(found->inner) / static_cast<double>(found->width);
    bool unpooled = false;
    if (const auto args = json.optional_object("model_args"))
        for (const config_view argument : *args) {
            const string_ref key = argument.key();
            if (argument.is_null()) continue;  // `timm.create_model` leaves it out
            if (key == "embed_dim")
                config.hidden_size = argument.as_positive();
            else if (key == "depth")
                config.num_hidden_layers = argument.as_positive();
            else if (key == "img_size")
                parse_sides(argument, config.vision);
            else if (key == "use_post_transformer_norm")
                config.family[norms_last] = argument.as_boolean() ? 1 : 0;
            else if (key == "global_pool" && argument.as_string().empty())
                unpooled = true;
            else if (key != "ref_feat_shape" && key != "init_values")
                throw_unsupported(argument, "unsupported argument of a timm model");
        }
    if (!unpooled) throw_missing_key(json, "model_args", "\"global_pool\": \"\"");
    if (config.hidden_size % (4 * heads) != 0)
        throw_unsupported(json, "model_args", "unsupported embed_dim; expected a multiple of 64 with 16 heads");
    if (config.vision.image_height < 14 || config.vision.image_width < 14)
        throw_unsupported(json, "model_args", "unsupported img_size; expected at least one patch");
    config.intermediate_size = static_cast<std::int64_t>(static_cast<double>(config.hidden_size) * ratio);
    (void)checked_size(json, "model_args", 6, config.hidden_size);
}

}  // namespace timm_wrapper_eva_detail

// timm/models/eva.py, transformers/models/timm_wrapper: patches under learned and rotary positions
inline constexpr submodel_spec timm_eva = [](model_spec spec) {
    spec.model_type = "timm_wrapper";
    spec.class_prefix = "TimmWrapper";
    spec.base_model = timm_wrapper_eva_detail::base;
    spec.parse_config = timm_wrapper_eva_detail::parse_config;
    spec.family_keys = timm_wrapper_eva_detail::family_keys;
    spec.names.model_class = "Model";
    spec.supported_heads = {};
    spec.config_keys.add("hidden_size", key_rule::absent);
    spec.config_keys.add("num_attention_heads", key_rule::absent);
    return spec;
}(shared_tower);

}  // namespace llmcost::arch
