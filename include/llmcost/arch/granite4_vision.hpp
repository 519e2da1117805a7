// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/blip_2.hpp>
#include <llmcost/arch/clip.hpp>
#include <llmcost/arch/granite.hpp>
#include <llmcost/forward/any_resolution.hpp>
#include <llmcost/forward/qformer.hpp>
#include <llmcost/forward/scaled_text_model.hpp>
#include <llmcost/forward/vision_features.hpp>

// Granite 4 Vision. LLaVA-NeXT's tiles through a windowed Q-Former; layers of Granite add the features.
//
// Source: transformers/models/granite4_vision

namespace llmcost::arch {

namespace granite4_vision_detail {

// after the keys of LLaVA-NeXT: window sides, number of layer projectors and of corner projectors, and whether each
// projector has its own layer
enum family_config_index : std::uint8_t { query_side = 17, window_side, of_layers, of_corners, has_separate_layers };

struct key_table {
    family_key entries[has_separate_layers + 1]{};
};

inline constexpr key_table family_keys = [] {
    key_table all;
    for (family_key& key : all.entries) key.type = family_key_type::computed;
    all.entries[of_corners].default_value = 4;
    all.entries[has_separate_layers].default_value = 1;
    return all;
}();

inline constexpr std::int64_t corners = 4, max_layers = 32;

/// Splits a square of states into windows: (B, side², width) -> (B · windows, window², width).
constexpr tensor cut_windows(trace& t, const tensor& x, std::int64_t side, std::int64_t window) {
    const std::int64_t n = side / window, batch = x.dim(0), width = x.dim(2);
    const tensor grid = x.view({batch, n, window, n, window, width}).transpose(2, 3);
    return t.reshape(grid, {batch * n * n, window * window, width});
}

/// Q-Former over windows: learned queries plus downsampled states attend to the states of their window.
///
/// Source: `Granite4VisionWindowQFormerDownsampler`.
struct window_former {
    layer_context ctx;
    bool corner;  ///< downsampling takes one of each four states; otherwise means of squares

