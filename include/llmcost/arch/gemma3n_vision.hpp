// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/reader.hpp>
#include <llmcost/forward/timm_modules.hpp>
#include <llmcost/layers/attention.hpp>

namespace llmcost::arch {

namespace gemma3n_media_detail {

// timm's MobileNetV5, `mobilenetv5_300m_enc`.
// Source: timm/models/mobilenetv5.py, _efficientnet_blocks.py, layers/attention2d.py

using timm_modules::call_in_module;

/// Side of the square that every image is resized to, in pixels. It is part of the published processors, not of
/// configurations.
inline constexpr std::int64_t image_side = 768, token_side = 16;

/// A convolution with a square kernel. With a stride, the input is padded explicitly.
struct mobile_convolution {
    std::int64_t in, out, side = 1;
    bool strides = false, is_depthwise = false, bias = false;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return {"", strides ? "Conv2dSame" : "Conv2d"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t groups = is_depthwise ? in : 1;
        const tensor weight = t.param("weight", {out, in / groups, side, side});
        if (bias) t.read_parameter_in_next_op(t.param("bias", {out}));
        if (!strides) return t.conv(x, weight, bias, groups, 1, side / 2);
        const auto same_padding = [&](std::int64_t n) {
            const std::int64_t padding = ((n + 1) / 2 - 1) * 2 + side - n;
            return padding > 0 ? padding : 0;
        };
        return t.conv(t.pad_images(x, same_padding(x.dim(2)), same_padding(x.dim(3))), weight, bias, groups, 2);
    }
};

/// RMS norm over channels in channels-first layout (`rms_norm2d`).
constexpr tensor norm_channels(trace& t, const tensor& x) {
    const tensor weight = t.param("weight", {x.dim(1)});
    const tensor scale = t.rsqrt(t.add_scalar(t.mean(t.pow(x, 2), 1, true)));
    return t.mul(t.mul(x, scale), weight.view({1, x.dim(1), 1, 1}));
}
struct channel_norm {
    static constexpr role module_role = role::norm;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "RmsNorm2d"}; }
    constexpr tensor forward(trace& t, const tensor& x) const { return norm_channels(t, x); }
};
/// `nn.GELU(approximate="tanh")`.
struct tanh_gelu {
    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "GELU"}; }
    constexpr tensor forward(trace& t, const tensor& x) const { return t.gelu_tanh(x); }
};
constexpr tensor norm_and_act(trace& t, literal name, bool acts, const tensor& x) {
    return call_in_module(t, name, "RmsNormAct2d", x, [&](const tensor& in) {
        const tensor h = t.call("drop", identity{}, norm_channels(t, in));
        return acts ? t.call("act", tanh_gelu{}, h) : t.call("act", identity{}, h);
    });
}
constexpr tensor convolve_and_norm(trace& t, literal name, const mobile_convolution& conv, bool acts, const tensor& x) {
    return call_in_module(t, name, "ConvNormAct", x,
                          [&](const tensor& in) { return norm_and_act(t, "bn", acts, t.call("conv", conv, in)); });
}

/// Layer scale: one factor per channel.
struct mobile_scale {
    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "LayerScale2d"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        return t.mul(x, t.param("gamma", {x.dim(1)}).view({1, x.dim(1), 1, 1}));
    }
};

/// Adds the shortcut to a block's output if both have the same shape.
constexpr tensor with_shortcut(trace& t, bool skips, const tensor& h, const tensor& shortcut) {
    const recorder::not_executed_guard unused{t, !skips};
    const tensor dropped = t.call("drop_path", identity{}, h);
    return skips ? t.add(dropped, shortcut) : h;
}

/// Edge residual block: an expanding convolution with a spatial kernel, then a projection.
constexpr tensor edge_residual(trace& t, std::int64_t block_index, std::int64_t out, bool strides, const tensor& x) {
    return call_in_module(t, child_name::indexed(block_index), "EdgeResidual", x, [&](const tensor& in) {
        const std::int64_t width = in.dim(1);
        tensor h =
            t.call("conv_exp", mobile_convolution{.in = width, .out = 4 * width, .side = 3, .strides = strides}, in);
        h = t.call("se", identity{}, t.call("aa", identity{}, norm_and_act(t, "bn1", true, h)));
        h = norm_and_act(t, "bn2", false, t.call("conv_pwl", mobile_convolution{.in = 4 * width, .out = out}, h));
        return with_shortcut(t, !strides && width == out, h, in);
    });
}

