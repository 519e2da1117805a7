// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama4.hpp>
#include <llmcost/reading/image.hpp>
#include <llmcost/reading/processor.hpp>
#include <llmcost/walks/media.hpp>
#include <llmcost/walks/tiles.hpp>
#include <llmcost/walks/tower.hpp>

namespace llmcost::arch {

namespace llama4_detail {

enum tower_own : std::uint8_t { output_width, adapter_in, adapter_out, squares };
inline constexpr own_key tower_keys[]{
    {"vision_output_dim", 7680},
    {"projector_input_dim", 4096},
    {"projector_output_dim", 4096},
    {.otherwise = 2, .value = own_value::computed},  // patches along a side that become one token
};

/// Attention whose queries and keys are turned as complex numbers by row and column.
constexpr value attend_in_tower(const site& here, trace& t, const value& x) {
    qkv of = project_qkv(here, t, x);
    split_heads(here, of);
    const value unit = here.shared->cos.unsqueeze(2);
    for (value* const each : {&of.q, &of.k}) *each = rotate_pairs(t, *each, unit);
    heads_first(of);
    const value mixed = eager_attention(t, of.q, of.k, of.v, here.shared->where, {.float_softmax = false});
    return join(here, t, t.contiguous(t.reshape(mixed, {x.dim(0), x.dim(1), -1})));
}

struct tower_layer {
    site here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("VisionEncoderLayer"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, inner = here.dims.intermediate_size;
        const norm<norm_kind::layer> layer_norm{width};
        const value middle = t.add(x, t.call("self_attn", attention_module{here}, t.call("input_layernorm", layer_norm, x)));
        const value h = t.call("post_attention_layernorm", layer_norm, middle);
        const module_info block{.name = "mlp", .type = here.type("VisionMLP"), .what = role::mlp};
        t.enter(block);
        const value up = t.call("activation_fn", gelu_module{}, t.call("fc1", linear{width, inner, true}, h));
        return t.add(middle, t.leave(block, t.call("fc2", linear{inner, width, true}, up)));
    }
};

/// Features of this width; where no image is seen, widths of a configuration need not fit.
constexpr value of_width(trace& t, const value& x, std::int64_t width) {
    if (x.dim(-1) == width) return x;
    if (sees_images(t)) report_description("vision_config: widths of the tower, its adapter and the projector differ");
    return t.constant({x.dim(0), x.dim(1), width}, x.type);
}

/// Squares of patches side by side through two projections, of inner width `intermediate_size`.
constexpr value adapt(const site& here, trace& t, const value& x) {
    const sizes& dims = here.dims;
    const module_info adapter{.name = "vision_adapter", .type = here.type("VisionPixelShuffleMLP")};
    const module_info block{.name = "mlp", .type = here.type("VisionMLP2")};
    t.enter(adapter);
    const std::int64_t side = dims.vision.image_height / dims.vision.patch_size;
    const value wide = of_width(t, shuffle_patches(t, x, side, side, dims.own[squares]), dims.intermediate_size);
    t.enter(block);
    value h = t.call("fc1", linear{dims.intermediate_size, dims.own[adapter_in]}, wide);
    h = of_width(t, t.call("activation_fn", gelu_module{}, h), dims.own[adapter_out]);
    h = t.call("activation_fn", gelu_module{}, t.call("fc2", linear{dims.own[adapter_out], dims.own[adapter_out]}, h));
    return t.leave(adapter, t.leave(block, h));
}

/// Patches in front of a class token, with learned positions; layers; the adapter.
constexpr value tower_base(const site& here, trace& t) {
    const vision_sizes& image = here.dims.vision;
    const std::int64_t width = here.dims.hidden_size, batch = t.load().batch, n = patches_of(image);
    const std::int64_t pixels = image.num_channels * image.patch_size * image.patch_size;
    const norm<norm_kind::layer> layer_norm{width};
    const module_info patches{.name = "patch_embedding", .type = here.type("UnfoldConvolution"), .what = role::embedding};
    const module_info unfold{.name = "unfold", .type = {"", "Unfold"}, .leaf = true};
    t.enter(patches), t.enter(unfold);
    const value cut = t.leave(unfold, t.gather(pixels_of(here, t), {batch, pixels, n}));
    value x = t.leave(patches, t.call("linear", linear{pixels, width}, cut.permute({0, 2, 1})));
    const value token = t.param("class_embedding", {width}).view({1, 1, width}).expand({batch, 1, width});
    x = t.add(t.cat({x, token}, 1), t.param("positional_embedding_vlm", {n + 1, width}));
    x = t.call("layernorm_pre", layer_norm, x);
    const module_info rotary{
        .name = "rotary_embedding", .type = here.type("VisionRotaryEmbedding"), .what = role::rotary, .leaf = true};
    shared_values made;
    made.where = {.sequence = n + 1, .causal = false};
    made.cos = trace::buffer({1, n + 1, here.dims.head_dim / 2});
    t.enter(rotary), t.returned(made.cos), t.leave(rotary);
    const module_info encoder{.name = "model", .type = here.type("VisionEncoder")};
    t.enter(encoder);
    for (repetition each = t.repeat(here.dims.num_hidden_layers, x); each.next();)
        x = t.call({"layers", each.index()}, tower_layer{here.at(each, made)}, x);
    x = t.call("layernorm_post", layer_norm, t.leave(encoder, x));
    return adapt(here, t, t.slice(x, 1, n));
}

constexpr void read_tower(config_view config, sizes& s) {
    read_square_image(config, s, 448, 14);
    share_among_heads(config, s, {"num_attention_heads"});
    const double ratio = config.real("pixel_shuffle_ratio", 0.5);
    const std::int64_t by = ratio > 0 && ratio <= 1 ? static_cast<std::int64_t>(1 / ratio) : 0;
    if (by < 1 || s.vision.image_height / s.vision.patch_size % by != 0 || ratio * static_cast<double>(by) != 1)
        fail_value(config, "pixel_shuffle_ratio", "one divided by a divisor of the patches along a side");
    s.own[squares] = by;
}

inline constexpr architecture tower = [](architecture a) {
    a.prefix = "Llama4", a.base = tower_base, a.read = read_tower, a.own = tower_keys, a.heads = {};
    a.attend = attend_in_tower, a.names.attention_type = "VisionAttention", a.names.o = "o_proj";
    a.keys[3] = {"hidden_act", "", key_rule::absent};  // its activations are `nn.GELU` whatever it says
    a.defaults.intermediate_size = 5632, a.defaults.num_hidden_layers = 34, a.defaults.num_attention_heads = 16;
    return a;
}(shared_tower);

enum cut_by : std::uint8_t { most_tiles, fills_canvas };
inline constexpr own_key whole_keys[]{
    {.otherwise = 16, .value = own_value::computed},  // that an image becomes, beside the whole (image_processing_llama4.py)
    {.value = own_value::computed},                   // as large as they may be
};

/// The canvas of tiles that scales an image up least, or where all scale it down, the one that does so least; of those that
/// scale alike the one with fewest tiles. Scales are 32-bit floats (`get_best_fit`).
[[nodiscard]] constexpr tile_grid best_canvas(std::int64_t height, std::int64_t width, std::int64_t side,
                                              const own_sizes& rule) {
    tile_grid best;
    float chosen = 0;  // none yet
    for (std::int64_t n = 1; n <= rule[most_tiles]; ++n)
        for (std::int64_t rows = 1; rows <= n; ++rows) {
            if (n % rows != 0) continue;
            const float high = static_cast<float>(rows * side) / static_cast<float>(height);
            const float wide = static_cast<float>(n / rows * side) / static_cast<float>(width);
            const float scale = high > wide ? wide : high;
            const bool better = scale >= 1 ? chosen < 1 || (rule[fills_canvas] != 0 ? scale > chosen : scale < chosen)
                                           : chosen < 1 && scale > chosen;
            if (chosen == 0 || better) best = {rows, n / rows}, chosen = scale;
        }
    return best;
}

constexpr media_shapes show(const model& m, const workload& load) {
    const vision_sizes& image = m.beside[0].dims.vision;
    const std::int64_t side = image.image_height, by = m.beside[0].dims.own[squares];
    const std::int64_t height = load.image_height > 0 ? load.image_height : side;
    const std::int64_t width = load.image_width > 0 ? load.image_width : side;
    const tile_grid canvas = best_canvas(height, width, side, m.own);
    const std::int64_t tiles = with_whole(canvas);
    return {.image = {.tokens = tiles * (patches_of(image) / (by * by)),
                      .tiles = tiles,
                      .height = side,
                      .width = side,
                      .rows = canvas.rows,
                      .columns = canvas.columns}};
}

constexpr void read_processor(config_view told, model& m) {
    expect_resized(told), expect_picture(told, m.beside[0].dims.vision.image_height);
    m.own[most_tiles] = told.positive("max_patches", m.own[most_tiles]);
    if (m.own[most_tiles] > most_tiles_of_image)
        fail_unsupported(told, "max_patches", "no row describes so many tiles of an image");
    m.own[fills_canvas] = told.boolean("resize_to_max_canvas", false) ? 1 : 0;
}

/// Tiles through the tower and one projection into the places that stand for them.
constexpr value see(const site& here, trace& t, const value& words) {
    const recorder::idle_guard no_pixels{t, !sees_images(t)};
    const media_shape shape = show(here.whole, t.load()).image;
    value seen;
    {
        const recorder::workload_guard shown{t, pictures(t.load(), images_in(t) * shape.tiles, 0, 0)};
        seen = describe_tower(here, t, 0, "vision_model", role::vision);
    }
    const std::int64_t width = here.whole.beside[0].dims.own[output_width];
    const module_info projector{
        .name = "multi_modal_projector", .type = here.type("MultiModalProjector"), .what = role::projector};
    const value rows = of_width(t, seen, width).view({-1, width});
    t.enter(projector);
    return t.masked_scatter(words, t.leave(projector, t.call("linear_1", linear{width, here.dims.hidden_size}, rows)));
}

/// The text model under its own head, in a module of its own; the tower stands in front of it.
constexpr value describe(const site& here, trace& t) {
    const site text = here.text();
    const module_info whole{.type = here.type(name_of(here.dims.head))};
    const module_info language{.name = "language_model", .type = here.type("ForCausalLM")};
    const module_info inner{.name = "model", .type = text.type(text.row.names.model_type)};
    t.enter(whole), t.enter(language), t.enter(inner);
    value x = t.leave(language, t.leave(inner, text.row.embed(text, t)));
    x = see(here, t, x);
    t.enter(language), t.enter(inner);
    const decoder_context shared = text.row.prepare(text, t);
    x = t.leave(inner, normed(text, t, text.row.names.norm, describe_layers(text, t, shared, x)));
    return t.leave(whole, t.leave(language, t.returns(x, describe_head(text, t, x))));
}

}  // namespace llama4_detail

// transformers/models/llama4: a tower in front of the text model and its head, which is tied as the text says
inline constexpr architecture llama4 = [](architecture a) {
    a.model_type = "llama4", a.prefix = "Llama4", a.describe = llama4_detail::describe;
    a.heads = {head_kind::conditional_generation}, a.media = llama4_detail::show, a.own = llama4_detail::whole_keys,
    a.read_processor = llama4_detail::read_processor, a.reads.images = true;
    a.text = {.key = "text_config", .otherwise = &llama4_text, .always = true, .ties = true};
    a.beside[0] = {.key = "vision_config", .otherwise = &llama4_detail::tower, .always = true};
    a.keys[0] = {"tie_word_embeddings", "", key_rule::absent};
    return a;
}(shared_composite);

}  // namespace llmcost::arch
