// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/deepseek_v2.hpp>
#include <llmcost/arch/qwen2.hpp>
#include <llmcost/arch/sam.hpp>
#include <llmcost/config/processor.hpp>
#include <llmcost/forward/local_views.hpp>
#include <llmcost/forward/multimodal.hpp>
#include <llmcost/forward/sam_encoder.hpp>
#include <llmcost/forward/tiles.hpp>

namespace llmcost::arch {

namespace deepseek_ocr2_detail {

using local_views::first_channels, local_views::last_channels;

// ---- SAM, followed by two strided convolutions

inline constexpr family_key sam_keys[]{sam_encoder::family_keys[0],
                                       sam_encoder::family_keys[1],
                                       sam_encoder::family_keys[2],
                                       sam_encoder::family_keys[3],
                                       sam_encoder::family_keys[4],
                                       {.default_value = 512, .type = family_key_type::computed},
                                       {.default_value = 896, .type = family_key_type::computed}};

/// Encodes images: (B, 3, side, side) -> (B, channels, side / 64, side / 64).
constexpr tensor sam_base(const layer_context& ctx, trace& t) {
    const std::int64_t inner_channels = ctx.config.family[first_channels];
    const tensor x = sam_encoder::forward_vision_encoder(ctx, t);
    const module_info proj{.name = "proj", .class_of_module = ctx.class_of("VisionProj")};
    t.enter(proj);
    const tensor h = t.call("conv1", convolution_2d{x.dim(1), inner_channels, 3, 2, 1, 1, false}, x);
    return t.leave(
        proj, t.call("conv2", convolution_2d{inner_channels, ctx.config.family[last_channels], 3, 2, 1, 1, false}, h));
}

constexpr void parse_sam(config_view json, model_config& config) {
    sam_encoder::parse_config(json, config);
    const auto channels = json.optional_array("downsample_channels");
    if (!channels) return;
    if (channels->size() < 2) throw_invalid_value(json, "downsample_channels", "two numbers of channels");
    config.family[first_channels] = (*channels)[0].as_positive();
    config.family[last_channels] = (*channels)[1].as_positive();
}

}  // namespace deepseek_ocr2_detail

inline constexpr submodel_spec deepseek_ocr2_sam = [](model_spec spec) {
    spec.class_prefix = "DeepseekOcr2Sam";
    spec.base_model = deepseek_ocr2_detail::sam_base;
    spec.parse_config = deepseek_ocr2_detail::parse_sam;
    spec.family_keys = deepseek_ocr2_detail::sam_keys;
    spec.names.model_class = "VisionEncoder";
    return spec;
}(sam_vision_encoder);

namespace deepseek_ocr2_detail {

using local_views::cut, local_views::cut_rule, local_views::left_of, local_views::parse_towers,
    local_views::place_cut_images, local_views::projector;

// ---- Qwen2 layers over patches and queries: patches attend to each other, queries to all preceding tokens

/// Traces the encoder layers without a KV cache. The block mask is as large as the score matrix.
constexpr tensor forward_vision_encoder(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t n = x.dim(1);
    attention_inputs inputs{.pattern = {.query_length = n, .is_causal = false}};
    inputs.mask = eager_mask(t, inputs.pattern, x.dim(0));
    const class_name named = ctx.class_of(ctx.spec.names.rotary_class);
    const rotary_table table{ctx.config.rotary_dim, named, rotary_frequencies{ctx.config}};
    const tensor_pair tables = t.call("rotary_emb", table, n);
    inputs.cos = tables.first;
    inputs.sin = tables.second;
    decoder_inputs shared;
    shared.full = inputs;
    return apply_norm(ctx, t, "norm", forward_layers(ctx, t, shared, x));
}

constexpr void parse_encoder_config(config_view json, model_config& config) {
    divide_by_heads(json, config, {"num_attention_heads"});
    config.attention_bias = true;
    config.output_bias = false;
    config.sliding_window = 0;
    config.layers.fill({token_mixer_kind::full_attention});
}

inline constexpr submodel_spec encoder = [](model_spec spec) {
    spec.class_prefix = "DeepseekOcr2Vision";
    spec.parse_config = parse_encoder_config;
    spec.attention = rotary_patch_attention;
    spec.supported_heads = {};
    spec.names.model_class = "Encoder";
    spec.names.layer_class = "EncoderLayer";
    spec.defaults.num_key_value_heads = 32;
    spec.defaults.sliding_window = 0;
    return spec;
}(qwen2);

// ---- images

inline constexpr std::int64_t num_queries_768 = 144, num_queries_1024 = 256;

inline constexpr cut_rule rule{.base_size = 1024, .tile = 768, .minimum = 2, .maximum = 6};

/// Number of queries for images of this side.
[[nodiscard]] constexpr std::int64_t queries_for(std::int64_t side, std::int64_t patch) noexcept {
    const std::int64_t n = left_of(side, patch);
    return n * n <= num_queries_768 ? num_queries_768 : num_queries_1024;
}

constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    if (load.images == 0) return {};
    if (load.image_height == 0)
        throw_description_error("this model accepts images of any size; use --image WIDTHxHEIGHT");
    const std::int64_t patch = m.components[0].config.vision.patch_size;
    media_shape image = cut({load.image_height, load.image_width}, rule);
    image.num_tokens = queries_for(rule.base_size, patch) + image.num_tiles * queries_for(rule.tile, patch) + 1;
    return {.image = image};
}

/// Parses the processor configuration. `DeepseekOcr2Processor` always uses two to six tiles, independent of this file.
constexpr void parse_processor_config(config_view json, model&) {
    expect_resized(json);
    expect_side(json, "size", rule.base_size, "1024, the size of the query embeddings");
    expect_side(json, "tile_size", rule.tile, "768, for which the queries of a tile are made");
}

/// Traces SAM and the Qwen2 layers over its patches, followed by the queries: (B, queries, width).
constexpr tensor forward_vision_model(const layer_context& ctx, trace& t) {
    const layer_context reader = ctx.component(1);
    const std::int64_t width = reader.config.hidden_size;
    const module_info tower{
        .name = "vision_tower", .class_of_module = ctx.class_of("VisionModel"), .module_role = role::vision};
    const module_info encoder{.name = "vision_encoder", .class_of_module = reader.class_of("Encoder")};
    t.enter(tower);
    const tensor x = as_tokens(forward_encoder_component(ctx, t, 0, "sam_encoder", role::none));
    const auto queries = [&](literal name, std::int64_t n) {
        const module_info learned{.name = name, .class_of_module = {"", "Embedding"}, .is_leaf = true};
        t.enter(learned);
        const tensor weight = t.param("weight", {n, width});
        t.leave(learned);
        return weight;
    };
    const tensor query_768 = queries("query_768_resolution", num_queries_768),
                 query_1024 = queries("query_1024_resolution", num_queries_1024);
    const tensor& query_embeddings = x.dim(1) <= num_queries_768 ? query_768 : query_1024;
    const tensor concatenated =
        t.cat({x, query_embeddings.unsqueeze(0).expand({x.dim(0), query_embeddings.dim(0), width})}, 1);
    t.enter(encoder);
    const tensor states = t.leave(encoder, forward_vision_encoder(reader, t, concatenated));
    return t.leave(tower, t.slice(states, 1, query_embeddings.dim(0)));
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    return forward_text_after_encoder(ctx, t, "language_model", [&](const tensor& token_embeddings) {
        const bool has_image_inputs = has_images(t);
        const recorder::not_executed_guard no_pixels{t, !has_image_inputs};
        const std::int64_t in = ctx.model.components[1].config.hidden_size, width = ctx.config.hidden_size;
        const tensor separator = t.param("view_separator", {width});
        const auto encode_images = [&] {
            return t.call("multi_modal_projector", projector{{in, width, true}}, forward_vision_model(ctx, t));
        };
        const auto concatenate_features = [&](const tensor& global_features, const tensor& parts) {
            const tensor last = separator.unsqueeze(0);
            return parts.rank == 0 ? t.cat({global_features, last}, 0)
                                   : t.cat({parts.view({-1, width}), global_features, last}, 0);
        };
        const media_shape shape =
            has_image_inputs ? compute_media_shapes(ctx.model, t.load()).image : media_shape{.num_tiles = 0};
        return place_cut_images(t, token_embeddings, shape, rule.tile, encode_images, concatenate_features);
    });
}

constexpr void parse_config(config_view json, model& m) {
    parse_towers(json, m, deepseek_ocr2_sam, "encoder_config", encoder);
}

}  // namespace deepseek_ocr2_detail

