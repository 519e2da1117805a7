// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/vit.hpp>
#include <llmcost/config/image_stages.hpp>
#include <llmcost/forward/beit_layers.hpp>
#include <llmcost/forward/images.hpp>
#include <llmcost/forward/vision_transformer.hpp>

// Source: transformers/models/data2vec: configuration_data2vec_vision.py, modeling_data2vec_vision.py

namespace llmcost::arch {

namespace data2vec_vision_detail {

using beit_layers::biased, beit_layers::drops, beit_layers::embed, beit_layers::mean_pooling,
    beit_layers::relative_bias, beit_layers::scaled, beit_layers::shared;

inline constexpr family_key family_keys[]{
    {"use_mask_token", 0, family_key_type::boolean},
    {"use_absolute_position_embeddings", 0, family_key_type::boolean},
    {"use_relative_position_bias", 0, family_key_type::boolean},
    {"use_shared_relative_position_bias", 0, family_key_type::boolean},
    {"use_mean_pooling", 1, family_key_type::boolean},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
};

struct self_attention {
    const layer_context& ctx;
    const tensor* shared_bias;  ///< a bias shared by all layers; null without one

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("SelfAttention"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, heads = ctx.config.num_attention_heads;
        const auto project = [&](literal name, bool bias) {
            const tensor all = t.call(name, linear{width, width, bias}, x);
            return all.view({x.dim(0), x.dim(1), heads, width / heads}).transpose(1, 2);
        };
        const tensor q = project("query", true), k = project("key", false), v = project("value", true);
        const recorder::fused_kernel_guard fused{
            t, fused_attention_kernel(q, heads, full_pattern(x.dim(1)).pattern, x.dim(1))};
        tensor scores = t.div_scalar(t.matmul(q, k.transpose(-1, -2)));
        if (ctx.config.family[biased] != 0) {
            const module_info bias{.name = "relative_position_bias",
                                   .class_of_module = ctx.class_of("RelativePositionBias"),
                                   .is_leaf = true};
            t.enter(bias);
            scores = t.add(scores, t.leave(bias, relative_bias{ctx}.forward(t)));
        }
        if (shared_bias != nullptr) scores = t.add(scores, *shared_bias);
        const tensor mixed =
            t.matmul(dropout(t, "dropout", t.softmax(scores), dropout_position::attention), v).permute({0, 2, 1, 3});
        return t.contiguous(mixed).view({x.dim(0), x.dim(1), width});
    }
};

/// A linear layer and dropout.
constexpr tensor call_output(const layer_context& ctx, trace& t, literal type, std::int64_t in, const tensor& x,
                             role module_role = role::none) {
    const module_info output{.name = "output", .class_of_module = ctx.class_of(type), .module_role = module_role};
    t.enter(output);
    return t.leave(output, dropout(t, "dropout", t.call("dense", linear{in, ctx.config.hidden_size, true}, x)));
}

struct layer {
    const layer_context& ctx;
    bool drops_path;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Layer"); }
    constexpr tensor forward(trace& t, const tensor& x, const tensor* shared_bias) const {
        const std::int64_t width = ctx.config.hidden_size;
        const bool scales = ctx.config.family[scaled] != 0;
        const norm_module layer_norm{norm_kind::layer, width};
        const drop_path_module path{ctx.spec.class_prefix, drops_path};
        const module_info attention{
            .name = "attention", .class_of_module = ctx.class_of("Attention"), .module_role = role::attn};
        const tensor first = scales ? t.param("lambda_1", {width}) : tensor{};
        const tensor second = scales ? t.param("lambda_2", {width}) : tensor{};
        tensor h = t.call("layernorm_before", layer_norm, x);
        t.enter(attention);
        h = call_output(ctx, t, "SelfOutput", width, t.call("attention", self_attention{ctx, shared_bias}, h));
        t.leave(attention);
        if (scales) h = t.mul(first, h);
        const tensor middle = t.add(t.call("drop_path", path, h), x);
        h = t.call("intermediate", bert_layers::intermediate_block{ctx}, t.call("layernorm_after", layer_norm, middle));
        h = call_output(ctx, t, "Output", ctx.config.intermediate_size, h, role::mlp);
        if (scales) h = t.mul(second, h);
        return t.add(t.call("drop_path", path, h), middle);
    }
};

constexpr tensor call_layer(const layer_context& ctx, trace& t, std::int64_t index, const tensor& x) {
    const module_info m{.name = "layer", .index = index, .class_of_module = ctx.class_of("Layer")};
    tensor shared_bias;
    const bool shares = ctx.config.family[shared] != 0;
    if (shares) {
        const recorder::shared_parameters_guard shared_parameters{t, index > 0};
        const module_info bias{
            .name = "relative_position_bias", .class_of_module = ctx.class_of("RelativePositionBias"), .is_leaf = true};
        t.enter(bias);
        shared_bias = t.leave(bias, relative_bias{ctx}.forward(t));
    }
    t.enter(m);
    return t.leave(
        m, layer{ctx, index > 0 && ctx.config.family[drops] != 0}.forward(t, x, shares ? &shared_bias : nullptr));
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    const std::int64_t width = ctx.config.hidden_size;
    const module_info embeddings{
        .name = "embeddings", .class_of_module = ctx.class_of("Embeddings"), .module_role = role::embedding};
    const module_info encoder{.name = "encoder", .class_of_module = ctx.class_of("Encoder")};
    const norm_module layer_norm{norm_kind::layer, width};
    t.enter(embeddings);
    tensor x = t.leave(embeddings, embed(ctx, t));
    t.enter(encoder);
    x = call_layer(ctx, t, 0, x);
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers - 1, x, 1); layer_loop.next();)
        x = call_layer(ctx, t, layer_loop.index(), x);
    t.leave(encoder);
    const bool means = ctx.config.family[mean_pooling] != 0;
    x = means ? t.call("layernorm", identity{"Identity"}, x) : t.call("layernorm", layer_norm, x);
    if (ctx.config.head == head_kind::none) return x;
    const module_info pooler{.name = "pooler", .class_of_module = ctx.class_of("Pooler"), .is_leaf = !means};
    t.enter(pooler);
    return t.leave(pooler,
                   means ? t.call("layernorm", layer_norm, t.mean(t.slice(x, 1, x.dim(1) - 1), 1)) : t.select(x, 1));
}

}  // namespace data2vec_vision_detail

