// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/qwen3_5.hpp>
#include <llmcost/config/image.hpp>
#include <llmcost/config/processor.hpp>
#include <llmcost/forward/multimodal.hpp>
#include <llmcost/forward/tiles.hpp>
#include <llmcost/forward/vision_encoder.hpp>

namespace llmcost::arch {

namespace minicpmv4_6_detail {

enum family_config_index : std::uint8_t { rounds, insert_layer_id, fourfold, resolution, max_slice_nums };
inline constexpr family_key family_keys[]{
    {"merger_times", 1},
    {.default_value = 6, .type = family_key_type::computed},  // vision layer after which windows of patches are merged
    {.type = family_key_type::computed},  // they are not, so that an image has four times as many tokens
    {.default_value = 448,
     .type = family_key_type::computed},  // what the processor sets (image_processing_minicpmv4_6.py)
    {.default_value = 9, .type = family_key_type::computed},  // 0: images are not cut
};

enum tower_config_index : std::uint8_t { window };
inline constexpr family_key tower_keys[]{
    {.default_value = 4, .type = family_key_type::computed}};  // patches of a window

/// A group of images of one size, encoded consecutively.
struct picture_group {
    std::int64_t num_pictures = 0;
    std::int64_t rows = 0;  ///< of patches
    std::int64_t columns = 0;

    [[nodiscard]] constexpr std::int64_t patches() const noexcept { return num_pictures * rows * columns; }
};
/// Whole images, and slices of them where they are large.
struct pictures_of {
    picture_group wholes{};
    picture_group slices{};