    static constexpr role module_role = role::projector;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("WindowQFormerDownsampler"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const layer_context former = ctx.component(1);
        const std::int64_t width = x.dim(2), tiles = x.dim(0), side = any_resolution::patches_along(ctx.model);
        const std::int64_t window = ctx.model.family[window_side], queries_per_side = ctx.model.family[query_side],
                           n = side / window;
        const tensor query = t.param("query", {1, queries_per_side * queries_per_side, width}),
                     places = t.param("image_positions", {1, window * window, width});
        const tensor states = t.call("norm", norm_module{norm_kind::layer, width}, x);
        const tensor windows = cut_windows(t, states, side, window);
        const tensor query_embeddings = t.add(query, cut_windows(t, downsample(t, states, side, n * queries_per_side),
                                                                 n * queries_per_side, queries_per_side));
        const tensor features = dropout(t, "dropout", t.add(windows, places));
        const module_info model{.name = "qformer", .class_of_module = former.class_of("QFormerModel")};
        t.enter(model);
        const tensor first =
            dropout(t, "dropout", t.call("layernorm", norm_module{norm_kind::layer, width}, query_embeddings));
        const tensor found = t.leave(
            model, qformer::forward_qformer_encoder(former, t, first, features, queries_per_side * queries_per_side));
        const tensor query_grid =
            t.contiguous(found.view({tiles, n, n, queries_per_side, queries_per_side, width}).transpose(2, 3));
        const tensor out =
            dropout(t, "dropout", query_grid.view({tiles, n * n * queries_per_side * queries_per_side, width}));
        return t.call("out_linear", linear{width, ctx.config.hidden_size, true}, out);
    }
    /// Downsamples states: means of squares, or one corner of each square of four.
    [[nodiscard]] constexpr tensor downsample(trace& t, const tensor& x, std::int64_t side, std::int64_t to) const {
        const std::int64_t tiles = x.dim(0), width = x.dim(2);
        if (corner) {
            const tensor squares = x.view({tiles, side / 2, 2, side / 2, 2, width});
            return t.reshape(t.select(t.select(squares, 2), 3), {tiles, side / 2 * (side / 2), width});
        }
        const tensor grid = x.view({tiles, side, side, width}).permute({0, 3, 1, 2});
        tensor means = t.pool_to(op::average_pool, grid, {to, to});
        means.make_channels_last_strides();  // like ATen's pooling
        return means.permute({0, 2, 3, 1}).view({tiles, to * to, width});
    }
};

/// Features of all projectors, of layers first, then of corners. Each is one sequence for all images.
struct all_features {
    tensor tensors[max_layers + corners];
};

constexpr void encode_images(const layer_context& ctx, trace& t, const tensor& newline, all_features& out) {
    const family_config& family = ctx.model.family;
    const bool all = family[vision_features::all_states] != 0;
    const std::int64_t patches = any_resolution::patches_along(ctx.model);
    const std::int64_t side = patches * family[query_side] / family[window_side];
    const hidden_state_outputs states = any_resolution::states_of_tiles(ctx, t);
    if (t.is_training() && !t.is_not_executed() && family[has_separate_layers] == 0)
        throw_description_error(
            "deepstack_layer_map: training with several projectors on one vision layer is not supported");
    tensor selected_states;
    const auto project_features = [&](child_name projector, bool corner) {
        if (selected_states.dim(1) != patches * patches) {
            if (!t.is_not_executed())
                throw_description_error("vision_feature_select_strategy: the selected patches are not a square");
            selected_states = trace::buffer({selected_states.dim(0), patches * patches, selected_states.dim(2)});
        }
        return any_resolution::pack(ctx, t, t.call(projector, window_former{ctx, corner}, selected_states), newline,
                                    side);
    };
    const auto parse_config = [&](std::int64_t i) {
        return vision_features::side_by_side(ctx, t, {.states = {states.states[i < states.count ? i : 0]}, .count = 1},
                                             all);
    };
    for (std::int64_t i = 0; i < family[of_layers]; ++i) {
        selected_states = parse_config(i);
        out.tensors[i] = project_features({"layerwise_projectors", i}, false);
    }
    selected_states = parse_config(states.count - 1);
    for (std::int64_t i = 0; i < corners; ++i) {
        const recorder::not_executed_guard unread{t, i >= family[of_corners]};
        out.tensors[family[of_layers] + i] = project_features({"spatial_projectors", i}, true);
    }
}

/// Self-attention. The reference's text model creates no KV cache: a first pass caches nothing, later passes append.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    query_key_value qkv = project_qkv(ctx, t, x);
    split_heads(ctx, qkv);
    transpose_heads(qkv);
    apply_rotary(ctx, t, qkv);
    if (t.load().past > 0 || t.is_training())
        update_kv_cache(ctx, t, qkv);
    else {
        t.add_to_cache(qkv.key);
        t.add_to_cache(qkv.value);
    }
    return output_projection(ctx, t, scaled_dot_product_attention(ctx, t, qkv));
}

/// Traces the model. Layers add the image features, so the token embeddings contain none.
constexpr tensor base(const layer_context& ctx, trace& t) {
    const bool has_pixels = has_images(t);
    const tensor newline = t.param("image_newline", {ctx.config.hidden_size});
    all_features features;
    const auto place = [&](const tensor& token_embeddings) {
        const recorder::not_executed_guard no_pixels{t, !has_pixels};
        encode_images(ctx, t, newline, features);
        return has_pixels ? t.masked_fill(token_embeddings) : token_embeddings;
    };
    return forward_scaled_text_model(ctx, t, "language_model", place, [&](const layer_context& layer_ctx, tensor x) {
        if (const std::uint8_t i = layer_ctx.layer.family_tag;
            has_pixels && i > 0) {  // the last feature assigned to this layer
            const tensor selected_states =
                t.gather(x, {features.tensors[i - 1].dim(0), features.tensors[i - 1].dim(1)});
            x = t.masked_scatter(x, t.add(selected_states, features.tensors[i - 1]));
        }
        return t.call({"layers", layer_ctx.layer_index}, decoder_layer{layer_ctx}, x);
    });
}

constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    return any_resolution::compute_grid_shapes(
        m, load, any_resolution::patches_along(m) * m.family[query_side] / m.family[window_side]);
}

/// Parses `downsample_rate`, e.g. "4/8": sides of the queries and of the states of a window.
constexpr void parse_rate(config_view json, family_config& family) {
    const string_ref rate = json.string("downsample_rate");
    std::int64_t parts[2]{}, n = 0;
    for (const char c : rate) {
        if (c == '/' && n == 0 && parts[0] > 0)
            ++n;
        else if (c >= '0' && c <= '9' && parts[n] < 1000)
            parts[n] = 10 * parts[n] + (c - '0');
        else
            throw_invalid_value(json, "downsample_rate", "two numbers with a slash between them");
    }
    if (n == 0 || parts[1] == 0) throw_invalid_value(json, "downsample_rate", "two numbers with a slash between them");
    if (2 * parts[0] != parts[1]) throw_unsupported(json, "downsample_rate", "unsupported ratio; expected one half");
    family[query_side] = parts[0];
    family[window_side] = parts[1];
}

/// Maps text layers to the feature that they add, from 1; 0: none. The last assignment takes precedence.
class feature_plan {
public:
    constexpr void add(std::int64_t layer, std::int64_t feature) {
        layers_[count_] = layer;
        features_[count_++] = static_cast<std::uint8_t>(feature);
    }
    constexpr void mark(config_view json, model& m) const {
        const layer_plan listed_layers = m.config.layers;
        for (std::int64_t i = 0; i < m.config.num_hidden_layers; ++i) {
            layer_spec kind = listed_layers[i];
            for (int k = 0; k < count_; ++k)
                if (layers_[k] == i) kind.family_tag = features_[k];
            if (!m.config.layers.set(i, kind))
                throw_unsupported(json, "deepstack_layer_map", "unsupported number of layers that add features");
        }
    }

private:
    std::int64_t layers_[max_layers + corners]{};
    std::uint8_t features_[max_layers + corners]{};
    int count_ = 0;
};

