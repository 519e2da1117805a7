// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/qwen2.hpp>
#include <llmcost/walks/composite.hpp>
#include <llmcost/walks/tower.hpp>

namespace llmcost::arch {

namespace video_llama_3_detail {

/// Images of any shape come as patches; this many stand for one.
inline constexpr std::int64_t nominal_patches = 16;

/// Patches, each by a convolution of its own size; layers that turn queries and keys; a norm.
constexpr value tower_base(const site& here, trace& t) {
    const vision_sizes& image = here.dims.vision;
    const std::int64_t n = nominal_patches * t.load().batch, width = here.dims.hidden_size;
    shared_values made;
    made.where = {.sequence = n, .causal = false};
    const two_values tables =
        t.call("rotary_pos_emb", axial_table{here.dims.head_dim, here.type("VisionRotaryEmbedding")}, n);
    made.cos = tables.first, made.sin = tables.second;
    const module_info embeddings{.name = "embeddings", .type = here.type("VisionEmbeddings"), .what = role::embedding};
    const convolution_2d patches{image.num_channels, width, image.patch_size, image.patch_size};
    t.enter(embeddings);
    const value pixels = t.input({n, image.num_channels, image.patch_size, image.patch_size});
    value x = t.leave(embeddings, t.call("patch_embedding", patches, pixels).view({1, n, width}));
    x = encode(here, t, x, "VisionEncoder", made);
    return t.call("post_layernorm", norm<norm_kind::layer>{width}, x);
}

constexpr void read_tower(config_view config, sizes& s) {
    s.vision.patch_size = config.positive("patch_size", 16), s.vision.num_channels = config.positive("num_channels", 3);
    share_among_heads(config, s, {"num_attention_heads"});
}

inline constexpr architecture tower = [](architecture a) {
    a.prefix = "VideoLlama3", a.base = tower_base, a.read = read_tower, a.heads = {}, a.rotated = rotation::half;
    a.attend = attend_turned_patches;
    a.names.layer_type = "VisionEncoderLayer", a.names.attention_type = "VisionAttention", a.names.mlp_type = "VisionMLP";
    a.defaults.hidden_act = activation::gelu_pytorch_tanh;
    return a;
}(shared_tower);

/// Two projections and what is between them, by their numbers.
struct readout {
    site here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Projector"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size;
        const module_info steps{.name = "readout", .type = {"", "Sequential"}};
        t.enter(steps);
        const value h = t.call("1", gelu_module{}, t.call("0", linear{x.dim(-1), width, true}, x));
        return t.leave(steps, t.call("2", linear{width, width, true}, h));
    }
};

constexpr value base(const site& here, trace& t) {
    {
        const recorder::idle_guard no_pixels{t};
        (void)t.call("projector", readout{here}, describe_tower(here, t, 0, "vision_model", role::vision));
    }
    return describe_text(here, t, "language_model");
}

}  // namespace video_llama_3_detail

// transformers/models/video_llama_3: SigLIP's layers with turned queries in front of Qwen2
inline constexpr architecture video_llama_3 = [](architecture a) {
    a.model_type = "video_llama_3", a.prefix = "VideoLlama3", a.base = video_llama_3_detail::base;
    a.text = {.key = "text_config", .otherwise = &qwen2, .ties = true};
    a.beside[0] = {.key = "vision_config", .otherwise = &video_llama_3_detail::tower, .always = true};
    return a;
}(shared_composite);

}  // namespace llmcost::arch
