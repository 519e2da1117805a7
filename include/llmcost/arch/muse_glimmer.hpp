// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/kimi_k25.hpp>
#include <llmcost/arch/llama.hpp>
#include <llmcost/config/processor.hpp>

namespace llmcost::arch {

namespace muse_glimmer_detail {

// ---- text

inline constexpr std::uint8_t unturned = 1;  // layer flag: queries and keys without RoPE

constexpr tensor without_scale(const layer_context& ctx, trace& t, literal name, std::int64_t width, const tensor& x) {
    return t.call(name, norm_module{norm_kind::rms_power, width, ctx.class_of("RMSNorm"), false}, x);
}

/// Projects queries, keys and values, applies one QK-norm, scales queries by a constant, applies RoPE in layers with
/// positions, and updates the KV cache.
constexpr query_key_value project_rotated_qkv(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t d = ctx.config.head_dim;
    query_key_value qkv = project_qkv(ctx, t, x);
    split_heads(ctx, qkv);
    transpose_heads(qkv);
    qkv.query = t.mul_scalar(without_scale(ctx, t, "qk_norm", d, qkv.query));
    {
        const recorder::shared_parameters_guard shared_parameters{t};
        qkv.key = without_scale(ctx, t, "qk_norm", d, qkv.key);
    }
    if (ctx.layer.family_tag != unturned) apply_rotary(ctx, t, qkv);
    update_kv_cache(ctx, t, qkv);
    return qkv;
}

/// What attention finds is gated by the layer's input.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t expanded_width = ctx.config.num_attention_heads * ctx.config.head_dim;
    const tensor found = scaled_dot_product_attention(ctx, t, project_rotated_qkv(ctx, t, x));
    return output_projection(
        ctx, t, t.mul(found, t.sigmoid(t.call("gate_proj", linear{ctx.config.hidden_size, expanded_width}, x))));
}

/// Words are normed inside of their module.
constexpr tensor embed(const layer_context& ctx, trace& t) {
    const std::int64_t width = ctx.config.hidden_size;
    const module_info embedding_module{
        .name = "embed_tokens", .class_of_module = ctx.class_of("TextNormedEmbedding"), .module_role = role::embedding};
    t.enter(embedding_module);
    const tensor found =
        t.gather(t.param("weight", {ctx.config.vocab_size, width}), {t.load().batch, t.load().sequence, width});
    return t.leave(embedding_module, without_scale(ctx, t, "embed_norm", width, found));
}

/// The last norm is of another class than those of the layers.
constexpr tensor text_base(const layer_context& ctx, trace& t) {
    const tensor x = ctx.spec.embed_tokens(ctx, t);
    const decoder_inputs shared = ctx.spec.prepare_inputs(ctx, t);
    const tensor states = forward_layers(ctx, t, shared, x);
    return t.call("norm", norm_module{norm_kind::rms_power, ctx.config.hidden_size, ctx.class_of("RMSNorm")}, states);
}

/// Parses the text configuration. Without lists, every fourth layer, counted from the last one, has full attention and
/// no positions.
constexpr void parse_text_config(config_view json, model_config& config) {
    const bool listed = parse_layer_types(json, config);
    const layer_plan listed_layers = config.layers;
    const auto thetas = json.optional_array("layer_rope_theta");
    if (thetas && static_cast<std::int64_t>(thetas->size()) != config.num_hidden_layers)
        throw_invalid_value(json, "layer_rope_theta", "a list with one number per hidden layer");
    set_layers(json, config, [&](std::int64_t i) {
        const bool is_full_attention = (config.num_hidden_layers - 1 - i) % 4 == 0;
        layer_spec kind{.token_mixer =
                            is_full_attention ? token_mixer_kind::full_attention : token_mixer_kind::sliding_attention};
        if (listed) kind.token_mixer = listed_layers[i].token_mixer;
        const bool turns = thetas ? (*thetas)[static_cast<std::uint32_t>(i)].as_real() != 0 : !is_full_attention;
        kind.family_tag = turns ? std::uint8_t{} : unturned;
        return kind;
    });
    config.logits_soft_cap = true;
}

// ---- tower

enum tower_config_index : std::uint8_t { table_rows, table_columns, merged, frames };
inline constexpr family_key tower_keys[]{
    {"pos_emb_height", 32}, {"pos_emb_width", 32}, {"merge_size", 2}, {"patch_temporal", 2}};

inline constexpr std::uint8_t windowed = 1;

/// Each image by itself, in some layers each window of it.
constexpr tensor attend_patches(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t n = x.dim(0), width = ctx.config.hidden_size, heads = ctx.config.num_attention_heads,
                       d = width / heads;
    const auto split = [&](literal name) { return t.call(name, linear{width, width, true}, x).view({n, heads, d}); };
    const tensor q = split("q_proj"), k = split("k_proj"), v = split("v_proj");
    const auto widened = [&](const tensor& states) { return t.to(states, dtype::float32); };
    const tensor cos = widened(ctx.inputs->cos), sin = widened(ctx.inputs->sin);
    const auto apply_rotary = [&](const tensor& states) {
        return t.to(rotate<rotary_style::rotate_half>(t, widened(states), cos, sin), states.type);
    };
    const tensor first = apply_rotary(q);
    const packed_images grid = pack_images(t.load(), ctx.config.vision.patch_size);
    const packed_sequences runs =
        ctx.layer.family_tag == windowed ? grid.windows(1, ctx.config.family[table_rows]) : grid.full_images();
    return t.call("proj", linear{width, width, true},
                  packed_scaled_dot_product_attention(t, first, apply_rotary(k), v, runs));
}

constexpr tensor tower_base(const layer_context& ctx, trace& t) {
    const std::int64_t patch = ctx.config.vision.patch_size, width = ctx.config.hidden_size,
                       m = ctx.config.family[merged];
    const std::int64_t n = pack_images(t.load(), patch).patches(),
                       values = ctx.config.family[frames] * 3 * patch * patch;
    const module_info embedder{.name = "patch_embedder",
                               .class_of_module = ctx.class_of("VisionPatchEmbedder"),
                               .module_role = role::embedding};
    t.enter(embedder);
    tensor x = t.call("patch_embedding", linear{values, width}, t.input({n, values}));
    tensor weights;
    {
        const recorder::no_grad_guard constants{t};
        const tensor rows = weights_of_axis(t, n, place_taps::two, false);
        const tensor columns = weights_of_axis(t, n, place_taps::two, false);
        weights =
            t.mul_scalar(t.mul(rows.unsqueeze(2), columns.unsqueeze(1)).view({n, 4}));  // nothing outside of the table
    }
    const embedding table{ctx.config.family[table_rows] * ctx.config.family[table_columns], width};
    const tensor found = t.call("position_embedding_table", table, shape{n, 4});
    x = t.leave(embedder, t.add(x, t.to(t.sum(t.mul(found, weights.view({n, 4, 1})), 1), x.type)));
    x = t.gather(t.call("ln_pre", norm_module{norm_kind::layer, width}, x), {n, width});  // in the order of windows
    attention_inputs inputs;
    const packed_position_table angles{width / ctx.config.num_attention_heads, ctx.class_of("VisionRotaryEmbedding")};
    const tensor_pair tables = t.call("rotary_emb", angles, n);
    inputs.cos = t.to(tables.first, x.type);
    inputs.sin = t.to(tables.second, x.type);
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, ctx.config.layers, x); layer_loop.next();)
        x = t.call({"layers", layer_loop.index()}, kimi_k25_detail::layer{ctx.for_layer(layer_loop, inputs)}, x);
    x = t.call("ln_post", norm_module{norm_kind::layer, width}, t.gather(x, {n, width}));
    const tensor squares = t.gather(x, {n, width}).view({-1, m * m, width});
    return t.reshape(squares.permute({0, 2, 1}), {n / (m * m), width * m * m});
}