/// Arguments of timm's block table: first and middle kernel size (0: none) and expansion ratio.
struct bottleneck {
    std::int64_t start = 0, middle = 0, wider = 2;
};
/// Inverted residual block: expansion, depthwise convolutions, projection.
constexpr tensor inverted_residual(trace& t, child_name place, std::int64_t out, bottleneck b, const tensor& x,
                                   bool scales = true, bool skips = true) {
    return call_in_module(t, place, "UniversalInvertedResidual", x, [&](const tensor& in) {
        const std::int64_t width = in.dim(1), inner = b.wider * width;
        const auto depthwise = [&](literal name, std::int64_t side, bool strides, bool acts, const tensor& input) {
            if (side == 0) return t.call(name, identity{}, input);
            const mobile_convolution conv{input.dim(1), input.dim(1), side, strides, true};
            return convolve_and_norm(t, name, conv, acts, input);
        };
        tensor h = depthwise("dw_start", b.start, false, false, in);
        h = convolve_and_norm(t, "pw_exp", {.in = width, .out = inner}, true, h);
        h = t.call("se", identity{}, depthwise("dw_mid", b.middle, true, true, h));
        h = convolve_and_norm(t, "pw_proj", {.in = inner, .out = out}, false, h);
        h = t.call("dw_end", identity{}, h);
        h = scales ? t.call("layer_scale", mobile_scale{}, h) : t.call("layer_scale", identity{}, h);
        return with_shortcut(t, skips && b.middle == 0 && width == out, h, in);
    });
}

/// Multi-query attention over positions; keys and values can be downsampled by two.
constexpr tensor attend_places(trace& t, std::int64_t heads, std::int64_t d, bool halves, const tensor& x) {
    const std::int64_t batch = x.dim(0), width = x.dim(1), places = x.dim(2) * x.dim(3);
    tensor q = call_in_module(t, "query", "Sequential", x, [&](const tensor& in) {
        return t.call("proj", mobile_convolution{.in = width, .out = heads * d}, in);
    });
    q = t.contiguous(t.reshape(q, {batch, heads, d, places}).transpose(-1, -2));
    const auto project_kv = [&](literal name) {
        const tensor h = call_in_module(t, name, "Sequential", x, [&](tensor in) {
            if (halves) {
                in = t.call("down_conv", mobile_convolution{width, width, 3, true, true}, in);
                in = t.call("norm", channel_norm{}, in);
            }
            return t.call("proj", mobile_convolution{.in = width, .out = d}, in);
        });
        return t.contiguous(t.reshape(h, {batch, d, -1}).transpose(1, 2).unsqueeze(1));
    };
    const tensor k = project_kv("key"), v = project_kv("value");
    {
        const recorder::not_executed_guard in_one_call{t};
        (void)dropout(t, "attn_drop", q, dropout_position::attention);
    }
    tensor mixed;
    {
        // `scaled_dot_product_attention` without a fused kernel: both operands are scaled
        const recorder::fused_kernel_guard fused{
            t, fused_attention_kernel(q, 1, {.query_length = places, .is_causal = false}, k.dim(2))};
        const tensor queries = t.mul_scalar(q), family_keys = t.mul_scalar(k.transpose(-1, -2));
        mixed = t.matmul(t.softmax(t.matmul(queries, family_keys)), v);
    }
    const tensor rows = t.reshape(mixed.transpose(1, 2), {batch, x.dim(2), x.dim(3), heads * d});
    return call_in_module(t, "output", "Sequential", t.contiguous(rows.permute({0, 3, 1, 2})), [&](const tensor& in) {
        return dropout(t, "drop", t.call("proj", mobile_convolution{.in = heads * d, .out = width}, in));
    });
}
constexpr tensor mobile_attention(trace& t, std::int64_t block_index, std::int64_t heads, std::int64_t d, bool halves,
                                  const tensor& x) {
    return call_in_module(t, child_name::indexed(block_index), "MobileAttention", x, [&](const tensor& in) {
        const tensor normed = norm_and_act(t, "norm", false, in);
        const auto attends = [&](const tensor& h) { return attend_places(t, heads, d, halves, h); };
        const tensor h = call_in_module(t, "attn", "MultiQueryAttention2d", normed, attends, role::attn);
        return with_shortcut(t, true, t.call("layer_scale", mobile_scale{}, h), in);
    });
}