    [[nodiscard]] constexpr std::int64_t patches() const noexcept { return wholes.patches() + slices.patches(); }
    [[nodiscard]] constexpr pictures_of halved() const noexcept {
        return {{wholes.num_pictures, wholes.rows / 2, wholes.columns / 2},
                {slices.num_pictures, slices.rows / 2, slices.columns / 2}};
    }
};

/// `ensure_divide`: `n` divisors, rounded as Python rounds, one at least.
[[nodiscard]] constexpr std::int64_t divided(double n, std::int64_t divisor) {
    const double times = n / static_cast<double>(divisor);
    std::int64_t quotient = static_cast<std::int64_t>(times);
    const double rest = times - static_cast<double>(quotient);
    if (rest > 0.5 || (rest == 0.5 && quotient % 2 == 1)) ++quotient;
    return (quotient < 1 ? 1 : quotient) * divisor;
}

/// Sides for an image of this shape, multiples of `unit`; a large one is scaled to the resolution's area
/// (`find_best_resize`).
[[nodiscard]] constexpr tile_grid resized(double height, double width, std::int64_t side, std::int64_t unit,
                                          bool grows) {
    const double target_side = static_cast<double>(side);
    if (height * width > target_side * target_side || grows) {
        const double ratio = width / height;
        height = static_cast<double>(static_cast<std::int64_t>(target_side / __builtin_sqrt(ratio)));
        width = static_cast<double>(static_cast<std::int64_t>(height * ratio));
    }
    return {divided(height, unit), divided(width, unit)};
}

/// Returns the slice grid with the closest aspect ratio, and about as many slices as the image area requires. Returns 0
/// if the image is not sliced (`get_sliced_grid`).
[[nodiscard]] constexpr tile_grid sliced(std::int64_t height, std::int64_t width, std::int64_t side,
                                         std::int64_t maximum) {
    const std::int64_t area = height * width, of_slice = side * side;
    const std::int64_t ideal_slices = (area + of_slice - 1) / of_slice,
                       multiple = ideal_slices < maximum ? ideal_slices : maximum;
    if (multiple <= 1) return {0, 0};
    const double shape = __builtin_log(static_cast<double>(width) / static_cast<double>(height));
    tile_grid best;
    double minimum = -1;  // none yet
    for (std::int64_t n = multiple - 1; n <= multiple + 1; ++n) {
        if (n == 1 || n > maximum) continue;
        for (std::int64_t rows = 1; rows <= n; ++rows) {
            if (n % rows != 0) continue;
            const double difference = shape - __builtin_log(static_cast<double>(n / rows) / static_cast<double>(rows));
            const double error = difference < 0 ? -difference : difference;
            if (minimum < 0 || error < minimum || (error == minimum && rows > best.rows)) {
                best = {rows, n / rows};
                minimum = error;
            }
        }
    }
    return best;
}

/// What one image becomes.
[[nodiscard]] constexpr pictures_of cut(const model& m, const workload& load) {
    const std::int64_t height = load.image_height > 0 ? load.image_height : m.family[resolution];
    const std::int64_t width = load.image_width > 0 ? load.image_width : m.family[resolution];
    const std::int64_t patch = m.components[0].config.vision.patch_size,
                       unit = patch * (m.family[fourfold] != 0 ? 2 : 4);
    const tile_grid grid = sliced(height, width, m.family[resolution], m.family[max_slice_nums]);
    const std::int64_t side = m.family[resolution];
    const tile_grid thumbnail =
        resized(static_cast<double>(height), static_cast<double>(width), side, unit, grid.rows == 0);
    pictures_of all{{1, thumbnail.rows / patch, thumbnail.columns / patch}, {}};
    if (grid.rows == 0) return all;
    const double high =
        static_cast<double>(divided(static_cast<double>(height), grid.rows)) / static_cast<double>(grid.rows);
    const double slice_width =
        static_cast<double>(divided(static_cast<double>(width), grid.columns)) / static_cast<double>(grid.columns);
    const tile_grid slice = resized(high, slice_width, side, unit, true);
    all.slices = {grid.tiles(), slice.rows / patch, slice.columns / patch};
    return all;
}

/// Returns the image groups of `images` equal images.
[[nodiscard]] constexpr pictures_of cut(const model& m, const workload& load, std::int64_t images) {
    pictures_of all = cut(m, load);
    all.wholes.num_pictures *= images;
    all.slices.num_pictures *= images;
    return all;
}

/// How many and how long what attends within itself is, in shapes that layers share.
constexpr attention_inputs lengths_of(const pictures_of& all) {
    attention_inputs inputs;
    inputs.family_tensors[0] = trace::buffer({all.wholes.num_pictures, all.wholes.rows * all.wholes.columns});
    inputs.family_tensors[1] = trace::buffer({all.slices.num_pictures, all.slices.rows * all.slices.columns});
    return inputs;
}

/// Attention within each picture, or within each window: (1, patches of all, width) -> the same.
constexpr tensor attend_within_each(const layer_context& ctx, trace& t, const tensor& x) {
    const decoder_module_names& n = ctx.spec.names;
    const std::int64_t width = ctx.config.hidden_size, heads = ctx.config.num_attention_heads, d = width / heads;
    tensor q = project(ctx, t, n.q_proj, width, x), k = project(ctx, t, n.k_proj, width, x),
           v = project(ctx, t, n.v_proj, width, x);
    tensor found[2];
    int parts = 0;
    for (int i = 0; i < 2; ++i) {
        const tensor& lengths = ctx.inputs->family_tensors[i];
        if (lengths.numel == 0) continue;
        const std::int64_t num_pictures = lengths.dim(0), length = lengths.dim(1);
        const auto one = [&](const tensor& all) {
            return all.slice(1, length).view({1, length, heads, d}).transpose(1, 2);
        };
        tensor mixed = trace::buffer({1, length, heads, d});
        for (loop layer_loop = t.loop_time_steps(num_pictures, mixed); layer_loop.next();)
            mixed = attention_forward(t, one(q), one(k), one(v), full_pattern(length).pattern, {});
        found[parts] = trace::buffer({1, num_pictures * length, heads, d});  // all of them
        found[parts].storage_id = mixed.storage_id;
        found[parts++].requires_grad = mixed.requires_grad;
    }
    return t.call(n.o_proj, linear{width, width, ctx.config.output_bias},
                  t.cat(found, parts, 1).view({1, x.dim(1), width}));
}

/// Windows of patches attend within themselves and become one patch each (`MiniCPMV4_6ViTWindowAttentionMerger`).
struct window_merger {
    layer_context ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("ViTWindowAttentionMerger"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, n = ctx.config.family[window],
                           inner = ctx.config.intermediate_size * n;
        const std::int64_t windows = x.dim(1) / n > 0 ? x.dim(1) / n : 1, patches = windows * n;
        const tensor normed = t.call("layer_norm1", norm_module{norm_kind::layer, width}, x);
        attention_inputs inputs;
        inputs.family_tensors[0] = trace::buffer({windows, n});
        inputs.family_tensors[1] = trace::buffer({0, 0});
        const tensor h =
            t.call("self_attn", attention_module{make_context(inputs)}, t.gather(normed, {1, patches, width}));
        const tensor of_windows = t.add(t.gather(x, {1, patches, width}), h).view({windows, n, width});
        const tensor mean = t.mean(of_windows, 1);
        tensor out =
            t.call("pre_norm", norm_module{norm_kind::layer, n * width}, of_windows.view({windows, n * width}));
        out = t.call("linear_1", linear{n * width, inner, true}, out);
        out = t.call("act", activation_module{activation::gelu_pytorch_tanh}, out);
        return t.add(t.call("linear_2", linear{inner, width, true}, out), mean).unsqueeze(0);
    }
    [[nodiscard]] constexpr layer_context make_context(const attention_inputs& inputs) const {
        layer_context attention_ctx = ctx;
        attention_ctx.inputs = &inputs;
        return attention_ctx;
    }
};

/// Patches of all pictures in one row with learned positions, which are found by floats.
constexpr tensor embed(const layer_context& ctx, trace& t, const pictures_of& all) {
    const vision_config& image = ctx.config.vision;
    const std::int64_t width = ctx.config.hidden_size, positions = patches_of(image), n = all.patches();
    const module_info embeddings{
        .name = "embeddings", .class_of_module = ctx.class_of("VisionEmbeddings"), .module_role = role::embedding};
    const tensor pixels = t.input({1, image.num_channels, image.patch_size, n * image.patch_size});
    t.enter(embeddings);
    const tensor patches = embed_patches(ctx, t, "patch_embedding", true, pixels);
    {
        const recorder::no_grad_guard constants{t};
        (void)t.full({num_boundaries(image.image_height / image.patch_size)});
        for (const picture_group& group : {all.wholes, all.slices})
            (void)t.div_scalar(trace::buffer({group.num_pictures, group.rows + group.columns}));
    }
    const tensor places = t.call("position_embedding", embedding{positions, width}, shape{1, n});
    return t.leave(embeddings, t.add(patches, places));
}

/// Runs the vision layers, merges windows of patches after one of them, and applies a norm.
constexpr tensor tower_base(const layer_context& ctx, trace& t) {
    const family_config& family = ctx.model.family;
    const std::int64_t layers = ctx.config.num_hidden_layers, images = images_in(t);
    pictures_of all = cut(ctx.model, t.load(), images);
    tensor x = embed(ctx, t, all);
    const bool merges = family[fourfold] == 0 && family[insert_layer_id] >= 0;
    const std::int64_t first = merges && family[insert_layer_id] < layers ? family[insert_layer_id] + 1 : layers;
    const auto run = [&](std::int64_t begin, std::int64_t to) {
        const module_info encoder{.name = "encoder", .class_of_module = ctx.class_of("VisionEncoder")};
        const attention_inputs inputs = lengths_of(all);
        t.enter(encoder);
        for (loop layer_loop = t.loop_modules(to - begin, x, begin); layer_loop.next();)
            x = t.call({"layers", layer_loop.index()}, vision_encoder_layer{ctx.for_layer(layer_loop, inputs)}, x);
        t.leave(encoder);
    };
    run(0, first);
    if (first < layers || (merges && family[insert_layer_id] == layers - 1)) {
        if (ctx.config.family[window] != 4 && has_images(t))
            throw_description_error("unsupported window size; expected 2 x 2");
        x = t.call("vit_merger", window_merger{ctx}, x);
        all = all.halved();
        if (ctx.config.family[window] != 4) x = trace::buffer({1, all.patches(), ctx.config.hidden_size});
        run(first, layers);
    } else {
        const recorder::not_executed_guard not_called{t};
        (void)t.call("vit_merger", window_merger{ctx}, x);
    }
    return t.call("post_layernorm", norm_module{norm_kind::layer, ctx.config.hidden_size}, x);
}

constexpr void parse_vision_config(config_view json, model_config& config) {
    parse_square_image(json, config, 224, 16);
    divide_by_heads(json, config, {"num_attention_heads"});
    const auto sides = json.optional_array("window_kernel_size");
    if (!sides) return;
    if (sides->size() != 2) throw_invalid_value(json, "window_kernel_size", "rows and columns of a window");
    const std::int64_t n =
        checked_size(json, "window_kernel_size", (*sides)[0].as_positive(), (*sides)[1].as_positive());
    (void)checked_size(json, "window_kernel_size", n, config.hidden_size);
    config.family[window] = n;
    (void)checked_size(json, "window_kernel_size", n, config.intermediate_size);
}

inline constexpr submodel_spec tower = [](model_spec spec) {
    spec.class_prefix = "MiniCPMV4_6";
    spec.base_model = tower_base;
    spec.parse_config = parse_vision_config;
    spec.family_keys = tower_keys;
    spec.supported_heads = {};
    spec.attention = attend_within_each;
    spec.names.layer_class = "VisionEncoderLayer";
    spec.names.attention_class = "VisionAttention";
    spec.names.mlp_class = "VisionMLP";
    spec.defaults.hidden_act = activation::gelu_pytorch_tanh;
    return spec;
}(shared_tower);

/// Four patches side by side through two projections.
struct downsampling {
    layer_context ctx;
    std::int64_t width;
    std::int64_t out;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("DownsampleMLP"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t in = 4 * width;
        tensor h = t.call("pre_norm", norm_module{norm_kind::layer, in}, x);
        h = t.call("act", gelu_module{}, t.call("linear_1", linear{in, in, true}, h));
        return t.call("linear_2", linear{in, out, true}, h);
    }
};

/// Merger rounds, the last one to the hidden size of the text model: full images first, then slices.
struct merger {
    layer_context ctx;
    const pictures_of& all;