/// Every fourth layer and the last one see everything.
constexpr void parse_vision_config(config_view json, model_config& config) {
    config.vision.patch_size = json.positive("patch_size", 14);
    divide_by_heads(json, config, {"num_attention_heads"});
    if (config.hidden_size / config.num_attention_heads % 4 != 0)
        throw_invalid_value(json, "num_attention_heads", "heads of a multiple of 4 features");
    const auto types = json.optional_array("layer_types");
    if (types && static_cast<std::int64_t>(types->size()) != config.num_hidden_layers)
        throw_invalid_value(json, "layer_types", "a list with one kind per hidden layer");
    set_layers(json, config, [&](std::int64_t i) {
        bool is_full_attention = (i + 1) % 4 == 0 || i + 1 == config.num_hidden_layers;
        if (types) {
            const string_ref name = (*types)[static_cast<std::uint32_t>(i)].as_string();
            is_full_attention = name == "full_attention";
            if (!is_full_attention && name != "window_attention")
                throw_unsupported(json, "layer_types", "unsupported layer type");
        }
        return layer_spec{.family_tag = is_full_attention ? std::uint8_t{} : windowed};
    });
}

inline constexpr submodel_spec tower = [](model_spec spec) {
    spec.model_type = "muse_glimmer_vision";
    spec.class_prefix = "MuseGlimmer";
    spec.base_model = tower_base;
    spec.parse_config = parse_vision_config;
    spec.family_keys = tower_keys;
    spec.supported_heads = {};
    spec.attention = attend_patches;
    spec.supported_layers.max_family_tag = windowed;
    spec.names.attention_class = "VisionAttention";
    spec.defaults.hidden_size = 1536;
    spec.defaults.intermediate_size = 8960;
    spec.defaults.num_hidden_layers = 50;
    spec.defaults.num_attention_heads = 16;
    spec.defaults.hidden_act = activation::gelu;
    return spec;
}(shared_tower);

