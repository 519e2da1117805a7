// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/data2vec_vision.hpp>
#include <llmcost/forward/beit_layers.hpp>
#include <llmcost/forward/vision_encoder.hpp>

// BEiT. Derived from Data2Vec vision, with layer scale and relative position biases.
//
// Source: transformers/models/beit: configuration_beit.py, modeling_beit.py

namespace llmcost::arch {

namespace beit_detail {

using namespace beit_layers;

struct attention {
    const layer_context& ctx;
    const tensor* bias;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Attention"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, heads = ctx.config.num_attention_heads;
        const auto split = [&](literal name, bool biased) {
            const tensor all = t.call(name, linear{width, width, biased}, x);
            return all.view({x.dim(0), x.dim(1), heads, width / heads}).transpose(1, 2);
        };
        const tensor q = split("q_proj", true), k = split("k_proj", false), v = split("v_proj", true);
        const tensor mixed = attention_forward(t, q, k, v, full_pattern(x.dim(1)).pattern, {.mask = bias});
        const tensor attention_output = t.contiguous(t.reshape(mixed, {x.dim(0), x.dim(1), -1}));
        return t.call("o_proj", linear{width, width, true}, attention_output);
    }
};

constexpr tensor bias_of(const layer_context& ctx, trace& t, literal name) {
    const module_info m{.name = name, .class_of_module = ctx.class_of("RelativePositionBias"), .is_leaf = true};
    t.enter(m);
    return t.leave(m, beit_layers::relative_bias{ctx}.forward(t));
}

struct layer {
    const layer_context& ctx;
    bool drops_path;
    const tensor* shared_bias;  ///< a bias shared by all layers; null without one

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Layer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size;
        const bool scales = ctx.config.family[scaled] != 0, has_layer_bias = ctx.config.family[biased] != 0;
        const norm_module layer_norm{norm_kind::layer, width};
        const drop_path_module path{ctx.spec.class_prefix, drops_path};
        const tensor first = scales ? t.param("lambda_1", {width}) : tensor{};
        const tensor second = scales ? t.param("lambda_2", {width}) : tensor{};
        tensor bias;
        if (has_layer_bias) bias = bias_of(ctx, t, "relative_position_bias");
        if (has_layer_bias && shared_bias != nullptr) bias = t.add(bias, *shared_bias);
        const tensor* const added = has_layer_bias ? &bias : shared_bias;
        tensor h = t.call("attention", attention{ctx, added}, t.call("layernorm_before", layer_norm, x));
        h = dropout(t, "dropout", h);
        h = scales ? t.mul(first, h) : t.mul_scalar(h);
        const tensor middle = t.add(t.call("drop_path", path, h), x);
        h = t.call("mlp", vision_encoder_layer::vision_mlp_of(ctx), t.call("layernorm_after", layer_norm, middle));
        h = dropout(t, "dropout", h);
        h = scales ? t.mul(second, h) : t.mul_scalar(h);
        return t.add(t.call("drop_path", path, h), middle);
    }
};

constexpr tensor base(const layer_context& ctx, trace& t) {
    const std::int64_t width = ctx.config.hidden_size;
    const module_info embeddings{
        .name = "embeddings", .class_of_module = ctx.class_of("Embeddings"), .module_role = role::embedding};
    const norm_module layer_norm{norm_kind::layer, width};
    t.enter(embeddings);
    tensor x = t.leave(embeddings, embed(ctx, t));
    tensor shared_bias;
    const bool shares = ctx.config.family[shared] != 0;
    if (shares) shared_bias = bias_of(ctx, t, "shared_position_bias");
    const tensor* const added = shares ? &shared_bias : nullptr;
    x = t.call({"layers", 0}, layer{ctx, false, added}, x);
    const layer repeated_layer{ctx, ctx.config.family[drops] != 0, added};
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers - 1, x, 1); layer_loop.next();)
        x = t.call({"layers", layer_loop.index()}, repeated_layer, x);
    const bool means = ctx.config.family[mean_pooling] != 0;
    x = means ? t.call("layernorm", identity{"Identity"}, x) : t.call("layernorm", layer_norm, x);
    const recorder::detach_guard unread{t, ctx.config.head == head_kind::none};
    const module_info pooler{.name = "pooler", .class_of_module = ctx.class_of("Pooler"), .is_leaf = !means};
    t.enter(pooler);
    const tensor pooled = t.leave(
        pooler, means ? t.call("layernorm", layer_norm, t.mean(t.slice(x, 1, x.dim(1) - 1), 1)) : t.select(x, 1));
    return ctx.config.head == head_kind::none ? x : pooled;
}

}  // namespace beit_detail

inline constexpr model_spec beit = [](model_spec spec) {
    spec.model_type = "beit";
    spec.class_prefix = "Beit";
    spec.base_model = beit_detail::base;
    spec.forward = [](const layer_context& ctx, trace& t) {
        return forward_image_model(ctx, t, "beit", beit_detail::base, classify_linear);
    };
    return spec;
}(data2vec_vision);

}  // namespace llmcost::arch