    static constexpr role module_role = role::projector;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Merger"); }
    constexpr tensor_pair forward(trace& t, const tensor& x) const {
        const tensor wholes = merge(t, x, all.wholes);
        if (all.slices.num_pictures == 0) return {wholes, {}};
        const recorder::shared_parameters_guard shared_parameters{t};
        return {wholes, merge(t, x, all.slices)};
    }
    constexpr tensor merge(trace& t, const tensor& x, const picture_group& group) const {
        const std::int64_t width = x.dim(2), last = ctx.model.family[rounds] - 1;
        std::int64_t rows = group.rows, columns = group.columns;
        tensor h = x.slice(1, group.patches());
        for (std::int64_t i = 0; i <= last; ++i) {
            const bool even = rows % 2 == 0 && columns % 2 == 0 && rows > 0 && columns > 0;
            if (!even && has_images(t))
                throw_description_error("merger_times: too many halvings of the patches along a side");
            if (!even) {
                h = trace::buffer({group.num_pictures, 2, 2, width});
                rows = columns = 2;
            }
            const shape squares{group.num_pictures, rows / 2, 2, columns / 2, 2, width};
            rows /= 2;
            columns /= 2;
            h = t.reshape(h.view(squares).permute({0, 1, 3, 2, 4, 5}),
                          {group.num_pictures * rows * columns, 4 * width});
            h = t.call({"mlp", i}, downsampling{ctx, width, i == last ? ctx.config.hidden_size : width}, h);
        }
        return h;
    }
};

constexpr media_shapes show(const model& m, const workload& load) {
    const pictures_of image = cut(m, load);
    std::int64_t reduction = m.family[fourfold] != 0 || m.family[insert_layer_id] < 0 ? 1 : 4;
    for (std::int64_t i = 0; i < m.family[rounds]; ++i) reduction *= 4;
    const std::int64_t patch = m.components[0].config.vision.patch_size,
                       thumbnail_tokens = image.wholes.patches() / reduction;
    return {.image = {.num_tokens = thumbnail_tokens +
                                    image.slices.num_pictures * (image.slices.rows * image.slices.columns / reduction),
                      .num_tiles = image.slices.num_pictures + 1,
                      .height = image.wholes.rows * patch,
                      .width = image.wholes.columns * patch,
                      .tile_rows = image.slices.rows,
                      .tile_columns = image.slices.columns}};
}

/// How large slices are and how many; what becomes one token must be as the configuration has it.
constexpr void parse_processor_config(config_view json, model& m) {
    expect_patches(json, m.components[0].config.vision.patch_size, 1);
    m.family[resolution] = json.positive("scale_resolution", m.family[resolution]);
    m.family[max_slice_nums] = json.positive("max_slice_nums", m.family[max_slice_nums]);
    if (m.family[max_slice_nums] > max_tiles_of_image)
        throw_unsupported(json, "max_slice_nums", "unsupported number of tiles per image");
    if (!json.boolean("slice_mode", true)) m.family[max_slice_nums] = 0;
    const string_ref mode = m.family[fourfold] != 0 ? "4x" : "16x";
    if (json.string("downsample_mode", mode) != mode)
        throw_invalid_value(json, "downsample_mode", "the downsample_mode of the configuration");
    if (json.string("small_image_upsize", "always") != "always")
        throw_unsupported(json, "small_image_upsize", "images without upsizing are not supported");
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    return forward_text_after_encoder(ctx, t, "language_model", [&](const tensor& token_embeddings) {
        const recorder::not_executed_guard no_pixels{t, !has_images(t)};
        const tensor states = forward_encoder_component(ctx, t, 0, "vision_tower", role::vision);
        pictures_of all = cut(ctx.model, t.load(), images_in(t));
        if (states.dim(1) < all.patches()) all = all.halved();
        const tensor_pair made = t.call("merger", merger{ctx, all}, states);
        const tensor features =
            all.slices.num_pictures > 0 ? t.cat({made.first, made.second}, 0) : t.cat({made.first}, 0);
        (void)t.gather(token_embeddings, {features.dim(0) * features.dim(1)});  // image token positions, counted
        return t.masked_scatter(token_embeddings, features);
    });
}

constexpr void parse_config(config_view json, model& m) {
    m.family[insert_layer_id] = json.integer("insert_layer_id", 6);
    if (m.family[insert_layer_id] > max_input || m.family[insert_layer_id] < 0)
        throw_invalid_value(json, "insert_layer_id", "a layer of the tower");
    m.family[fourfold] = json.string("downsample_mode", m.family[fourfold] != 0 ? "4x" : "16x") == "4x" ? 1 : 0;
}

}  // namespace minicpmv4_6_detail

// transformers/models/minicpmv4_6: SigLIP's layers with a merger among them before Qwen3.5
inline constexpr model_spec minicpmv4_6 = [](model_spec spec) {
    spec.model_type = "minicpmv4_6";
    spec.class_prefix = "MiniCPMV4_6";
    spec.base_model = minicpmv4_6_detail::base;
    spec.family_keys = minicpmv4_6_detail::family_keys;
    spec.parse_composite_config = minicpmv4_6_detail::parse_config;
    spec.compute_media_shapes = minicpmv4_6_detail::show;
    spec.parse_image_processor = minicpmv4_6_detail::parse_processor_config;
    spec.modalities.has_images = true;
    spec.text_model = {.key = "text_config", .default_spec = &qwen3_5_text};
    spec.components[0] = {
        .key = "vision_config", .default_spec = &minicpmv4_6_detail::tower, .ignores_model_type = true};
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