constexpr void parse_config(config_view json, model& m) {
    const string_ref strategy = json.string("vision_feature_select_strategy", "default");
    if (strategy != "default" && strategy != "full")
        throw_invalid_value(json, "vision_feature_select_strategy", "default or full");
    m.family[vision_features::all_states] = strategy == "full" ? 1 : 0;
    m.family[vision_features::feature_layers] = 1;
    const model_config& tower = m.components[0].config;
    any_resolution::parse_grids(json, m.family, tower.vision.image_height, 0);
    parse_rate(json, m.family);
    if (any_resolution::patches_along(m) % m.family[window_side] != 0)
        throw_invalid_value(json, "downsample_rate", "a window side that divides the number of patches per side");
    const auto layer_of_tower = [&](config_view node) {
        const std::int64_t i = node.as_integer(), n = tower.num_hidden_layers;
        if (i < -n - 1 || i > n) throw_invalid_value(node, "a layer of vision_config, or 0 for the embeddings");
        return std::int64_t{1} << (i < 0 ? i + n + 1 : i);
    };
    std::int64_t& picked = m.family[vision_features::layers_read];
    if (tower.num_hidden_layers > 62) throw_unsupported(json, "vision_config", "unsupported number of layers");
    feature_plan plan;
    const config_view pairs = json.array("deepstack_layer_map");
    if (pairs.size() > static_cast<std::size_t>(max_layers))
        throw_invalid_value(json, "deepstack_layer_map", "at most 32 pairs");
    for (const config_view pair : pairs) {
        if (!pair.is_array() || pair.size() != 2)
            throw_invalid_value(pair, "a layer of vision_config and one of text_config");
        const std::int64_t layer = layer_of_tower(pair[0]);
        if ((picked & layer) != 0) m.family[has_separate_layers] = 0;
        picked |= layer;
        plan.add(pair[1].as_integer(), ++m.family[of_layers]);
    }
    const auto last = json.find("spatial_vision_layer");
    const std::int64_t of_all =
        last && !last->is_null() ? layer_of_tower(*last) : std::int64_t{1} << tower.num_hidden_layers;
    if (const auto listed = json.optional_array("spatial_target_layers")) {
        if (listed->size() > static_cast<std::size_t>(corners))
            throw_invalid_value(json, "spatial_target_layers", "at most four layers");
        m.family[of_corners] = 0;
        for (const config_view layer : *listed) {
            const std::int64_t n = ++m.family[of_corners];
            plan.add(layer.as_integer(), m.family[of_layers] + n);
        }
    } else {
        for (std::int64_t i = 0; i < corners; ++i) plan.add(12 + 3 * i, m.family[of_layers] + i + 1);
    }
    plan.mark(json, m);
    if (m.family[of_corners] > 0) picked |= of_all;
    model_config& former = m.components[1].config;
    if (tower.hidden_size % 64 != 0) throw_invalid_value(json, "vision_config", "a hidden_size divisible by 64");
    former.hidden_size = tower.hidden_size;
    former.num_attention_heads = tower.hidden_size / 64;
}

inline constexpr submodel_spec text = [](model_spec spec) {
    spec.model_type = "granite4_vision_text";
    spec.class_prefix = "Granite4VisionText";
    spec.attention = attention;
    spec.names.model_class = "Model";
    spec.supported_heads = {};
    spec.supported_layers.max_family_tag = max_layers + corners;
    spec.defaults.head = head_kind::none;
    return spec;
}(granite);

/// Defaults without `qformer_config`.
inline constexpr submodel_spec former_of_windows = [](model_spec spec) {
    spec.defaults.num_hidden_layers = 1;
    spec.defaults.intermediate_size = 3072;
    spec.parse_config = [](config_view json, model_config& config) {
        config.family[qformer::crosses_every] = 1;
        config.family[qformer::positions] = 2048;
        qformer::plan_former(json, config);
    };
    return spec;
}(blip_2_qformer);

}  // namespace granite4_vision_detail

inline constexpr model_spec granite4_vision = [](model_spec spec) {
    spec.model_type = "granite4_vision";
    spec.class_prefix = "Granite4Vision";
    spec.base_model = granite4_vision_detail::base;
    spec.parse_composite_config = granite4_vision_detail::parse_config;
    spec.family_keys = granite4_vision_detail::family_keys.entries;
    spec.process_logits = divide_logits_by_scale;
    spec.compute_media_shapes = granite4_vision_detail::compute_media_shapes;
    spec.modalities.has_images = true;
    spec.text_model = {.key = "text_config", .default_spec = &granite4_vision_detail::text, .ignores_model_type = true};
    spec.components[0] = {.key = "vision_config", .default_spec = &clip_vision_model};
    spec.components[1] = {.key = "qformer_config",
                          .default_spec = &blip_2_qformer,
                          .ignores_model_type = true,
                          .spec_if_absent = &granite4_vision_detail::former_of_windows};
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
