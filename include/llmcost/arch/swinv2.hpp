// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/image_stages.hpp>
#include <llmcost/forward/encoder.hpp>
#include <llmcost/forward/images.hpp>
#include <llmcost/forward/swin_window.hpp>
#include <llmcost/layers/norm.hpp>

namespace llmcost::arch {

namespace swinv2_detail {

using swin_window::blocks_of, swin_window::embed, swin_window::heads, swin_window::mask_of_shift, swin_window::merge,
    swin_window::part, swin_window::pool, swin_window::qkv_bias, swin_window::ratio, swin_window::roll,
    swin_window::stage_sizes, swin_window::window;

inline constexpr family_key family_keys[]{{"window_size", 7},
                                          {"qkv_bias", 1, family_key_type::boolean},
                                          {.type = family_key_type::computed},
                                          {.type = family_key_type::computed}};

/// `F.normalize`: each row over its length, which is at least the smallest difference.
constexpr tensor normalize(trace& t, const tensor& x) {
    const tensor length = t.clamp_min(t.vector_norm(x, -1, true));
    return t.div(x, length.expand({x.dim(0), x.dim(1), x.dim(2), x.dim(3)}));
}

/// A bias for each distance in a window, which a small network makes of the distance: (H, window², window²).
constexpr tensor continuous_bias(trace& t, std::int64_t heads, std::int64_t window) {
    const std::int64_t side = 2 * window - 1, places = window * window;
    const module_info network{.name = "continuous_position_bias_mlp", .class_of_module = {"", "Sequential"}};
    const module_info relu{.name = "1", .class_of_module = {"", "ReLU"}, .is_leaf = true};
    t.register_buffer({side, side, 2}, t.activation_type());  // `relative_coords_table`
    t.register_integer_buffer(places * places);               // `relative_position_index`
    tensor distances = trace::buffer({1, side, side, 2});
    distances.type = t.activation_type();
    t.enter(network);
    tensor h = t.call("0", linear{2, 512, true}, distances);
    t.enter(relu);
    t.relu_(h);
    t.leave(relu, h);
    h = t.leave(network, t.call("2", linear{512, heads}, h)).view({side * side, heads});
    const tensor picked = t.gather(h, {places * places, heads}).view({places, places, heads});
    return t.mul_scalar(t.sigmoid(t.contiguous(picked.permute({2, 0, 1}))));
}

struct self_attention {
    const layer_context& ctx;
    const stage_sizes& stage;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("SelfAttention"); }
    constexpr tensor forward(trace& t, const tensor& x, const tensor* mask) const {
        const std::int64_t width = stage.width, heads = stage.heads, windows = x.dim(0), places = x.dim(1);
        const bool with_bias = ctx.config.family[qkv_bias] != 0;
        const tensor scale = t.param("logit_scale", {heads, 1, 1});
        const auto project = [&](literal name, bool bias) {
            return swin_window::project_heads(t, name, stage, bias, x);
        };
        const tensor q = project("query", with_bias), k = project("key", false), v = project("value", with_bias);
        const tensor biases = continuous_bias(t, heads, stage.window).unsqueeze(0);
        const recorder::fused_kernel_guard fused{
            t, fused_attention_kernel(q, heads, full_pattern(places).pattern, places)};
        const tensor normed_q = normalize(t, q), normed_k = normalize(t, k);
        const tensor cosine_similarity = t.matmul_operator(normed_q, normed_k.transpose(-2, -1));
        tensor scores = t.mul(cosine_similarity, t.exp(t.clamp_max(scale)));
        scores = t.add(scores, biases);
        if (mask != nullptr) {  // added twice
            const std::int64_t n = mask->dim(0);
            const tensor operand = mask->unsqueeze(1).unsqueeze(0);
            scores = t.add(t.add(scores.view({windows / n, n, heads, places, places}), operand), operand);
            scores = scores.view({windows, heads, places, places});
        }
        const tensor mixed =
            t.matmul(dropout(t, "dropout", t.softmax(scores), dropout_position::attention), v).permute({0, 2, 1, 3});
        return t.contiguous(mixed).view({windows, places, width});
    }
};

struct block {
    const layer_context& ctx;
    const stage_sizes& stage;
    bool shifted, drops_path;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Layer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const drop_path_module path{ctx.spec.class_prefix, drops_path};
        const norm_module layer_norm{norm_kind::layer, stage.width};
        const std::int64_t inner = times_ratio(ctx.config, ratio, stage.width);
        const module_info intermediate{.name = "intermediate",
                                       .class_of_module = ctx.class_of("Intermediate"),
                                       .module_role = role::mlp,
                                       .continues_block = true};
        tensor h = t.call("layernorm_before", layer_norm, attention(t, x));
        const tensor middle = t.add(x, t.call("drop_path", path, h));
        t.enter(intermediate);
        h = t.call("dense", linear{stage.width, inner, true}, middle);
        h = t.leave(intermediate, t.call("intermediate_act_fn", activation_module{ctx.config.hidden_act}, h));
        h = t.call("layernorm_after", layer_norm,
                   project_in_output(ctx, t, "Output", inner, stage.width, h, dropout_position::hidden, role::mlp));
        return t.add(middle, t.call("drop_path", path, h));
    }

private:
    constexpr tensor attention(trace& t, const tensor& x) const {
        const std::int64_t window = stage.window, batch = x.dim(0), width = stage.width;
        const auto rest = [&](std::int64_t n) { return (window - n % window) % window; };
        const std::int64_t below = rest(stage.rows), right = rest(stage.columns);
        const std::int64_t rows = stage.rows + below, columns = stage.columns + right;
        const module_info attention{
            .name = "attention", .class_of_module = ctx.class_of("Attention"), .module_role = role::attn};
        tensor h = t.pad(x.view({batch, stage.rows, stage.columns, width}), 1, below, right);
        if (shifted) h = roll(t, h);
        h = part(t, h, window);
        const tensor mask = shifted ? mask_of_shift(t, rows, columns, window) : tensor{};
        const module_info self{.name = "self", .class_of_module = ctx.class_of("SelfAttention")};
        t.enter(attention);
        t.enter(self);
        h = t.leave(self, self_attention{ctx, stage}.forward(t, h, shifted ? &mask : nullptr));
        h = t.leave(attention, project_in_output(ctx, t, "SelfOutput", width, width, h, dropout_position::attention));
        const shape parted{batch, rows / window, columns / window, window, window, width};
        h = t.contiguous(h.view(parted).transpose(2, 3)).view({batch, rows, columns, width});
        if (shifted) h = roll(t, h);
        if (below > 0) h = t.slice(h, 1, stage.rows);
        if (right > 0) h = t.slice(h, 2, stage.columns);
        return t.contiguous(h).view({batch, stage.rows * stage.columns, width});
    }
};

