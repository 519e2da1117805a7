// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/config/processor.hpp>
#include <llmcost/config/rope.hpp>
#include <llmcost/forward/packed_sequences.hpp>
#include <llmcost/forward/qwen_vision.hpp>

// GLM-4V: a vision encoder with interpolated positions and a gated merger.
namespace llmcost::glm_vision {

enum family_config_index : std::uint8_t { patch, frames, channels, merge, out_width, image, heads };

/// Patch merger: a projection with a norm, then a gated MLP of size `inner`.
struct merger {
    class_name named;
    activation act;
    std::int64_t width;
    std::int64_t inner;

    static constexpr role module_role = role::projector;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const linear projection{width, inner};
        tensor h = t.call("post_projection_norm", norm_module{norm_kind::layer, width},
                          t.call("proj", linear{width, width}, x));
        h = t.call("act1", gelu_module{}, h);
        const tensor gate = t.call("act_fn", activation_module{act}, t.call("gate_proj", projection, h));
        return t.call("down_proj", linear{inner, width}, t.mul(gate, t.call("up_proj", projection, h)));
    }
};

/// Vision block: norm, attention, residual; norm, gated MLP, residual.
template <bool Ocr>
struct block {
    layer_context ctx;
    const packed_attention_pattern& made;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("VisionBlock"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const family_config& family = ctx.config.family;
        const decoder_module_names& n = ctx.spec.names;
        const std::int64_t in = ctx.config.hidden_size;
        const bool bias = ctx.config.attention_bias;
        const class_name norm_type = ctx.class_of("RMSNorm");
        const norm_module rms_norm{norm_kind::rms, in, norm_type};
        const packed_attention attention{ctx.class_of("VisionAttention"), family[heads], made,
                                         made.pictures.full_images(),     bias,          Ocr && bias,
                                         Ocr ? norm_type : class_name{}};
        const tensor middle = t.add(x, t.call("attn", attention, t.call("norm1", rms_norm, x)));
        const mlp_module gated_mlp{
            mlp_kind::gated,
            in,
            Ocr ? ctx.config.intermediate_size : family[out_width],
            ctx.config.hidden_act,
            {is_empty(n.mlp_class_prefix) ? ctx.spec.class_prefix : n.mlp_class_prefix, n.mlp_class},
            Ocr && bias,
            {.act = "act_fn"}};
        return t.add(middle, t.call("mlp", gated_mlp, t.call("norm2", rms_norm, middle)));
    }
};

/// Adds learned position embeddings, interpolated (bicubic) at the positions of patches: (S, width) -> (S, width).
struct positions {
    layer_context ctx;

    static constexpr role module_role = role::embedding;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("VisionEmbeddings"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t side = ctx.config.family[image] / ctx.config.family[patch], width = x.dim(1),
                           patches = x.dim(0);
        const module_info table{.name = "position_embedding", .class_of_module = {"", "Embedding"}, .is_leaf = true};
        t.enter(table);  // only its weight is read, the module is not called
        const tensor weight = t.param("weight", {side * side, width});
        t.leave(table);
        const auto places = [&] {
            const recorder::no_grad_guard constants{t};
            const tensor sides = t.full({patches});
            return t.sub(t.mul_scalar(t.div(t.add_scalar(trace::buffer({patches})), sides)), trace::buffer({1}));
        };
        const tensor horizontal = places(), down = places();
        (void)t.cat({horizontal.unsqueeze(1), down.unsqueeze(1)}, 1);
        const tensor square = weight.view({side, side, width}).permute({2, 0, 1}).unsqueeze(0);
        // `aten::grid_sampler_2d` is one operation for all modes, counted with four taps
        const tensor found = t.resample(op::bilinear, t.to(square, dtype::float32), {patches, 1});
        return t.add(x, t.to(found.view({width, patches}).transpose(0, 1), x.type));
    }
};

/// Vision encoder: patches of several frames, layers with RoPE, merger.
///
/// With `Ocr`, it has biases and QK-norm instead of learned positions.
template <bool Ocr>
constexpr tensor encode_images(const layer_context& ctx, trace& t) {
    const family_config& family = ctx.config.family;
    const std::int64_t in = ctx.config.hidden_size, out = family[out_width];
    const norm_module rms_norm{norm_kind::rms, in, ctx.class_of("RMSNorm")};
    packed_attention_pattern made{.pictures = qwen_vision::grid_of(ctx, t)};
    const qwen_vision::patch_embed embed{ctx, ctx.class_of("VisionPatchEmbed"), in, true};
    tensor x = t.call("patch_embed", embed, qwen_vision::patches_in(ctx, t, made.pictures));
    if (!Ocr) x = t.call("post_conv_layernorm", rms_norm, x);
    const packed_position_table table{in / family[heads], ctx.class_of("VisionRotaryEmbedding")};
    const tensor_pair turns = t.call("rotary_pos_emb", table, made.pictures.patches());
    made.cos = turns.first;
    made.sin = turns.second;
    if (!Ocr) x = t.call("embeddings", positions{ctx}, x);
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, x); layer_loop.next();)
        x = t.call({"blocks", layer_loop.index()}, block<Ocr>{ctx, made}, x);
    x = t.call("post_layernorm", rms_norm, x).view({-1, family[merge], family[merge], in}).permute({0, 3, 1, 2});
    const convolution_2d downsample_conv{in, out, family[merge], family[merge]};
    x = t.call("downsample", downsample_conv, x).view({-1, out});
    const std::int64_t expanded_width = Ocr ? out * family[channels] : ctx.config.intermediate_size;
    return t.call("merger", merger{ctx.class_of("VisionPatchMerger"), ctx.config.hidden_act, out, expanded_width}, x);
}

/// Parses partial RoPE with frequencies shared by three axes.
constexpr void parse_rotary(config_view json, model_config& config, double default_value) {
    const double part = detail::parse_partial_rotary_factor(json, default_value);
    config.rotary_dim = round_rotary_dim(config.head_dim, part);
    if (2 * parse_sections(json, {3, 32}).frequencies != config.rotary_dim)
        fail_sections(json, "frequencies per axis with a sum of half the rotary elements");
}

}  // namespace llmcost::glm_vision