/// Parses the text configuration. The heads have hidden_size / heads elements, independent of `head_dim`. Experts:
/// DeepSeek V2.
constexpr void parse_deepseek_ocr_text(config_view json, model_config& config, std::int64_t dense_layers) {
    divide_by_heads(json, config, {"num_attention_heads"});
    parse_experts(json, config, json.contains("num_experts") ? "num_experts" : "n_routed_experts");
    validate_experts(json, config);
    config.moe.shared_intermediate_size =
        checked_size(json, "n_shared_experts", json.positive("n_shared_experts", 2), config.moe.intermediate_size);
    const string_ref method = json.string("topk_method", "greedy");
    config.moe.has_group_limit = method == "group_limited_greedy";
    if (!config.moe.has_group_limit && method != "greedy")
        throw_unsupported(json, "topk_method", "unsupported top-k method");
    if (config.moe.has_group_limit) {
        config.moe.n_group = json.positive("n_group");
        config.moe.topk_group = json.positive("topk_group");
        check_groups(json, config);
    }
    const sparse_layer_selection sparse(json, config, dense_layers);
    set_layers(json, config, [&](std::int64_t i) {
        return layer_spec{token_mixer_kind::full_attention, sparse.has(i)};
    });
}

// The text model: Llama's attention and DeepSeek V2's experts.
//
// Source: transformers/models/deepseek_ocr2
inline constexpr model_spec deepseek_ocr2_text = [](model_spec spec) {
    spec.dropout_keys = {};
    spec.model_type = "deepseek_ocr2_text";
    spec.class_prefix = "DeepseekOcr2";
    spec.supported_heads = {};
    spec.parse_config = [](config_view json, model_config& config) {
        parse_deepseek_ocr_text(json, config, json.non_negative("first_k_dense_replace", 0));
    };
    spec.token_mixer = attention_token_mixer;
    spec.rotary = rotary_style::rotate_half;
    spec.names.model_class = "TextModel";
    spec.names.layer_class = "TextDecoderLayer";
    spec.names.attention_class = "TextAttention";
    spec.names.norm_class = "TextRMSNorm";
    spec.names.mlp_class = "TextMLP";
    spec.names.moe_class = "TextMoe";
    spec.names.experts_class = "TextExperts";
    spec.names.router_class = "TextTopkRouter";
    spec.names.rotary_class = "TextRotaryEmbedding";
    return spec;
}(deepseek_v2);

// DeepSeek-OCR 2. SAM, then an encoder whose queries read the patches in order.
//
// Source: transformers/models/deepseek_ocr2
inline constexpr model_spec deepseek_ocr2 = [](model_spec spec) {
    spec.model_type = "deepseek_ocr2";
    spec.class_prefix = "DeepseekOcr2";
    spec.base_model = deepseek_ocr2_detail::base;
    spec.parse_composite_config = deepseek_ocr2_detail::parse_config;
    spec.compute_media_shapes = deepseek_ocr2_detail::compute_media_shapes;
    spec.parse_image_processor = deepseek_ocr2_detail::parse_processor_config;
    spec.modalities.has_images = true;
    spec.text_model = {.key = "text_config", .default_spec = &deepseek_ocr2_text, .ignores_model_type = true};
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
