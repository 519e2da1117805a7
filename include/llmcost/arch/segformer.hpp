// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/pvt.hpp>
#include <llmcost/walks/encoder.hpp>

namespace llmcost::arch {

namespace segformer_detail {

using pvt_detail::own, pvt_detail::most, pvt_detail::drops, pvt_detail::widths, pvt_detail::depths, pvt_detail::heads,
    pvt_detail::inners, pvt_detail::reductions;

enum more : std::uint8_t { as_images = reductions + most };  ///< the last stage hands out an image, too
inline constexpr own_key keys[]{{.value = own_value::computed}};

/// Patches that overlap, as tokens, and a norm.
struct overlapping_patches {
    class_name named;
    std::int64_t in, out, patch, stride;

    static constexpr role what = role::embedding;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr value describe(trace& t, const value& x, std::int64_t& rows, std::int64_t& columns) const {
        const value h = t.call("proj", convolution_2d{in, out, patch, stride, patch / 2}, x);
        rows = h.dim(2), columns = h.dim(3);
        return t.call("layer_norm", norm<norm_kind::layer>{out}, as_tokens(h));
    }
};
constexpr value embed(const site& here, trace& t, std::int64_t i, literal name, const value& x, std::int64_t& rows,
                      std::int64_t& columns) {
    const overlapping_patches patches{here.type("OverlapPatchEmbeddings"), x.dim(1), of_stage(here.dims, widths, i),
                                      pvt_detail::patch(here.dims, i), pvt_detail::stride(here.dims, i)};
    const module_info m{.name = name, .type = patches.named, .what = role::embedding};
    t.enter(m);
    return t.leave(m, patches.describe(t, x, rows, columns));
}

/// A convolution for each channel over tokens in rows and columns.
struct depth_wise {
    class_name named;
    std::int64_t width, rows, columns;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr value describe(trace& t, const value& x) const {
        const value image = x.transpose(1, 2).view({x.dim(0), width, rows, columns});
        return as_tokens(t.call("dwconv", convolution_2d{width, width, 3, 1, 1, width}, image));
    }
};

/// Fewer tokens, by a convolution whose windows do not overlap.
struct reduction {
    class_name named;
    std::int64_t fewer, rows, columns;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = x.dim(2);
        const value image = t.reshape(x.transpose(1, 2), {x.dim(0), width, rows, columns});
        const value h = t.call("sequence_reduction", convolution_2d{width, width, fewer, fewer}, image);
        return t.call("layer_norm", norm<norm_kind::layer>{width}, t.reshape(h, {x.dim(0), width, -1}).transpose(1, 2));
    }
};

/// Attention of all places over fewer of them.
struct attention {
    const site& here;
    std::int64_t stage, rows, columns;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Attention"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = x.dim(2), count = of_stage(here.dims, heads, stage), batch = x.dim(0);
        const std::int64_t fewer = pvt_detail::reduction(here.dims, stage);
        const auto split = [&](literal name, const value& h) {
            const value all = t.call(name, linear{width, width, true}, h);
            return all.view({batch, h.dim(1), count, width / count}).transpose(1, 2);
        };
        const value q = split("q_proj", x);
        const reduction less{here.type("SequenceReduction"), fewer, rows, columns};
        const value source = fewer > 1 ? t.call("sequence_reduction", less, x) : x;
        const value k = split("k_proj", source), v = split("v_proj", source);
        const value mixed = eager_attention(t, q, k, v, {.sequence = q.dim(2), .causal = false}, {});
        return t.call("o_proj", linear{width, width, true}, t.contiguous(t.reshape(mixed, {batch, x.dim(1), -1})));
    }
};

struct layer {
    const site& here;
    std::int64_t stage, rows, columns;
    bool drops_path;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Layer"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = x.dim(2), inner = of_stage(here.dims, inners, stage);
        const norm<norm_kind::layer> layer_norm{width};
        const drop_path_module path{here.row.prefix, drops_path};
        const module_info mlp{.name = "mlp", .type = here.type("MixMLP"), .what = role::mlp};
        value h = t.call("attention", attention{here, stage, rows, columns}, t.call("layernorm_before", layer_norm, x));
        const value middle = t.add(t.call("drop_path", path, dropout(t, "hidden_dropout", h)), x);
        h = t.call("layernorm_after", layer_norm, middle);
        t.enter(mlp);
        h = t.call("fc1", linear{width, inner, true}, h);
        h = t.call("dwconv", depth_wise{here.type("DepthWiseConv"), inner, rows, columns}, h);
        h = dropout(t, "dropout", t.call("activation_fn", activation_module{here.dims.hidden_act}, h));
        h = t.leave(mlp, dropout(t, "dropout", t.call("fc2", linear{inner, width, true}, h)));
        return t.add(t.call("drop_path", path, h), middle);
    }
};

