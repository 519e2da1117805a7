// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/qwen2_vl.hpp>
#include <llmcost/walks/tower.hpp>

namespace llmcost::arch {

namespace video_llama_3_detail {

using qwen2_vl_detail::patch, qwen2_vl_detail::channels;
inline constexpr own_key keys[]{
    {"patch_size", 16},
    {.otherwise = 1, .value = own_value::computed},  // a patch is of one frame
    {"num_channels", 3},
    {.otherwise = 1, .value = own_value::computed},  // each patch of an image is a token
};
inline constexpr own_key bound_keys[]{
    {.otherwise = 56 * 56, .value = own_value::computed},
    {.otherwise = 28 * 28 * 1280, .value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},
};

/// Patches, each by a convolution of its own size; layers that turn queries and keys; a norm; each picture resampled to
/// its own size.
constexpr value see(const site& here, trace& t) {
    const own_sizes& own = here.dims.own;
    const std::int64_t width = here.dims.hidden_size;
    packed_context made{.pictures = qwen2_vl_detail::grid_of(here, t)};
    const std::int64_t n = made.pictures.patches();
    const module_info embeddings{.name = "embeddings", .type = here.type("VisionEmbeddings"), .what = role::embedding};
    const convolution_2d patches{own[channels], width, own[patch], own[patch]};
    t.enter(embeddings);
    const value pixels = t.input({n, own[channels] * own[patch] * own[patch]});
    value x = t.call("patch_embedding", patches, pixels.view({n, own[channels], own[patch], own[patch]})).view({n, width});
    x = t.leave(embeddings, x);
    const packed_table table{width / here.dims.num_attention_heads, here.type("VisionRotaryEmbedding")};
    const two_values turns = t.call("rotary_pos_emb", table, n);
    made.cos = turns.first, made.sin = turns.second;
    const module_info encoder{.name = "encoder", .type = here.type("VisionEncoder")};
    t.enter(encoder);
    for (repetition each = t.repeat(here.dims.num_hidden_layers, x); each.next();)
        x = t.call({"layers", each.index()}, packed_layer{here, made}, x);
    x = t.leave(encoder, x);
    x = t.call("post_layernorm", norm<norm_kind::layer>{width}, x);
    const packed_pictures& all = made.pictures;
    const value squares = x.view({all.frames, all.rows, all.columns, width}).permute({0, 3, 1, 2});
    return t.cat({t.bilinear(squares, all.rows, all.columns).permute({0, 2, 3, 1}).view({n, width})}, 0);
}

inline constexpr architecture tower = [](architecture a) {
    a.prefix = "VideoLlama3", a.base = see, a.own = keys, a.heads = {};
    a.read = [](config_view config, sizes& s) { share_among_heads(config, s, {"num_attention_heads"}); };
    a.defaults.hidden_act = activation::gelu_pytorch_tanh;
    return a;
}(shared_tower);

/// Two projections and what is between them, by their numbers.
struct readout {
    site here;

    static constexpr role what = role::projector;
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

constexpr media_shapes show(const model& m, const workload& load) { return qwen2_vl_detail::show_within(m, load, {}); }

constexpr value base(const site& here, trace& t) {
    return describe_text_after(here, t, "language_model", [&](const value& words) {
        return place_pictures(here, t, words, [&] {
            return t.call("projector", readout{here}, describe_tower(here, t, 0, "vision_model", role::vision));
        });
    });
}

}  // namespace video_llama_3_detail

// transformers/models/video_llama_3: SigLIP's layers with turned queries in front of Qwen2
inline constexpr architecture video_llama_3 = [](architecture a) {
    a.model_type = "video_llama_3", a.prefix = "VideoLlama3", a.base = video_llama_3_detail::base;
    a.media = video_llama_3_detail::show, a.read_processor = qwen2_vl_detail::read_processor, a.reads.images = true,
    a.own = video_llama_3_detail::bound_keys;
    a.text = {.key = "text_config", .otherwise = &qwen2, .ties = true};
    a.beside[0] = {.key = "vision_config", .otherwise = &video_llama_3_detail::tower, .always = true};
    return a;
}(shared_composite);

}  // namespace llmcost::arch
