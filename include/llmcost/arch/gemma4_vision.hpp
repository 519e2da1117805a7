// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/gemma4.hpp>
#include <llmcost/walks/media.hpp>

// Gemma 4's tower: patches of an image, always as many as fit, whatever is left of them behind padding.
namespace llmcost::arch::gemma4_media_detail {

enum vision_own : std::uint8_t { patch_side, places, pooled_side, soft_tokens, clips, standardizes };
inline constexpr own_key vision_keys[]{{"patch_size", 16},
                                       {"position_embedding_size", 10240},
                                       {"pooling_kernel_size", 3},
                                       {"default_output_length", 280},
                                       {"use_clipped_linears", 0, own_value::boolean},
                                       {"standardize", 0, own_value::boolean}};

/// The largest sides with about the aspect of what is shown that are whole tokens, so many at most.
///
/// Source: transformers/models/gemma4/image_processing_gemma4.py, `get_aspect_ratio_preserving_size`.
[[nodiscard]] inline image_sides within_tokens(image_sides shown, std::int64_t patch, std::int64_t pooled,
                                                  std::int64_t tokens) {
    const std::int64_t step = patch * pooled, most = tokens * pooled * pooled * patch * patch;
    const auto real = [](std::int64_t n) { return static_cast<double>(n); };
    const double factor = __builtin_sqrt(real(most) / real(shown.height * shown.width));
    const auto steps = [&](std::int64_t side) { return static_cast<std::int64_t>(factor * real(side) / real(step)); };
    std::int64_t rows = steps(shown.height), columns = steps(shown.width);
    const auto along = [&](std::int64_t longer, std::int64_t shorter) {
        return longer / shorter < tokens ? longer / shorter : tokens;
    };
    if (rows == 0 && columns == 0) report_description("an image becomes no token: fewer pixels are left than a token has");
    if (rows == 0)
        rows = 1, columns = along(shown.width, shown.height);
    else if (columns == 0)
        columns = 1, rows = along(shown.height, shown.width);
    if (rows * columns > tokens) report_description("an image of these sides becomes more tokens than its processor allows");
    return {rows * step, columns * step};
}

/// A projection in a module that may clip what goes in and out.
struct clippable_linear {
    site here;
    std::int64_t in;
    std::int64_t out;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("ClippableLinear"); }
    constexpr value describe(trace& t, const value& x) const {
        const bool cuts = here.dims.own[clips] != 0;
        const value y = t.call("linear", linear{in, out}, cuts ? t.unary(op::clamp, x) : x);
        return cuts ? t.unary(op::clamp, y) : y;
    }
};

/// Queries or keys turned by columns and rows, each by half of a head: (B, patches, heads, d).
constexpr value turned_by_both(const site& here, trace& t, const value& x) {
    const std::int64_t half = 2 * (x.dim(-1) / 4);
    const auto part = [&] {
        const value a = t.slice(x, -1, half);
        const value cos = here.shared->cos.slice(-1, half).unsqueeze(2), sin = here.shared->sin.slice(-1, half).unsqueeze(2);
        const value plain = t.mul(a, cos);
        const value back = t.neg(t.slice(a, -1, half / 2));
        return t.add(plain, t.mul(t.cat({back, t.slice(a, -1, half / 2)}, -1), sin));
    };
    const value first = part();
    return t.cat({first, part()}, -1);
}

struct vision_attention {
    site here;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("VisionAttention"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, d = here.dims.head_dim;
        const std::int64_t heads = here.dims.num_attention_heads, groups = here.dims.num_key_value_heads;
        const auto split = [&](literal name, std::int64_t n) {
            return t.call(name, clippable_linear{here, width, n * d}, x).view({x.dim(0), x.dim(1), n, d});
        };
        const norm<norm_kind::rms_power> scale{d, here.type("RMSNorm")};
        const value q = turned_by_both(here, t, t.call("q_norm", scale, split("q_proj", heads))).transpose(1, 2);
        const value k = turned_by_both(here, t, t.call("k_norm", scale, split("k_proj", groups))).transpose(1, 2);
        const value v = gemma3n_detail::norm_without_weight(here, t, "v_norm", split("v_proj", groups)).transpose(1, 2);
        const value& mask = here.shared->mask;
        const value mixed = eager_attention(t, q, k, v, here.shared->where, {.mask = mask.rank > 0 ? &mask : nullptr});
        const value joined = t.contiguous(t.reshape(mixed, {x.dim(0), x.dim(1), heads * d}));
        return t.call("o_proj", clippable_linear{here, heads * d, width}, joined);
    }
};

struct vision_feed_forward {
    site here;

    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("VisionMLP"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, inner = here.dims.intermediate_size;
        const value gate = t.call("gate_proj", clippable_linear{here, width, inner}, x);
        const value h = t.call("act_fn", activation_module{here.dims.hidden_act}, gate);
        const value both = t.mul(h, t.call("up_proj", clippable_linear{here, width, inner}, x));
        return t.call("down_proj", clippable_linear{here, inner, width}, both);
    }
};