constexpr stage_sizes size_stage(const model_config& config, std::int64_t i, std::int64_t rows, std::int64_t columns) {
    const std::int64_t patch = config.vision.patch_size, resolution = (config.vision.image_height / patch) >> i;
    const std::int64_t reach = resolution < config.family[window] ? resolution : config.family[window];
    return {config.embedding_size << i,
            stage_entry(config, heads, i),
            rows,
            columns,
            reach,
            resolution > reach && config.family[window] / 2 > 0};
}

constexpr tensor stage(const layer_context& ctx, trace& t, std::int64_t i, const stage_sizes& stage, const tensor& x) {
    const module_info module{.name = "layers", .index = i, .class_of_module = ctx.class_of("Stage")};
    t.enter(module);
    tensor h = blocks_of<block>(ctx, t, i, stage, x);
    if (i + 1 < ctx.config.num_hidden_layers) h = merge(ctx, t, stage, h);
    return t.leave(module, h);
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    const model_config& config = ctx.config;
    const std::int64_t patch = config.vision.patch_size;
    const module_info encoder{.name = "encoder", .class_of_module = ctx.class_of("Encoder")};
    const tensor pixels = image_input(ctx, t);
    tensor x = embed(ctx, t, pixels);
    std::int64_t rows = (pixels.dim(2) + patch - 1) / patch, columns = (pixels.dim(3) + patch - 1) / patch;
    t.enter(encoder);
    for (std::int64_t i = 0; i < config.num_hidden_layers; ++i) {
        x = stage(ctx, t, i, size_stage(config, i, rows, columns), x);
        rows = (rows + 1) / 2;
        columns = (columns + 1) / 2;
    }
    t.leave(encoder);
    return pool(ctx, t, t.call("layernorm", norm_module{norm_kind::layer, x.dim(2)}, x));
}

