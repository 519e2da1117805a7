// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/trace/trace.hpp>

namespace llmcost {

/// Operations of a norm.
enum class norm_kind : std::uint8_t {
    rms,                 ///< x · rsqrt(mean(x²) + ε) in float32, cast back, · weight (Llama)
    rms_cast_last,       ///< as `rms`, with the weight multiplied in float32 before the cast (OLMo 2, gpt-oss)
    rms_float_variance,  ///< only the variance in float32 (T5)
    rms_plus_one,        ///< all in float32, · (1 + weight) (Gemma)
    rms_float_weight,    ///< all in float32, including the weight (Helium)
    rms_power,           ///< as `rms_float_weight`, with a power of -1/2 (Gemma 3n)
    rms_weightless,      ///< as `rms`, without a weight (nanochat)
    layer,               ///< `nn.LayerNorm`, one fused operation
    layer_weightless,    ///< as `layer`, in float32 without weight and bias (OLMo)
    layer_plus_one,      ///< as `layer`, with 1 + weight (Nemotron)
    layer_spelled        ///< layer norm without bias, as separate operations in float32 (Cohere)
};

/// A norm of any kind over the last dimension: x (…, width) -> (…, width).
///
/// For the cost of each kind, see `docs/counting.md`.
struct norm_module {
    norm_kind kind;
    std::int64_t width;
    class_name named{};
    bool weight = true;
    bool bias = true;         ///< of `layer`; other kinds have none
    std::int64_t groups = 0;  ///< with norms per head, the weight is (groups, width); 0: (width)

    static constexpr role module_role = role::norm;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const {
        return kind == norm_kind::layer && is_empty(named.suffix) ? class_name{"", "LayerNorm"} : named;
    }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const shape sizes = groups != 0 ? shape{groups, width} : shape{width};
        const bool weightless = kind == norm_kind::rms_weightless || kind == norm_kind::layer_weightless;
        const tensor w = weight && !weightless ? t.param("weight", sizes) : tensor{};
        if (kind == norm_kind::layer || kind == norm_kind::layer_plus_one) {
            const tensor scale = kind == norm_kind::layer_plus_one ? t.add_scalar(w) : w;
            if (kind == norm_kind::layer_plus_one) t.save_for_backward(scale);
            if (weight) t.read_parameter_in_next_op(scale);
            if (bias) t.read_parameter_in_next_op(t.param("bias", sizes));
            return t.layer_norm(x, (weight ? 1 : 0) + (bias ? 1 : 0));
        }
        const tensor h = t.to(x, dtype::float32);
        if (kind == norm_kind::layer_weightless) return t.to(t.layer_norm(h, 0), x.type);
        if (kind == norm_kind::layer_spelled) {
            const tensor mean = t.mean(h, -1, true);
            const tensor variance = t.mean(t.pow(t.sub(h, mean), 2), -1, true);
            const tensor centered = t.sub(h, mean);
            const tensor out = t.mul(centered, t.rsqrt(t.add_scalar(variance)));
            return t.to(t.mul(t.to(w, dtype::float32), out), x.type);
        }
        const tensor mean_square = t.add_scalar(t.mean(t.pow(h, 2), -1, true));
        if (kind == norm_kind::rms_power) {
            const tensor out = t.mul(h, t.pow_minus_half(mean_square));
            return t.to(weight ? t.mul(out, t.to(w, dtype::float32)) : out, x.type);
        }
        const tensor scale = t.rsqrt(mean_square);
        const tensor out = t.mul(kind == norm_kind::rms_float_variance ? x : h, scale);
        if (kind == norm_kind::rms_cast_last) return t.to(t.mul(w, out), x.type);
        if (kind == norm_kind::rms_float_weight) return t.to(t.mul(t.to(w, dtype::float32), out), x.type);
        if (kind == norm_kind::rms_plus_one) return t.to(t.mul(out, t.add_scalar(t.to(w, dtype::float32))), x.type);
        const tensor cast = t.to(out, x.type);
        return weight && !weightless ? t.mul(w, cast) : cast;
    }
};

/// A layer norm without bias per head: x (batch, heads, sequence, width) -> (batch, heads, sequence, width).
///
/// Source: transformers/models/stablelm/modeling_stablelm.py, `StableLmLayerNormPerHead`.
struct norm_of_each_head {
    std::int64_t heads;
    std::int64_t width;
    class_name named;

    static constexpr role module_role = role::norm;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor head = x.slice(1, 1);
        tensor out = head;
        for (loop layer_loop = t.loop_modules(heads, out); layer_loop.next();)
            out = t.call({"norms", layer_loop.index()}, norm_module{norm_kind::layer, width, {}, true, false}, head);
        tensor concatenated = t.cat({x}, 1);  // has the size of all normalized heads
        concatenated.requires_grad = out.requires_grad;
        return concatenated;
    }
};

/// Calls a norm whose kind depends on the configuration.
constexpr tensor call_norm(trace& t, literal name, norm_kind kind, std::int64_t width, class_name reference_class,
                           const tensor& x, bool bias = true, std::int64_t groups = 0) {
    const bool plain = kind == norm_kind::layer;  // the class is PyTorch's, not the family's
    return t.call(name, norm_module{kind, width, plain ? class_name{} : reference_class, true, bias, groups}, x);
}

}  // namespace llmcost
