// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/forward/bucketed_positions.hpp>
#include <llmcost/forward/dual_encoder.hpp>
#include <llmcost/forward/packed_sequences.hpp>
#include <llmcost/forward/siglip_heads.hpp>

// The vision encoder of Phi-4 multimodal: crops plus the full image through SigLIP; a separator token ends each row of
// patches.
namespace llmcost::arch {

namespace phi4_multimodal_detail {

// ---- what the processor makes of an image

enum family_config_index : std::uint8_t { max_crops };

inline constexpr family_key family_keys[]{{.default_value = 36, .type = family_key_type::computed}};

enum vision_config_index : std::uint8_t { crop, feature };

inline constexpr family_key vision_keys[]{
    {"crop_size", 448}, {.type = family_key_type::computed},  // layers before the states that are read
};

/// Tokens along a side of a crop: the processor counts 273 tokens for the full image, whatever its patches.
inline constexpr std::int64_t along_crop = 16;

/// An image in crops, with the rows and columns of its tokens that are not padding only.
struct cut_picture {
    tile_grid crops{};
    std::int64_t rows = along_crop;
    std::int64_t columns = along_crop;
    bool hides = false;  ///< complete patches were added, which requires a mask
};

/// Source: transformers/models/phi4_multimodal/image_processing_phi4_multimodal.py, `dynamic_preprocess`.
constexpr cut_picture cut_up(const model& m, const workload& load) {
    const model_config& vision = m.components[0].config;
    const std::int64_t side = vision.family[crop], patch = vision.vision.patch_size, patches = side / patch;
    const std::int64_t height = load.image_height > 0 ? load.image_height : side;
    const std::int64_t width = load.image_width > 0 ? load.image_width : side;
    cut_picture made{.crops = {(height + side - 1) / side, (width + side - 1) / side}};
    if (made.crops.tiles() > m.family[max_crops])
        made.crops = closest_grid(height, width, side, 1, m.family[max_crops]);
    const std::int64_t high = made.crops.rows * side, expanded_width = made.crops.columns * side;
    const double by_width = static_cast<double>(expanded_width) / static_cast<double>(width);
    const double by_height = static_cast<double>(high) / static_cast<double>(height);
    const bool fills_width = by_width < by_height;
    const std::int64_t rows = fills_width ? static_cast<std::int64_t>(static_cast<double>(height) * by_width) : high;
    const std::int64_t columns =
        fills_width ? expanded_width : static_cast<std::int64_t>(static_cast<double>(width) * by_height);
    if (rows < 10 || columns < 10)
        throw_description_error(
            "the aspect ratio of the image is too large: a side has less than 10 pixels after scaling");
    const std::int64_t rows_added = (high - rows) / patch, columns_added = (expanded_width - columns) / patch;
    // every other patch of each crop counts
    const auto count_unpadded = [&](std::int64_t size) {
        return size / patches * ((patches + 1) / 2) + (size % patches + 1) / 2;
    };
    made.rows = count_unpadded(made.crops.rows * patches - rows_added);
    made.columns = count_unpadded(made.crops.columns * patches - columns_added);
    made.hides = rows_added > 0 || columns_added > 0;
    return made;
}

/// Whether patches along a side are odd, so that a row and a column are mirrored (`img_processor_padding`).
[[nodiscard]] constexpr bool mirrors(const vision_config& image) noexcept {
    return image.image_height / image.patch_size % 2 != 0;
}

constexpr media_shape compute_image_shape(const model& m, const workload& load) {
    const model_config& vision = m.components[0].config;
    const std::int64_t side = vision.family[crop], patches = side / vision.vision.patch_size;
    const std::int64_t pooled = (patches + (mirrors(vision.vision) ? 1 : 0)) / 2;
    if (pooled != along_crop || (patches + 1) / 2 != along_crop)
        throw_description_error("crop_size: the processor expects 16 tokens, or 32 patches, along a side of a crop");
    const cut_picture made = cut_up(m, load);
    return {.num_tokens = along_crop * (along_crop + 1) + 1 + made.rows * (made.columns + 1),
            .num_tiles = made.crops.tiles() + 1,
            .height = side,
            .width = side,
            .tile_rows = made.crops.rows,
            .tile_columns = made.crops.columns};
}

// ---- the tower

constexpr void parse_vision_config(config_view json, model_config& config) {
    parse_square_image(json, config, 448, 14);
    divide_by_heads(json, config, {"num_attention_heads"});
    const std::int64_t layer = json.integer("feature_layer", -2), states = config.num_hidden_layers + 1;
    config.family[feature] = layer < 0 ? layer + states : layer;
    if (config.num_hidden_layers > 63) throw_unsupported(json, "num_hidden_layers", "unsupported number of layers");
    if (config.family[feature] < 0 || config.family[feature] >= states)
        throw_invalid_value(json, "feature_layer", "the number of a layer's states");
}

/// SigLIP's encoder and pooling head; returns the states before its last layers. `family_tensors[0]` is the boolean
/// mask of hidden patches, (images, patches).
constexpr tensor encode_images(const layer_context& ctx, trace& t) {
    const tensor embedded = bucketed_positions::embed(ctx, t, image_input(ctx, t));
    const bool hides = ctx.inputs != nullptr && ctx.inputs->family_tensors[0].rank > 0;
    attention_inputs inputs{.pattern = full_pattern(embedded.dim(1)).pattern};
    if (hides) inputs.mask = eager_mask(t, inputs.pattern, embedded.dim(0));
    hidden_state_outputs read{.layer_mask = std::uint64_t{1} << ctx.config.family[feature]};
    attention_inputs recorded_inputs;
    recorded_inputs.hidden_states = &read;
    layer_context encoder_ctx = ctx;
    encoder_ctx.inputs = &recorded_inputs;
    tensor x = encode(encoder_ctx, t, embedded, "VisionEncoder", inputs);
    const module_info head{.name = "head", .class_of_module = ctx.class_of("VisionMultiheadAttentionPoolingHead")};
    const recorder::detach_guard unread{t};
    x = t.call("post_layernorm", norm_module{norm_kind::layer, ctx.config.hidden_size}, x);
    t.enter(head);
    (void)t.leave(head, siglip_heads::pooling_head{ctx, true}.forward(t, x, nullptr));
    return read.states[0];
}

// ---- what becomes of its states

/// `nn.ReflectionPad2d((0, 1, 0, 1))`: a row and a column more.
struct mirrored_padding {
    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "ReflectionPad2d"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        if (t.is_training() && !t.is_not_executed())
            throw_description_error("training with reflection-padded patches is not supported");
        return t.pad_images(x, 1, 1);
    }
};

/// Learned separator tokens: one ends each row, one separates the crops from the full image.
struct separators {
    tensor row_separator;
    tensor global_separator;
};

/// A row of tokens more, each a copy of the learned one: (1, rows, columns, width) -> (1, rows · (columns + 1), width).
constexpr tensor end_rows(trace& t, const tensor& x, const tensor& newline) {
    const tensor ends = t.copy(newline.expand({1, x.dim(1), 1, x.dim(3)}));
    return t.cat({x, ends}, 2).view({1, x.dim(1) * (x.dim(2) + 1), x.dim(3)});
}

/// Merges the crops of one image and appends the full image: (images, crops + 1, tokens, width) -> (1, tokens, width).
constexpr tensor merge_crops(trace& t, const tensor& features, const cut_picture& made, std::int64_t grid_size,
                             const separators& learned) {
    const std::int64_t width = features.dim(3), rows = made.crops.rows, columns = made.crops.columns;
    const tensor first = t.slice(t.select(features, 0), 0, 1).view({1, grid_size, grid_size, width});
    const tensor global_features = end_rows(t, t.contiguous(first), learned.row_separator);
    const tensor tiles =
        t.slice(t.select(features, 0), 0, rows * columns).view({rows, columns, grid_size, grid_size, width});
    tensor crops = t.contiguous(t.reshape(tiles.transpose(1, 2), {1, rows * grid_size, columns * grid_size, width}));
    if (made.rows < crops.dim(1)) crops = t.slice(crops, 1, made.rows);
    if (made.columns < crops.dim(2)) crops = t.slice(crops, 2, made.columns);
    return t.cat({end_rows(t, crops, learned.row_separator), learned.global_separator, global_features}, 1);
}

/// Inserts image features at the image token positions (`Phi4MultimodalImageEmbedding`).
constexpr tensor place_images(const layer_context& ctx, trace& t, const tensor& token_embeddings) {
    const bool has_image_inputs = has_images(t);
    const recorder::not_executed_guard unseen{t, !has_image_inputs};
    layer_context tower = ctx.component(0);
    const std::int64_t vision_width = tower.config.hidden_size, expanded_width = ctx.config.hidden_size,
                       images = images_in(t);
    const cut_picture made = has_image_inputs ? cut_up(ctx.model, t.load()) : cut_picture{};
    const std::int64_t crops = made.crops.tiles() + 1, side = has_image_inputs ? tower.config.family[crop] : 0;
    const module_info m{.name = "image_embed", .class_of_module = ctx.class_of("ImageEmbedding")};
    t.enter(m);
    const tensor global_separator = t.param("global_img_feature_extensor", {1, 1, vision_width});
    const separators learned{t.param("sub_img_feature_extensor", {1, 1, 1, vision_width}), global_separator};
    attention_inputs hidden;
    if (made.hides) hidden.family_tensors[0] = trace::buffer({1, 1});
    tower.inputs = &hidden;
    tensor x;
    {
        const recorder::workload_guard encoder_workload{t, image_workload(t.load(), images * crops, side, side)};
        const module_info eyes{.name = "img_processor",
                               .class_of_module = tower.class_of(tower.spec.names.model_class),
                               .module_role = role::vision};
        x = forward_in_module(eyes, tower.spec.base_model, tower, t);
    }
    const vision_config& image = tower.config.vision;
    const std::int64_t patches = (has_image_inputs ? side : image.image_height) / image.patch_size;
    x = x.view({x.dim(0), patches, patches, vision_width}).permute({0, 3, 1, 2});
    if (mirrors(image)) x = t.call("img_processor_padding", mirrored_padding{}, x);
    x = t.call("image_token_compression", average_pool_2d{2, 2}, x).permute({0, 2, 3, 1});
    const std::int64_t grid_size = x.dim(1);
    const tensor features = x.view({images, crops, grid_size * grid_size, vision_width});
    tensor operand = trace::buffer({1});
    operand.type = x.type;
    for (loop one = t.loop_calls(images, operand); one.next();) {
        const tensor tokens = merge_crops(t, features, made, grid_size, learned);
        operand = t.gelu(t.call("img_projection_up", projector_linear{vision_width, expanded_width, true}, tokens));
        operand = t.call("img_projection_down", projector_linear{expanded_width, expanded_width, true}, operand);
    }
    const tensor all = t.cat({window_tiling(operand, 1, images)}, 1);
    const tensor placed = has_image_inputs ? t.masked_scatter(token_embeddings, all.squeeze(0)) : token_embeddings;
    return t.leave(m, dropout(t, "drop", placed, dropout_position::embeddings));
}

}  // namespace phi4_multimodal_detail

// transformers/models/phi4_multimodal, Phi4MultimodalVisionConfig
inline constexpr submodel_spec phi4_multimodal_vision = [](model_spec spec) {
    spec.model_type = "phi4_multimodal_vision";
    spec.class_prefix = "Phi4Multimodal";
    spec.base_model = phi4_multimodal_detail::encode_images;
    spec.parse_config = phi4_multimodal_detail::parse_vision_config;
    spec.family_keys = phi4_multimodal_detail::vision_keys;
    spec.supported_heads = {};
    spec.attention = text_attention;
    spec.names.layer_class = "VisionEncoderLayer";
    spec.names.attention_class = "VisionAttention";
    spec.names.mlp_class = "VisionMLP";
    spec.defaults.hidden_size = 1152;
    spec.defaults.intermediate_size = 4304;
    spec.defaults.num_hidden_layers = 27;
    spec.defaults.num_attention_heads = 16;
    spec.defaults.hidden_act = activation::gelu_pytorch_tanh;
    return spec;
}(shared_tower);

}  // namespace llmcost::arch
