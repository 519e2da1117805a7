// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/qwen3_5.hpp>
#include <llmcost/reading/image.hpp>
#include <llmcost/walks/composite.hpp>
#include <llmcost/walks/tower.hpp>

namespace llmcost::arch {

namespace minicpmv4_6_detail {

enum own : std::uint8_t { rounds };
inline constexpr own_key keys[]{{"merger_times", 1}};

enum tower_own : std::uint8_t { window };
inline constexpr own_key tower_keys[]{{.otherwise = 4, .value = own_value::computed}};  // patches of a window

/// Windows of patches attend within themselves and become one patch each (`MiniCPMV4_6ViTWindowAttentionMerger`).
struct window_merger {
    site here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("ViTWindowAttentionMerger"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, n = here.dims.own[window], inner = here.dims.intermediate_size * n;
        const value normed = t.call("layer_norm1", norm<norm_kind::layer>{width}, x);
        const std::int64_t windows = (x.dim(0) * x.dim(1) + n - 1) / n;
        const value h = t.call("self_attn", attention_module{here}, t.gather(normed, {windows, n, width}));
        const value patches = t.add(t.gather(x, {windows, n, width}), h);
        const value mean = t.mean(patches, 1);
        value out = t.call("pre_norm", norm<norm_kind::layer>{n * width}, patches.view({windows, n * width}));
        out = t.call("linear_1", linear{n * width, inner, true}, out);
        out = t.call("act", activation_module{activation::gelu_pytorch_tanh}, out);
        return t.add(t.call("linear_2", linear{inner, width, true}, out), mean).unsqueeze(0);
    }
};

/// Patches with learned positions, layers, the merger among them, a norm; here the merger stands behind all layers.
constexpr value tower_base(const site& here, trace& t) {
    const value pixels = pixels_of(here, t);
    const std::int64_t width = here.dims.hidden_size, positions = patches_of(here.dims.vision);
    const module_info embeddings{.name = "embeddings", .type = here.type("VisionEmbeddings"), .what = role::embedding};
    t.enter(embeddings);
    const value patches = embed_patches(here, t, "patch_embedding", true, pixels);
    const value places = t.call("position_embedding", embedding{positions, width}, extents{pixels.dim(0), positions});
    value x = encode(here, t, t.leave(embeddings, t.add(patches, places)), "VisionEncoder");
    x = t.call("vit_merger", window_merger{here}, x);
    return t.call("post_layernorm", norm<norm_kind::layer>{width}, x);
}

constexpr void read_tower(config_view config, sizes& s) {
    read_square_image(config, s, 224, 16);
    share_among_heads(config, s, {"num_attention_heads"});
    const auto sides = config.optional_array("window_kernel_size");
    if (!sides) return;
    if (sides->size() != 2) fail_value(config, "window_kernel_size", "rows and columns of a window");
    const std::int64_t n = checked_width(config, "window_kernel_size", (*sides)[0].as_positive(), (*sides)[1].as_positive());
    (void)checked_width(config, "window_kernel_size", n, s.hidden_size);
    s.own[window] = n, (void)checked_width(config, "window_kernel_size", n, s.intermediate_size);
}

inline constexpr architecture tower = [](architecture a) {
    a.prefix = "MiniCPMV4_6", a.base = tower_base, a.read = read_tower, a.own = tower_keys, a.heads = {};
    a.names.layer_type = "VisionEncoderLayer", a.names.attention_type = "VisionAttention", a.names.mlp_type = "VisionMLP";
    a.defaults.hidden_act = activation::gelu_pytorch_tanh;
    return a;
}(shared_tower);

/// Four patches side by side through two projections.
struct downsampling {
    site here;
    std::int64_t width;
    std::int64_t out;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("DownsampleMLP"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t in = 4 * width;
        value h = t.call("pre_norm", norm<norm_kind::layer>{in}, x);
        h = t.call("act", gelu_module{}, t.call("linear_1", linear{in, in, true}, h));
        return t.call("linear_2", linear{in, out, true}, h);
    }
};

/// Rounds of it, the last one to the width of the text.
struct merger {
    site here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Merger"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = x.dim(-1), last = here.whole.own[rounds] - 1;
        value h = t.constant({x.dim(1), 4 * width}, x.type);
        for (repetition each = t.repeat(last, h); each.next();) {
            (void)t.call({"mlp", each.index()}, downsampling{here, width, width}, h);
            h = t.clone(h);
        }
        return t.call({"mlp", last}, downsampling{here, width, here.dims.hidden_size}, h);
    }
};

constexpr value base(const site& here, trace& t) {
    {
        const recorder::idle_guard no_pixels{t};
        (void)t.call("merger", merger{here}, describe_tower(here, t, 0, "vision_tower", role::vision));
    }
    return describe_text(here, t, "language_model");
}

}  // namespace minicpmv4_6_detail

// transformers/models/minicpmv4_6: SigLIP's layers with a merger among them in front of Qwen3.5
inline constexpr architecture minicpmv4_6 = [](architecture a) {
    a.model_type = "minicpmv4_6", a.prefix = "MiniCPMV4_6", a.base = minicpmv4_6_detail::base;
    a.own = minicpmv4_6_detail::keys;
    a.text = {.key = "text_config", .otherwise = &qwen3_5_text};
    a.beside[0] = {.key = "vision_config", .otherwise = &minicpmv4_6_detail::tower, .always = true};
    return a;
}(shared_composite);

}  // namespace llmcost::arch
