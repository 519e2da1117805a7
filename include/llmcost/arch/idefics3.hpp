// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/reading/image.hpp>
#include <llmcost/reading/processor.hpp>
#include <llmcost/walks/images.hpp>
#include <llmcost/walks/media.hpp>
#include <llmcost/walks/tiles.hpp>
#include <llmcost/walks/tower.hpp>

namespace llmcost::arch {

namespace idefics3_detail {

enum own : std::uint8_t { scale_factor, longest_side, whole_only };
inline constexpr own_key keys[]{
    {"scale_factor", 2},             // patches along a side that become one token
    {.value = own_value::computed},  // of an image before it is cut; 0: four tiles
    {.value = own_value::computed},  // images are not cut
};

/// Where patches stand in a table of positions, by shares of an image's sides: floats, of which integers are made.
constexpr void find_positions(const site& here, trace& t, std::int64_t images, std::int64_t rows, std::int64_t columns) {
    const vision_sizes& image = here.dims.vision;
    const recorder::no_grad_guard constants{t};
    (void)t.constant({boundaries_between(image.image_height / image.patch_size)});
    const value high = t.mul(t.div(trace::buffer({images}))), wide = t.mul(t.div(trace::buffer({images})));
    const value down = t.constant({rows}), across = t.constant({columns});
    const value h = t.mul(down.view({1, rows}), high.view({images, 1}));
    const value w = t.mul(across.view({1, columns}), wide.view({images, 1}));
    (void)t.unary(op::minimum, h), (void)t.unary(op::minimum, w);
}

/// Patches with learned positions, which are looked up for each image by where its patches stand.
constexpr value embed(const site& here, trace& t, const value& pixels) {
    const vision_sizes& image = here.dims.vision;
    const std::int64_t width = here.dims.hidden_size, images = pixels.dim(0);
    const std::int64_t rows = pixels.dim(2) / image.patch_size, columns = pixels.dim(3) / image.patch_size;
    const module_info embeddings{.name = "embeddings", .type = here.type("VisionEmbeddings"), .what = role::embedding};
    t.enter(embeddings);
    const value patches = embed_patches(here, t, "patch_embedding", true, pixels);
    find_positions(here, t, images, rows, columns);
    const value places = t.call("position_embedding", embedding{patches_of(image), width}, extents{images, rows * columns});
    return t.leave(embeddings, t.add(patches, places));
}

/// Embedded patches, layers, a norm.
constexpr value tower_base(const site& here, trace& t) {
    const value x = encode(here, t, embed(here, t, images_of(here, t)));
    return t.call("post_layernorm", norm<norm_kind::layer>{here.dims.hidden_size}, x);
}

constexpr void read_tower(config_view config, sizes& s) {
    read_square_image(config, s, 224, 32);
    share_among_heads(config, s, {"num_attention_heads"});
}

/// Squares of patches side by side, projected to the width of the text.
struct connector {
    site here;