// ---- images

/// A grid of squares of patches.
struct grid {
    std::int64_t rows;
    std::int64_t columns;

    [[nodiscard]] constexpr bool operator==(const grid&) const noexcept = default;
    /// What CPython 3 makes of a tuple of two small integers, of 64 bits (Objects/tupleobject.c, `tuplehash`).
    [[nodiscard]] constexpr std::uint64_t hash() const noexcept {
        constexpr std::uint64_t p1 = 11400714785074694791ULL, p2 = 14029467366897019727ULL, p5 = 2870177450012600261ULL;
        std::uint64_t out = p5;
        for (const std::int64_t n : {rows, columns}) {
            out += static_cast<std::uint64_t>(n) * p2;
            out = (out << 31) | (out >> 33);
            out *= p1;
        }
        return out + (2 ^ (p5 ^ 3527539ULL));
    }
};

/// At most four distinct grids in the iteration order of a Python set (Objects/setobject.c). Of two equally good grids,
/// the first one is used.
class grid_set {
public:
    constexpr void insert(const grid& one) noexcept {
        std::uint64_t perturb = one.hash(), at = perturb % places;
        while (is_occupied_[at] && !(all_[at] == one)) {
            perturb >>= 5;
            at = (at * 5 + 1 + perturb) % places;
        }
        is_occupied_[at] = true;
        all_[at] = one;
    }
    template <class Visit>
    constexpr void for_each(const Visit& visit) const {
        for (std::uint64_t i = 0; i < places; ++i)
            if (is_occupied_[i]) visit(all_[i]);
    }

private:
    static constexpr std::uint64_t places = 8;
    grid all_[places]{};
    bool is_occupied_[places]{};
};