/// Traces Data2Vec Vision: a vision transformer with layer scale and relative position biases.
///
/// Source: transformers/models/data2vec/modeling_data2vec_vision.py.
constexpr tensor forward_data2vec_vision(const layer_context& ctx, trace& t) {
    return forward_image_model(ctx, t, "data2vec_vision", data2vec_vision_detail::base, classify_linear);
}

constexpr void parse_data2vec_vision(config_view json, model_config& config) {
    using namespace data2vec_vision_detail;
    using namespace beit_layers;
    config.vision = parse_image_size(json, 224);
    config.vision.patch_size = json.positive("patch_size", 16);
    const bool square = config.vision.image_height == config.vision.image_width;
    if (config.vision.image_height < config.vision.patch_size || config.vision.image_width < config.vision.patch_size)
        throw_invalid_value(json, "patch_size", "at most the image's size");
    if (config.hidden_size % config.num_attention_heads != 0)
        throw_invalid_value(json, "num_attention_heads", "a divisor of hidden_size");
    if (config.family[absolute] != 0 && !square)
        throw_unsupported(json, "image_size", "interpolated positions of non-square images are not supported");
    config.family[scaled] = json.real("layer_scale_init_value", 0.1) > 0.0;
    config.family[drops] = json.real("drop_path_rate", 0.1) > 0.0;
}

inline constexpr model_spec data2vec_vision = [](model_spec spec) {
    spec.model_type = "data2vec-vision";
    spec.class_prefix = "Data2VecVision";
    spec.forward = forward_data2vec_vision;
    spec.parse_config = parse_data2vec_vision;
    spec.family_keys = data2vec_vision_detail::family_keys;
    spec.accepts_any_image_size = true;
    spec.base_model = data2vec_vision_detail::base;
    spec.supported_heads = {head_kind::none, head_kind::image_classification};
    spec.names = {};
    return spec;
}(vit);

}  // namespace llmcost::arch