    static constexpr role what = role::projector;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Connector"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t by = here.whole.own[scale_factor];
        const vision_sizes& image = here.whole.beside[0].dims.vision;
        const std::int64_t side = image.image_height / image.patch_size;
        const value shuffled = squares_of_patches(t, x, side, side, by);
        const std::int64_t width = shuffled.dim(-1);
        const value squares = t.reshape(shuffled, {x.dim(0), -1, width});
        const module_info projection{.name = "modality_projection", .type = here.type("SimpleMLP")};
        t.enter(projection);
        return t.leave(projection, t.call("proj", linear{width, here.dims.hidden_size}, squares));
    }
};

constexpr std::int64_t tokens_of_tile(const model& m) {
    return patches_of(m.beside[0].dims.vision) / (m.own[scale_factor] * m.own[scale_factor]);
}

/// The longest side made four tiles long, both rounded up to whole tiles, which are read beside the whole
/// (image_processing_idefics3.py, `resize_for_vision_encoder`).
constexpr media_shapes show(const model& m, const workload& load) {
    const vision_sizes& image = m.beside[0].dims.vision;
    const std::int64_t side = image.image_height;
    std::int64_t height = load.image_height > 0 ? load.image_height : side;
    std::int64_t width = load.image_width > 0 ? load.image_width : side;
    const auto longest = [&](std::int64_t most, std::int64_t odd) {
        const double ratio = static_cast<double>(width) / static_cast<double>(height);
        if (width >= height)
            width = most, height = static_cast<std::int64_t>(static_cast<double>(width) / ratio), height += height % 2 * odd;
        else
            height = most, width = static_cast<std::int64_t>(static_cast<double>(height) * ratio), width += width % 2 * odd;
        height = height > 1 ? height : 1, width = width > 1 ? width : 1;
    };
    if (m.own[whole_only] != 0) return {.image = {.tokens = tokens_of_tile(m), .height = side, .width = side}};
    longest(m.own[longest_side] != 0 ? m.own[longest_side] : 4 * side, 1);
    constexpr std::int64_t largest = 4096;
    if (height > largest || width > largest) longest(largest, 0);
    const auto rounded = [&](std::int64_t n) { return (n + side - 1) / side * side; };
    const double ratio = static_cast<double>(width) / static_cast<double>(height);
    if (width >= height)
        width = rounded(width), height = rounded(static_cast<std::int64_t>(static_cast<double>(width) / ratio));
    else
        height = rounded(height), width = rounded(static_cast<std::int64_t>(static_cast<double>(height) * ratio));
    const tile_grid grid{height / side, width / side};
    const std::int64_t tiles = with_whole(grid);
    return {.image = {.tokens = tiles * tokens_of_tile(m),
                      .tiles = tiles,
                      .height = side,
                      .width = side,
                      .rows = grid.rows,
                      .columns = grid.columns}};
}

constexpr void read_processor(config_view told, model& m) {
    expect_resized(told);
    expect_side(told, "max_image_size", m.beside[0].dims.vision.image_height, "the image_size of the configuration's tower");
    if (const auto size = told.optional_object("size")) m.own[longest_side] = size->positive("longest_edge");
    m.own[whole_only] = told.boolean("do_image_splitting", true) ? 0 : 1;
}

/// Images that are not all zeros are picked, pixels and all (`pixel_values[real_images_inds]`).
constexpr value base(const site& here, trace& t) {
    return describe_text_after(here, t, "text_model", [&](const value& words) {
        const recorder::idle_guard no_pixels{t, !sees_images(t)};
        const media_shape shape = here.whole.kind->media(here.whole, t.load()).image;
        const std::int64_t tiles = images_in(t) * shape.tiles;
        const extents pixels{tiles, here.whole.beside[0].dims.vision.num_channels, shape.height, shape.width};
        (void)t.gather(t.input(pixels), pixels);
        const recorder::workload_guard shown{t, pictures(t.load(), tiles, 0, 0)};
        const value states = describe_tower(here, t, 0, "vision_model", role::vision);
        const value features = t.call("connector", connector{here}, states);
        return t.masked_scatter(words, t.cat({features.view({-1, here.dims.hidden_size})}, 0));
    });
}

constexpr void read(config_view config, model& m) {
    const vision_sizes& image = m.beside[0].dims.vision;
    if (image.image_height / image.patch_size % m.own[scale_factor] != 0)
        fail_value(config, "scale_factor", "a divisor of the patches along a side");
}

inline constexpr architecture tower = [](architecture a) {
    a.prefix = "Idefics3", a.base = tower_base, a.read = read_tower, a.heads = {};
    a.names.model_type = "VisionTransformer", a.names.attention_type = "VisionAttention", a.names.mlp_type = "VisionMLP";
    a.defaults.hidden_size = 1152, a.defaults.num_attention_heads = 16;
    a.defaults.hidden_act = activation::gelu_pytorch_tanh;
    return a;
}(shared_tower);
inline constexpr architecture smolvlm_tower = [](architecture a) {
    a.prefix = "SmolVLM";
    return a;
}(tower);

}  // namespace idefics3_detail

// transformers/models/idefics3: SigLIP's layers over images of any shape, squares of patches in front of a text model
inline constexpr architecture idefics3 = [](architecture a) {
    a.model_type = "idefics3", a.prefix = "Idefics3", a.base = idefics3_detail::base, a.own = idefics3_detail::keys;
    a.read_whole = idefics3_detail::read, a.media = idefics3_detail::show,
    a.read_processor = idefics3_detail::read_processor, a.reads.images = true;
    a.text = {.key = "text_config", .otherwise = &llama};
    a.beside[0] = {.key = "vision_config", .otherwise = &idefics3_detail::tower, .always = true};
    return a;
}(shared_composite);

// transformers/models/smolvlm: the same under another name
inline constexpr architecture smolvlm = [](architecture a) {
    a.model_type = "smolvlm", a.prefix = "SmolVLM", a.beside[0].otherwise = &idefics3_detail::smolvlm_tower;
    return a;
}(idefics3);

}  // namespace llmcost::arch
