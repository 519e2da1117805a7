// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/idefics3.hpp>
#include <llmcost/arch/siglip.hpp>
#include <llmcost/walks/packed.hpp>
#include <llmcost/walks/pairs.hpp>

// What Phi-4 multimodal sees: crops of an image and the whole of it through SigLIP, rows of patches ended by a token.
namespace llmcost::arch {

namespace phi4_multimodal_detail {

// ---- what the processor makes of an image

enum own : std::uint8_t { most_crops };
inline constexpr own_key keys[]{{.otherwise = 36, .value = own_value::computed}};

enum vision_own : std::uint8_t { crop, feature };
inline constexpr own_key vision_keys[]{
    {"crop_size", 448}, {.value = own_value::computed},  // layers in front of the states that are read
};

/// Tokens along a side of a crop: the processor counts 273 tokens for the whole image, whatever its patches.
inline constexpr std::int64_t along_crop = 16;

/// An image in crops, and how many rows and columns of its tokens show more than what was added around it.
struct cut_picture {
    tile_grid crops{};
    std::int64_t rows = along_crop;
    std::int64_t columns = along_crop;
    bool hides = false;  ///< whole patches were added, which a mask hides
};

/// Source: transformers/models/phi4_multimodal/image_processing_phi4_multimodal.py, `dynamic_preprocess`.
constexpr cut_picture cut_up(const model& m, const workload& load) {
    const sizes& vision = m.beside[0].dims;
    const std::int64_t side = vision.own[crop], patch = vision.vision.patch_size, patches = side / patch;
    const std::int64_t height = load.image_height > 0 ? load.image_height : side;
    const std::int64_t width = load.image_width > 0 ? load.image_width : side;
    cut_picture made{.crops = {(height + side - 1) / side, (width + side - 1) / side}};
    if (made.crops.tiles() > m.own[most_crops]) made.crops = closest_grid(height, width, side, 1, m.own[most_crops]);
    const std::int64_t high = made.crops.rows * side, wide = made.crops.columns * side;
    const double by_width = static_cast<double>(wide) / static_cast<double>(width);
    const double by_height = static_cast<double>(high) / static_cast<double>(height);
    const bool fills_width = by_width < by_height;
    const std::int64_t rows = fills_width ? static_cast<std::int64_t>(static_cast<double>(height) * by_width) : high;
    const std::int64_t columns = fills_width ? wide : static_cast<std::int64_t>(static_cast<double>(width) * by_height);
    if (rows < 10 || columns < 10) report_description("an image is less than 10 pixels wide beside its other side");
    const std::int64_t rows_added = (high - rows) / patch, columns_added = (wide - columns) / patch;
    // every other patch of each crop counts
    const auto kept = [&](std::int64_t shown) { return shown / patches * ((patches + 1) / 2) + (shown % patches + 1) / 2; };
    made.rows = kept(made.crops.rows * patches - rows_added);
    made.columns = kept(made.crops.columns * patches - columns_added);
    made.hides = rows_added > 0 || columns_added > 0;
    return made;
}

/// Whether patches along a side are odd, so that a row and a column are mirrored (`img_processor_padding`).
[[nodiscard]] constexpr bool mirrors(const vision_sizes& image) noexcept {
    return image.image_height / image.patch_size % 2 != 0;
}

constexpr media_shape show_image(const model& m, const workload& load) {
    const sizes& vision = m.beside[0].dims;
    const std::int64_t side = vision.own[crop], patches = side / vision.vision.patch_size;
    const std::int64_t pooled = (patches + (mirrors(vision.vision) ? 1 : 0)) / 2;
    if (pooled != along_crop || (patches + 1) / 2 != along_crop)
        report_description("crop_size: the processor counts 16 tokens along a side of a crop, which are 32 patches");
    const cut_picture made = cut_up(m, load);
    return {.tokens = along_crop * (along_crop + 1) + 1 + made.rows * (made.columns + 1),
            .tiles = made.crops.tiles() + 1,
            .height = side,
            .width = side,
            .rows = made.crops.rows,
            .columns = made.crops.columns};
}

// ---- the tower

constexpr void read_vision(config_view config, sizes& s) {
    read_square_image(config, s, 448, 14);
    share_among_heads(config, s, {"num_attention_heads"});
    const std::int64_t layer = config.integer("feature_layer", -2), states = s.num_hidden_layers + 1;
    s.own[feature] = layer < 0 ? layer + states : layer;
    if (s.num_hidden_layers > 63) fail_unsupported(config, "num_hidden_layers", "no row describes so many layers");
    if (s.own[feature] < 0 || s.own[feature] >= states)
        fail_value(config, "feature_layer", "the number of a layer's states");
}

/// SigLIP's encoder and pooling head, of which the states in front of its last layers are read; what is hidden of its
/// patches is told by `own[0]`, booleans (images, patches).
constexpr value see(const site& here, trace& t) {
    const value embedded = idefics3_detail::embed(here, t, images_of(here, t));
    const bool hides = here.shared != nullptr && here.shared->own[0].rank > 0;
    shared_values made{.where = all_positions(embedded.dim(1)).where};
    if (hides) made.mask = eager_mask(t, made.where, embedded.dim(0));
    states_read read{.behind = std::uint64_t{1} << here.dims.own[feature]};
    shared_values asked;
    asked.read = &read;
    site there = here;
    there.shared = &asked;
    value x = encode(there, t, embedded, "VisionEncoder", made);
    const module_info head{.name = "head", .type = here.type("VisionMultiheadAttentionPoolingHead")};
    const recorder::off_loss_guard unread{t};
    x = t.call("post_layernorm", norm<norm_kind::layer>{here.dims.hidden_size}, x);
    t.enter(head);
    (void)t.leave(head, siglip_detail::pooling_head{here, true}.describe(t, x, nullptr));
    return read.states[0];
}

// ---- what becomes of its states

/// `nn.ReflectionPad2d((0, 1, 0, 1))`: a row and a column more.
struct mirrored_padding {
    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return {"", "ReflectionPad2d"}; }
    constexpr value describe(trace& t, const value& x) const {
        if (t.training() && !t.idle()) report_description("no price is known of a step back through mirrored patches");
        return t.pad_images(x, 1, 1);
    }
};

/// Learned tokens: one ends each row, one stands between the crops and the whole.
struct separators {
    value of_row;
    value of_whole;
};

/// A row of tokens more, each a copy of the learned one: (1, rows, columns, width) -> (1, rows · (columns + 1), width).
constexpr value end_rows(trace& t, const value& x, const value& newline) {
    const value ends = t.copy(newline.expand({1, x.dim(1), 1, x.dim(3)}));
    return t.cat({x, ends}, 2).view({1, x.dim(1) * (x.dim(2) + 1), x.dim(3)});
}

/// One image of all: its crops put together, then the whole; (images, crops + 1, tokens, width) -> (1, tokens, width).
constexpr value put_together(trace& t, const value& features, const cut_picture& made, std::int64_t along,
                             const separators& learned) {
    const std::int64_t width = features.dim(3), rows = made.crops.rows, columns = made.crops.columns;
    const value first = t.slice(t.select(features, 0), 0, 1).view({1, along, along, width});
    const value whole = end_rows(t, t.contiguous(first), learned.of_row);
    const value apart = t.slice(t.select(features, 0), 0, rows * columns).view({rows, columns, along, along, width});
    value crops = t.contiguous(t.reshape(apart.transpose(1, 2), {1, rows * along, columns * along, width}));
    if (made.rows < crops.dim(1)) crops = t.slice(crops, 1, made.rows);
    if (made.columns < crops.dim(2)) crops = t.slice(crops, 2, made.columns);
    return t.cat({end_rows(t, crops, learned.of_row), learned.of_whole, whole}, 1);
}

/// Images in the places of the words that stand for them (`Phi4MultimodalImageEmbedding`).
constexpr value place_images(const site& here, trace& t, const value& words) {
    const bool sees = sees_images(t);
    const recorder::idle_guard unseen{t, !sees};
    site tower = here.component(0);
    const std::int64_t seen = tower.dims.hidden_size, wide = here.dims.hidden_size, images = images_in(t);
    const cut_picture made = sees ? cut_up(here.whole, t.load()) : cut_picture{};
    const std::int64_t crops = made.crops.tiles() + 1, side = sees ? tower.dims.own[crop] : 0;
    const module_info m{.name = "image_embed", .type = here.type("ImageEmbedding")};
    t.enter(m);
    const value of_whole = t.param("global_img_feature_extensor", {1, 1, seen});
    const separators learned{t.param("sub_img_feature_extensor", {1, 1, 1, seen}), of_whole};
    shared_values hidden;
    if (made.hides) hidden.own[0] = trace::buffer({1, 1});
    tower.shared = &hidden;
    value x;
    {
        const recorder::workload_guard shown{t, pictures(t.load(), images * crops, side, side)};
        const module_info eyes{
            .name = "img_processor", .type = tower.type(tower.row.names.model_type), .what = role::vision};
        x = describe_within(eyes, tower.row.base, tower, t);
    }
    const vision_sizes& image = tower.dims.vision;
    const std::int64_t patches = (sees ? side : image.image_height) / image.patch_size;
    x = x.view({x.dim(0), patches, patches, seen}).permute({0, 3, 1, 2});
    if (mirrors(image)) x = t.call("img_processor_padding", mirrored_padding{}, x);
    x = t.call("image_token_compression", average_pool_2d{2, 2}, x).permute({0, 2, 3, 1});
    const std::int64_t along = x.dim(1);
    const value features = x.view({images, crops, along * along, seen});
    value each = trace::buffer({1});
    each.type = x.type;
    for (repetition one = t.again(images, each); one.next();) {
        const value tokens = put_together(t, features, made, along, learned);
        each = t.unary(op::gelu, t.call("img_projection_up", projector_linear{seen, wide, true}, tokens));
        each = t.call("img_projection_down", projector_linear{wide, wide, true}, each);
    }
    const value all = t.cat({side_by_side(each, 1, images)}, 1);
    const value placed = sees ? t.masked_scatter(words, all.squeeze(0)) : words;
    return t.leave(m, dropout(t, "drop", placed, dropout_of::embeddings));
}

}  // namespace phi4_multimodal_detail

// transformers/models/phi4_multimodal, Phi4MultimodalVisionConfig
inline constexpr architecture phi4_multimodal_vision = [](architecture a) {
    a.model_type = "phi4_multimodal_vision", a.prefix = "Phi4Multimodal", a.base = phi4_multimodal_detail::see;
    a.read = phi4_multimodal_detail::read_vision, a.own = phi4_multimodal_detail::vision_keys, a.heads = {};
    a.attend = attend_words, a.names.layer_type = "VisionEncoderLayer", a.names.attention_type = "VisionAttention";
    a.names.mlp_type = "VisionMLP";
    a.defaults.hidden_size = 1152, a.defaults.intermediate_size = 4304, a.defaults.num_hidden_layers = 27;
    a.defaults.num_attention_heads = 16, a.defaults.hidden_act = activation::gelu_pytorch_tanh;
    return a;
}(shared_tower);

}  // namespace llmcost::arch