/// Norms around both blocks.
struct vision_layer {
    site here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("VisionEncoderLayer"); }
    constexpr value describe(trace& t, const value& x) const {
        const norm<norm_kind::rms_power> scale{here.dims.hidden_size, here.type("RMSNorm")};
        const value mixed = t.call("self_attn", vision_attention{here}, t.call("input_layernorm", scale, x));
        const value middle = t.add(x, t.call("post_attention_layernorm", scale, mixed));
        const value fed = t.call("mlp", vision_feed_forward{here}, t.call("pre_feedforward_layernorm", scale, middle));
        return t.add(middle, t.call("post_feedforward_layernorm", scale, fed));
    }
};

/// Pixels projected, a learned place for each column and row added; padding has none.
constexpr value embed_padded_patches(const site& here, trace& t, std::int64_t patches) {
    const std::int64_t width = here.dims.hidden_size, side = here.dims.own[patch_side], images = t.load().batch;
    const module_info embedder{.name = "patch_embedder", .type = here.type("VisionPatchEmbedder")};
    t.enter(embedder);
    const value table = t.param("position_embedding_table", {2, here.dims.own[places], width});
    const value pixels = t.mul(t.sub(t.input({images, patches, 3 * side * side}), trace::buffer({})));
    const value x = t.call("input_proj", linear{3 * side * side, width}, pixels);
    const extents of_patches{images, patches, width};
    const value column = t.gather(t.select(table, 0), of_patches), row = t.gather(t.select(table, 0), of_patches);
    t.written(1);  // the zero that padding gets
    return t.leave(embedder, t.add(x, t.where(t.add(column, row))));
}

/// Cosines and sines of columns and rows: (images, patches, head) twice.
struct vision_rotary {
    site here;
    std::int64_t patches;

    static constexpr role what = role::rotary;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return here.type("VisionRotaryEmbedding"); }
    constexpr two_values describe(trace& t) const {
        const recorder::no_grad_guard constants{t};
        const std::int64_t quarter = (here.dims.head_dim / 2 + 1) / 2, images = t.load().batch;
        const value angles = t.mul(t.constant({images, patches, 2, 1}), trace::buffer({quarter}));
        const auto table = [&](op wave) {
            const value x = t.mul(t.unary(wave, angles)), column = x.select(2), row = x.select(2);
            return t.to(t.cat({column, column, row, row}, -1), t.activation_type());
        };
        const value cos = table(op::cos);
        return {cos, table(op::sin)};
    }
};

/// Means over squares of patches, by a product with their weights; scaled in float32.
struct vision_pooler {
    site here;
    std::int64_t tokens;

    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return here.type("VisionPooler"); }
    constexpr value describe(trace& t, const value& x) const {
        value h = t.where(x);
        if (x.dim(1) != tokens) {
            const value weights = t.div(t.constant({x.dim(0), x.dim(1), tokens}));
            h = t.to(t.matmul_operator(weights.transpose(1, 2), t.to(h, dtype::float32)), x.type);
        }
        return t.mul(t.to(h, dtype::float32));
    }
};

/// Images of the sides that the workload says; patches behind theirs are padding, which nothing but the pool leaves out.
constexpr value vision_base(const site& here, trace& t) {
    const own_sizes& own = here.dims.own;
    const std::int64_t square = own[pooled_side] * own[pooled_side], tokens = own[soft_tokens], patches = tokens * square;
    const std::int64_t step = own[patch_side] * own[pooled_side], images = t.load().batch;
    const std::int64_t seen = (t.load().image_height / step) * (t.load().image_width / step);
    if (here.dims.head_dim % 4 != 0 && !t.idle()) report_description("columns and rows share no head of this width");
    value x = embed_padded_patches(here, t, patches);
    const dtype type = x.type;
    const module_info encoder{.name = "encoder", .type = here.type("VisionEncoder")};
    t.enter(encoder);
    shared_values made{.where = {.sequence = patches, .causal = false}};
    if (seen < tokens) made.mask = eager_mask(t, made.where, images);
    const two_values tables = t.call("rotary_emb", vision_rotary{here, patches});
    made.cos = tables.first, made.sin = tables.second;
    for (repetition each = t.repeat(here.dims.num_hidden_layers, x); each.next();)
        x = t.call({"layers", each.index()}, vision_layer{here.at(each, made)}, x);
    t.leave(encoder);
    const value pooled = t.call("pooler", vision_pooler{here, tokens}, x);
    value features = t.gather(pooled, {images * seen, here.dims.hidden_size});
    if (own[standardizes] != 0) {
        const value of_each = trace::buffer({here.dims.hidden_size});
        features = t.mul(t.sub(features, of_each), of_each);
    }
    return t.to(features, type);
}

/// A norm without a weight, and a projection to the width of the text.
struct media_embedder {
    site here;

    static constexpr role what = role::projector;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("MultimodalEmbedder"); }
    constexpr value describe(trace& t, const value& x) const {
        const value even = gemma3n_detail::norm_without_weight(here, t, "embedding_pre_projection_norm", x);
        return t.call("embedding_projection", linear{x.dim(-1), here.dims.hidden_size}, even);
    }
};

}  // namespace llmcost::arch::gemma4_media_detail