/// The grid whose aspect is nearest to the image's, of at most so many squares.
///
/// Source: transformers/models/muse_glimmer/image_processing_muse_glimmer.py, `smart_resize`.
[[nodiscard]] constexpr grid fitted(image_size image, std::int64_t step, std::int64_t maximum) {
    const auto real = [](std::int64_t n) { return static_cast<double>(n); };
    const auto floor = [](double x) { return static_cast<std::int64_t>(x); };
    const auto ceil = [&](double x) { return floor(x) + (real(floor(x)) < x ? 1 : 0); };
    double rows = real(image.height) / real(step), columns = real(image.width) / real(step);
    const double ratio = columns / rows;
    if (rows * columns > real(maximum)) {
        rows = __builtin_sqrt(real(maximum) / ratio);
        columns = rows * ratio;
    }
    grid_set candidates;
    for (const std::int64_t down : {floor(rows), ceil(rows)})
        for (const std::int64_t num_columns : {floor(columns), ceil(columns)}) candidates.insert({down, num_columns});
    const double aspect = real(image.height) / real(image.width);
    grid best{};
    double minimum = -1;
    candidates.for_each([&](const grid& one) {
        if (one.rows < 1 || one.columns < 1 || one.rows * one.columns > maximum) return;
        const double difference = real(one.rows) / real(one.columns) - aspect,
                     distance = difference < 0 ? -difference : difference;
        if (minimum < 0 || distance < minimum) {
            minimum = distance;
            best = one;
        }
    });
    const auto rounded = [&](double x) {  // halves to even, and at least one
        const std::int64_t below = floor(x);
        const double rest = x - real(below);
        const std::int64_t n = below + (rest > 0.5 || (rest == 0.5 && below % 2 != 0) ? 1 : 0);
        return n < 1 ? 1 : n;
    };
    return minimum < 0 ? grid{rounded(rows), rounded(columns)} : best;
}

enum family_config_index : std::uint8_t { out_hidden_size, inner, act, max_image_tokens };
inline constexpr family_key family_keys[]{
    {"out_hidden_size", 6144},
    {"projector_hidden_size", 4096},
    {.default_value = static_cast<std::int64_t>(activation::gelu), .type = family_key_type::computed},
    {.default_value = 4096, .type = family_key_type::computed}};

constexpr media_shapes show(const model& m, const workload& load) {
    if (load.images == 0) return {};
    if (load.image_height == 0)
        throw_description_error("this model accepts images of any size; use --image WIDTHxHEIGHT");
    const model_config& vision = m.components[0].config;
    const std::int64_t step = vision.vision.patch_size * vision.family[merged];
    const grid to = fitted({load.image_height, load.image_width}, step, m.family[max_image_tokens]);
    return {.image = {.num_tokens = to.rows * to.columns, .height = to.rows * step, .width = to.columns * step}};
}

constexpr void parse_processor_config(config_view json, model& m) {
    expect_patches(json, m.components[0].config.vision.patch_size, m.components[0].config.family[merged]);
    m.family[max_image_tokens] = json.positive("max_image_tokens", m.family[max_image_tokens]);
}

// ---- the complete model

/// Two projections, each followed by the activation module.
struct adapter {
    layer_context ctx;

    static constexpr role module_role = role::projector;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("VisionAdapter"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t in = ctx.model.family[out_hidden_size], expanded_width = ctx.model.family[inner];
        const activation_module act_fn{static_cast<activation>(ctx.model.family[act])};
        const tensor h = t.call("act", act_fn, t.call("fc1", linear{in, expanded_width}, x));
        const tensor out = t.call("fc2", linear{expanded_width, expanded_width}, h);
        const recorder::shared_parameters_guard shared_parameters{t};
        return t.call("act", act_fn, out);
    }
};