inline constexpr std::int64_t stem = 64, first = 128, second = 256, third = 640, fourth = 1280, fused = 2048;

/// Traces all stages; the last two are fused. Source: `_gen_mobilenet_v5`.
constexpr tensor stages(trace& t, const tensor& pixels, tensor& finer) {
    const auto stage = [&](std::int64_t block_index, const tensor& x, const auto& body) {
        return call_in_module(t, child_name::indexed(block_index), "Sequential", x, body);
    };
    const auto item = [](std::int64_t i) { return child_name::indexed(i); };
    tensor x = stage(0, pixels, [&](tensor h) {
        h = edge_residual(t, 0, first, true, h);
        for (std::int64_t i = 1; i < 3; ++i) h = edge_residual(t, i, first, false, h);
        return h;
    });
    x = stage(1, x, [&](tensor h) {
        h = inverted_residual(t, item(0), second, {3, 5, 6}, h);
        for (std::int64_t i = 1; i < 5; ++i) h = inverted_residual(t, item(i), second, {i % 2 == 1 ? 5 : 3, 0, 4}, h);
        return h;
    });
    finer = stage(2, x, [&](tensor h) {
        h = inverted_residual(t, item(0), third, {5, 5, 6}, h);
        for (std::int64_t i = 1; i < 8; ++i) h = inverted_residual(t, item(i), third, {5, 0, 4}, h);
        h = inverted_residual(t, item(8), third, {0, 0, 1}, h);
        for (std::int64_t i = 9; i < 37; i += 2)
            h = inverted_residual(t, item(i + 1), third, {}, mobile_attention(t, i, 12, 64, true, h));
        return h;
    });
    return stage(3, finer, [&](tensor h) {
        h = inverted_residual(t, item(0), fourth, {5, 5, 6}, h);
        for (std::int64_t i = 1; i < 39; i += 2)
            h = inverted_residual(t, item(i + 1), fourth, {}, mobile_attention(t, i, 16, 96, false, h));
        return h;
    });
}

/// Encodes images: (B, 3, 768, 768) -> (B, 2048, 16, 16).
constexpr tensor vision_base(const layer_context&, trace& t) {
    const tensor pixels = t.input({t.load().batch, 3, image_side, image_side});
    return call_in_module(t, "timm_model", "MobileNetV5Encoder", pixels, [&](tensor x) {
        x = convolve_and_norm(t, "conv_stem", {.in = 3, .out = stem, .side = 3, .strides = true, .bias = true}, true,
                              x);
        tensor finer;
        x = call_in_module(t, "blocks", "Sequential", x, [&](const tensor& in) { return stages(t, in, finer); });
        return call_in_module(t, "msfa", "MobileNetV5MultiScaleFusionAdapter", x, [&](const tensor& coarse) {
            const std::int64_t rows = finer.dim(2), columns = finer.dim(3);
            tensor h = t.cat({finer, t.resample(op::gather, coarse, {rows, columns})}, 1);
            h = inverted_residual(t, "ffn", fused, {}, h, false, false);
            h = t.pool(op::average_pool, h, rows / token_side, rows / token_side);
            return t.call("norm", channel_norm{}, h);
        });
    });
}

/// Parses the vision configuration. Only one of timm's models is supported.
constexpr void parse_vision_config(config_view json, model_config&) {
    if (json.string("architecture", "mobilenetv5_300m_enc") != "mobilenetv5_300m_enc")
        throw_unsupported(json, "architecture", "unsupported timm model");
    if (const auto args = json.optional_object("model_args"); args && args->size() != 0)
        throw_unsupported(json, "model_args", "model_args are not supported");
}

inline constexpr submodel_spec part = [](model_spec spec) {
    spec.rotary = rotary_style::none;
    spec.supported_heads = {};
    spec.defaults.vocab_size = 128;
    return spec;
}(model_spec{});
inline constexpr submodel_spec vision = [](model_spec spec) {
    spec.model_type = "gemma3n_vision";
    spec.class_prefix = "TimmWrapper";
    spec.base_model = vision_base;
    spec.parse_config = parse_vision_config;
    spec.defaults.hidden_size = fused;
    spec.defaults.num_hidden_layers = 1;
    return spec;
}(part);
}  // namespace gemma3n_media_detail

}  // namespace llmcost::arch