/// Tokens in rows and columns -> (B, width, rows, columns), a copy.
constexpr value as_image(trace& t, const value& x, std::int64_t rows, std::int64_t columns) {
    return t.contiguous(t.reshape(x, {x.dim(0), rows, columns, -1}).permute({0, 3, 1, 2}));
}

/// Layers of a stage; rates of dropped paths grow from zero in the first layer of all.
template <class Layer>
constexpr value layers_of(const site& here, trace& t, std::int64_t i, std::int64_t rows, std::int64_t columns, value x) {
    const bool drops_path = here.dims.own[drops] != 0;
    x = t.call({"blocks", 0}, Layer{here, i, rows, columns, drops_path && i > 0}, x);
    for (repetition each = t.repeat(of_stage(here.dims, depths, i) - 1, x, 1); each.next();)
        x = t.call({"blocks", each.index()}, Layer{here, i, rows, columns, drops_path}, x);
    return x;
}

constexpr value base(const site& here, trace& t) {
    value x = images_of(here, t);
    for (std::int64_t i = 0; i < here.dims.num_hidden_layers; ++i) {
        const module_info stage{.name = "stages", .index = i, .type = here.type("Stage")};
        std::int64_t rows = 0, columns = 0;
        t.enter(stage);
        x = embed(here, t, i, "patch_embeddings", x, rows, columns);
        x = layers_of<layer>(here, t, i, rows, columns, x);
        x = t.call("layer_norm", norm<norm_kind::layer>{x.dim(2)}, x);
        if (i + 1 < here.dims.num_hidden_layers || here.dims.own[as_images] != 0) x = as_image(t, x, rows, columns);
        t.leave(stage, x);
    }
    return x;
}

/// A linear layer over the mean of all places.
constexpr value classify(const site& here, trace& t, const value& x) {
    const value tokens = x.rank == 4 ? t.reshape(x.permute({0, 2, 3, 1}), {x.dim(0), -1, x.dim(1)}) : x;
    return classify_linear(here, t, t.mean(tokens, 1));
}

constexpr void read_stages_into(config_view config, sizes& s, std::initializer_list<std::int64_t> ratios) {
    s.vision = read_images(config, 224);
    const std::int64_t n = s.num_hidden_layers =
        read_stages(config, "hidden_sizes", {32, 64, 160, 256}, s.own, widths, most);
    if (config.positive("num_encoder_blocks", 4) != n)
        fail_value(config, "num_encoder_blocks", "as many as hidden_sizes has");
    read_stages_of(config, "depths", {2, 2, 2, 2}, s.own, depths, n, most);
    read_stages_of(config, "num_attention_heads", {1, 2, 5, 8}, s.own, heads, n, most);
    read_stages_of(config, "mlp_ratios", ratios, s.own, inners, n, most);
    own_sizes fewer, patches, steps;
    read_stages_of(config, "sr_ratios", {8, 4, 2, 1}, fewer, 0, n, most);
    read_stages_of(config, "patch_sizes", {7, 3, 3, 3}, patches, 0, n, most);
    read_stages_of(config, "strides", {4, 2, 2, 2}, steps, 0, n, most);
    for (std::size_t at = 0; at < static_cast<std::size_t>(n); ++at) {
        for (const std::int64_t each : {fewer[at], patches[at], steps[at]})
            if (each > 0xfffff) fail_unsupported(config, "strides", "no row describes strides beyond 1048575");
        s.own[inners + at] = checked_width(config, "mlp_ratios", s.own[inners + at], s.own[widths + at]);
        s.own[reductions + at] = (fewer[at] << 20 | patches[at]) << 20 | steps[at];
        if (s.own[widths + at] % s.own[heads + at] != 0)
            fail_value(config, "num_attention_heads", "divisors of hidden_sizes");
    }
}

constexpr void read(config_view config, sizes& s) {
    read_stages_into(config, s, {4, 4, 4, 4});
    s.own[drops] = config.real("drop_path_rate", 0.1) > 0.0;
    s.own[as_images] = config.boolean("reshape_last_stage", true);
}

}  // namespace segformer_detail

/// Vision transformers in stages without positions, whose attention reads fewer places than it writes.
///
/// Source: transformers/models/segformer/modeling_segformer.py.
constexpr value describe_segformer(const site& here, trace& t) {
    return describe_image_model(here, t, here.row.names.base, here.row.base, segformer_detail::classify);
}

// transformers/models/segformer: configuration_segformer.py, modeling_segformer.py
inline constexpr architecture segformer = [](architecture a) {
    a.model_type = "segformer", a.prefix = "Segformer", a.describe = describe_segformer, a.base = segformer_detail::base;
    a.names.base = "segformer", a.read = segformer_detail::read, a.own = segformer_detail::keys, a.any_image = true;
    a.defaults.num_labels = 2;
    return a;
}(pvt);

}  // namespace llmcost::arch