/// Inserts image features at the image token positions.
constexpr tensor place_images(const layer_context& ctx, trace& t, const tensor& token_embeddings) {
    const bool has_image_inputs = has_images(t);
    const recorder::not_executed_guard no_pixels{t, !has_image_inputs};
    const model_config& vision = ctx.model.components[0].config;
    const media_shape shape =
        has_image_inputs ? ctx.model.spec->compute_media_shapes(ctx.model, t.load()).image : media_shape{};
    const recorder::workload_guard encoder_workload{
        t, packed_workload(t, shape, vision.vision.patch_size * vision.family[merged])};
    const std::int64_t width = ctx.config.hidden_size;
    const tensor encoded_features =
        t.call("vision_adapter", adapter{ctx}, forward_encoder_component(ctx, t, 0, "vision_tower", role::vision));
    const tensor features =
        t.call("vision_projection", projector_linear{ctx.model.family[inner], width}, encoded_features);
    const tensor normed = without_scale(ctx, t, "perception_emb_norm", width, features);
    return has_image_inputs ? t.masked_scatter(token_embeddings, t.cat({normed}, 0)) : token_embeddings;
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    return forward_text_after_encoder(ctx, t, "language_model", [&](const tensor& token_embeddings) {
        return place_images(ctx, t, token_embeddings);
    });
}

constexpr void parse_config(config_view json, model& m) {
    const model_config& vision = m.components[0].config;
    if (vision.hidden_size * vision.family[merged] * vision.family[merged] != m.family[out_hidden_size])
        throw_invalid_value(json, "out_hidden_size", "the width of a square of patches");
    m.config.logits_soft_cap = true;
    if (const auto name = json.find("projector_hidden_act"))
        m.family[act] = static_cast<std::int64_t>(activation_named(json, "projector_hidden_act", name->as_string()));
}

}  // namespace muse_glimmer_detail

// transformers/models/muse_glimmer: norms around blocks, gated attention, positions in layers with windows alone
inline constexpr model_spec muse_glimmer_text = [](model_spec spec) {
    spec.dropout_keys = {};
    spec.model_type = "muse_glimmer_text";
    spec.class_prefix = "MuseGlimmer";
    spec.parse_config = muse_glimmer_detail::parse_text_config;
    spec.supported_heads = {};
    spec.base_model = muse_glimmer_detail::text_base;
    spec.embed_tokens = muse_glimmer_detail::embed;
    spec.decoder_layer = sandwich_norm_layer;
    spec.attention = muse_glimmer_detail::attention;
    spec.norm = norm_kind::rms_plus_one;
    spec.mask_policy = mask_kind::full_and_sliding;
    spec.supported_layers.max_family_tag = muse_glimmer_detail::unturned;
    spec.process_logits = scale_logits;
    spec.names.pre_mlp_norm = "pre_feedforward_layernorm";
    spec.names.model_class = "TextModel";
    spec.names.layer_class = "TextDecoderLayer";
    spec.names.attention_class = "TextAttention";
    spec.names.norm_class = "TextCenteredRMSNorm";
    spec.names.mlp_class = "TextMLP";
    spec.names.rotary_class = "TextRotaryEmbedding";
    spec.config_keys.add("hidden_act", "hidden_activation", key_rule::family_name_only);
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.defaults.vocab_size = 202048;
    spec.defaults.hidden_size = 6656;
    spec.defaults.intermediate_size = 19968;
    spec.defaults.num_hidden_layers = 52;
    spec.defaults.num_attention_heads = 32;
    spec.defaults.num_key_value_heads = 2;
    spec.defaults.head_dim = 128;
    spec.defaults.max_position_embeddings = 131072;
    spec.defaults.sliding_window = 2048;
    return spec;
}(llama);

// transformers/models/muse_glimmer: patches of images of any shape before it
inline constexpr model_spec muse_glimmer = [](model_spec spec) {
    spec.model_type = "muse_glimmer";
    spec.class_prefix = "MuseGlimmer";
    spec.base_model = muse_glimmer_detail::base;
    spec.family_keys = muse_glimmer_detail::family_keys;
    spec.parse_composite_config = muse_glimmer_detail::parse_config;
    spec.process_logits = scale_logits;
    spec.compute_media_shapes = muse_glimmer_detail::show;
    spec.parse_image_processor = muse_glimmer_detail::parse_processor_config;
    spec.modalities.has_images = true;
    spec.text_model = {.key = "text_config", .default_spec = &muse_glimmer_text};
    spec.components[0] = {
        .key = "vision_config", .default_spec = &muse_glimmer_detail::tower, .ignores_model_type = true};
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