inline constexpr dropout_key dropout_rates[]{{dropout_position::hidden, "hidden_dropout_prob"},
                                             {dropout_position::attention, "attention_probs_dropout_prob"}};

}  // namespace swinv2_detail

/// Cosine attention within windows that every other block shifts, in stages.
///
/// Source: transformers/models/swinv2/modeling_swinv2.py.
constexpr tensor forward_swinv2(const layer_context& ctx, trace& t) {
    return forward_image_model(ctx, t, "swinv2", swinv2_detail::base, classify_linear);
}

/// Sizes of images, stages, windows, as all of Swin's family write them.
constexpr void parse_swin(config_view json, model_config& config) {
    using namespace swinv2_detail;
    using namespace swin_window;
    config.vision = parse_image_size(json, 224);
    config.vision.patch_size = json.positive("patch_size", 4);
    config.embedding_size = json.positive("embed_dim", 96);
    const std::int64_t n = config.num_hidden_layers = parse_stages(json, "depths", {2, 2, 6, 2}, config.family, depths);
    if (n > 4 && !json.contains("num_heads")) throw_invalid_value(json, "depths", "no more stages than num_heads has");
    if (parse_stages(json, "num_heads", {3, 6, 12, 24}, config.family, heads) < n)
        throw_invalid_value(json, "num_heads", "one number per stage");
    parse_ratio(json, "mlp_ratio", 4.0, config.family, ratio);
    config.family[drops] = json.real("drop_path_rate", 0.1) > 0.0;
    (void)checked_size(json, "embed_dim", config.embedding_size, std::int64_t{1} << n);
    if (times_ratio(config, ratio, config.embedding_size) < 1)
        throw_invalid_value(json, "mlp_ratio", "a ratio that leaves a feature");
    if (json.boolean("use_absolute_embeddings", false))
        throw_unsupported(json, "use_absolute_embeddings", "absolute position embeddings are not supported");
    for (std::int64_t i = 0; i < n; ++i)
        if ((config.embedding_size << i) % stage_entry(config, heads, i) != 0)
            throw_invalid_value(json, "num_heads", "divisors of each stage's width");
}

constexpr void parse_swinv2(config_view json, model_config& config) {
    parse_swin(json, config);
    const std::int64_t n = config.num_hidden_layers;
    if (n > 4 && !json.contains("pretrained_window_sizes"))
        throw_invalid_value(json, "depths", "no more stages than num_heads and pretrained_window_sizes have");
    if (const auto windows = json.optional_array("pretrained_window_sizes");
        windows && static_cast<std::int64_t>(windows->size()) < n)
        throw_invalid_value(json, "pretrained_window_sizes", "one number per stage");
    for (std::int64_t i = 0; i < n; ++i)
        if (swinv2_detail::size_stage(config, i, 0, 0).window < 1)
            throw_invalid_value(json, "image_size", "a size that leaves one row of patches in each stage");
}

// transformers/models/swinv2: configuration_swinv2.py, modeling_swinv2.py
inline constexpr model_spec swinv2 = [](model_spec spec) {
    spec.model_type = "swinv2";
    spec.class_prefix = "Swinv2";
    spec.forward = forward_swinv2;
    spec.parse_config = parse_swinv2;
    spec.family_keys = swinv2_detail::family_keys;
    spec.dropout_keys = swinv2_detail::dropout_rates;
    return spec;
}(image_classifier(activation::gelu));

}  // namespace llmcost::arch
