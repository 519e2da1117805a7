// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/laguna.hpp>
#include <llmcost/arch/step3p7_vision.hpp>
#include <llmcost/forward/heads_per_layer.hpp>
#include <llmcost/forward/local_views.hpp>
#include <llmcost/forward/mlp.hpp>

namespace llmcost::arch {

namespace step3p7_detail {

// ---- the text model: Laguna's attention; experts and MLPs with inputs clamped after the activation

constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    return heads_per_layer::attend_gated(ctx, t, x, true,
                                         [&](const tensor& logits, dtype) { return t.sigmoid(logits); });
}

/// Gated product: the gate is clamped after its activation, and the other factor on both sides. Without a limit, the
/// bounds are infinite.
constexpr tensor gated(trace& t, activation act, const tensor& gate, const tensor& up) {
    const tensor open = t.clamp_max(t.call("act_fn", activation_module{act}, gate));
    return t.mul(open, t.clamp(up));
}

struct clamped_block {
    layer_context ctx;
    std::int64_t inner;

    static constexpr role module_role = role::mlp;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("MLP"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size;
        const linear projection{width, inner, ctx.config.mlp_bias};
        const tensor gate = t.call("gate_proj", projection, x), up = t.call("up_proj", projection, x);
        const tensor h = gated(t, ctx.config.hidden_act, gate, up);
        return t.call("down_proj", linear{inner, width, ctx.config.mlp_bias}, h);
    }
};

constexpr tensor sparse_moe_block(const layer_context& ctx, trace& t, const tensor& x) {
    const moe_config& moe = ctx.config.moe;
    const std::int64_t width = ctx.config.hidden_size;
    const tensor tokens = x.view({-1, width});
    const tensor shared_output = t.call("shared_experts", clamped_block{ctx, moe.shared_intermediate_size}, tokens);
    const tensor weights = call_custom_router(ctx, t, route_by_corrected_sigmoid, tokens);
    const routed_experts_base all{width,
                                  moe.intermediate_size,
                                  moe.num_experts,
                                  moe.num_experts_per_tok,
                                  ctx.config.hidden_act,
                                  ctx.class_of("Experts")};
    const auto gate = [act = ctx.config.hidden_act](trace& tracer, const tensor& gate_up) {
        const tensor half = gate_up.slice(-1, gate_up.dim(-1) / 2);
        return gated(tracer, act, half, half);
    };
    const tensor routed = t.mul_scalar(t.call("experts", with_custom_gate<false>(all, gate), tokens, weights));
    return t.add(routed, shared_output).view({x.dim(0), x.dim(1), width});
}

constexpr tensor mlp(const layer_context& ctx, trace& t, const tensor& x) {
    if (ctx.layer.has_experts) return moe_or_dense_mlp(ctx, t, sparse_moe_block, x);
    return t.call("mlp", clamped_block{ctx, ctx.config.intermediate_size}, x);
}

/// A key under the first of its names that a file has, else under the standard one.
constexpr literal written(config_view json, literal standard, std::initializer_list<literal> others) {
    for (const literal key : others)
        if (!json.contains(standard) && json.contains(key)) return key;
    return standard;
}

/// Returns a list with one entry per layer, which may be followed by entries of multi-token prediction modules.
constexpr maybe<config_view> list_of_layers(config_view json, literal key, std::int64_t layers,
                                            std::int64_t num_mtp_layers) {
    const auto listed = json.optional_array(key);
    if (!listed) return {};
    const auto n = static_cast<std::int64_t>(listed->size());
    if (n != layers && n != layers + num_mtp_layers)
        throw_invalid_value(json, key, "a list with one entry per hidden layer");
    return listed;
}

/// Layers with experts, by their kinds, by an older list of numbers, or all from the fourth on.
class mixtures {
public:
    constexpr mixtures(config_view json, std::int64_t layers, std::int64_t num_mtp_layers)
        : kinds_(list_of_layers(json, "mlp_layer_types", layers, num_mtp_layers)) {
        const auto older = json.find("moe_layers_enum");
        if (kinds_ || !older || older->is_null()) return;
        has_layer_numbers_ = true;
        if (older->is_array()) {
            moe_layers_ = layer_set(*older);
            return;
        }
        std::int64_t n = -1;
        const auto add_number = [&] {
            if (n >= 0 && n < layer_plan::max_layers) is_listed_[n] = true;
            n = -1;
        };
        for (const char c : older->as_string()) {
            if (c >= '0' && c <= '9')
                n = n > layer_plan::max_layers ? n : (n > 0 ? 10 * n : 0) + (c - '0');
            else if (c == ',' || c == ' ')
                add_number();
            else
                throw_invalid_value(json, "moe_layers_enum", "numbers of layers with commas between them");
        }
        add_number();
    }
    [[nodiscard]] constexpr bool has(config_view json, std::int64_t layer) const {
        if (!kinds_) return has_layer_numbers_ ? moe_layers_.has(layer) || is_listed_[layer] : layer >= 3;
        const string_ref kind = (*kinds_)[static_cast<std::size_t>(layer)].as_string();
        if (kind != "sparse" && kind != "dense")
            throw_invalid_value(json, "mlp_layer_types", "a list of dense and sparse");
        return kind == "sparse";
    }

private:
    maybe<config_view> kinds_;
    layer_set moe_layers_{};
    bool is_listed_[layer_plan::max_layers]{};
    bool has_layer_numbers_ = false;
};

/// Heads of layers that slide, and of single layers where a saved file lists them.
class head_numbers {
public:
    constexpr head_numbers(config_view json, const model_config& config)
        : default_heads_(config.num_attention_heads),
          sliding_heads_(json.positive("num_sliding_attention_heads", config.num_attention_heads)),
          shared_value_(json.optional_object("per_layer_config")) {
        const auto older = json.optional_object("attention_other_setting");
        if (older && !json.contains("num_sliding_attention_heads"))
            sliding_heads_ = older->positive("num_attention_heads", config.num_attention_heads);
    }
    [[nodiscard]] constexpr std::int64_t num_heads(std::int64_t layer, bool slides) const {
        if (!shared_value_) return slides ? sliding_heads_ : default_heads_;
        for (const config_view layer_entry : *shared_value_) {
            std::int64_t n = 0;
            for (const char c : layer_entry.key())
                n = c >= '0' && c <= '9' && n < 1000000 ? 10 * n + (c - '0') : 1000000;
            if (n != layer) continue;
            for (const config_view entry : layer_entry.as_object())
                if (entry.key() != "num_attention_heads") throw_unsupported(entry, "not supported per layer");
            return layer_entry.positive("num_attention_heads", default_heads_);
        }
        return default_heads_;
    }

private:
    std::int64_t default_heads_;
    std::int64_t sliding_heads_;
    maybe<config_view> shared_value_;
};

/// Rotated elements of heads of a kind of layers, the first of which is `layer`; older files list a part for each
/// layer.
constexpr std::int64_t parse_rotated(config_view json, const model_config& config, literal kind, std::int64_t layer) {
    const auto by_kind = json.optional_object("rope_parameters");
    if (by_kind && by_kind->contains(kind)) return parse_rotary_dim_of_kind(json, config.head_dim, kind, 1.0);
    double part = 1;
    if (const auto parts = json.optional_array("partial_rotary_factors"); parts && parts->size() > 0) {
        if (static_cast<std::int64_t>(parts->size()) <= layer)
            throw_invalid_value(json, "partial_rotary_factors", "a list with one part per hidden layer");
        part = (*parts)[static_cast<std::size_t>(layer)].as_real();
    }
    const std::int64_t rotated = part > 0 && part <= 1 ? round_rotary_dim(config.head_dim, part) : 0;
    if (rotated < 2 || rotated > config.head_dim)
        throw_invalid_value(json, "partial_rotary_factors",
                            "parts of a head that leave an even number of rotated elements");
    return rotated;
}

constexpr void parse_text_config(config_view json, model_config& config) {
    using namespace heads_per_layer;
    const std::int64_t n = config.num_hidden_layers;
    const std::int64_t num_mtp_layers =
        json.non_negative(written(json, "num_nextn_predict_layers", {"num_mtp_layers"}), 0);
    config.moe.num_experts =
        json.positive(written(json, "n_routed_experts", {"num_local_experts", "moe_num_experts"}), 288);
    config.moe.num_experts_per_tok = json.positive(written(json, "num_experts_per_tok", {"moe_top_k"}), 8);
    config.moe.intermediate_size = json.positive("moe_intermediate_size", 1280);
    if (config.moe.num_experts_per_tok > config.moe.num_experts)
        throw_invalid_value(json, "n_routed_experts", "at least as many experts as num_experts_per_tok");
    config.moe.shared_intermediate_size = json.positive(written(json, "share_expert_dim", {"share_expert_dims"}), 1280);
    const auto gating = json.find("gating");
    config.family[gate_per_head] =
        !gating || (gating->is_boolean() ? gating->as_boolean() : gating->as_string() == "per-head");
    if (config.sliding_window == 0)
        throw_missing_key(json, "sliding_window", "a number of tokens, as a mask is made of it");
    const auto kinds = list_of_layers(json, "layer_types", n, num_mtp_layers);
    const mixtures experts(json, n, num_mtp_layers);
    const head_numbers heads(json, config);
    std::int64_t first[2]{-1, -1};  // of each kind
    set_layers(json, config, [&](std::int64_t i) {
        const string_ref kind =
            kinds ? (*kinds)[static_cast<std::size_t>(i)].as_string() : string_ref("full_attention");
        const bool slides = kind == "sliding_attention";
        if (!slides && kind != "full_attention") throw_unsupported(json, "layer_types", "unsupported layer type");
        if (first[slides] < 0) first[slides] = i;
        const std::int64_t h = heads.num_heads(i, slides);
        if (h % config.num_key_value_heads != 0)
            throw_invalid_value(json, "num_sliding_attention_heads", "multiples of num_key_value_heads");
        (void)checked_size(json, "num_attention_heads", h, config.head_dim);
        const token_mixer_kind mixer = slides ? token_mixer_kind::sliding_attention : token_mixer_kind::full_attention;
        return layer_spec{mixer, experts.has(json, i), family_tag_of(json, config, h)};
    });
    parse_frequencies_of_kinds(json, config, "full_attention", "sliding_attention");
    if (const auto older = json.optional_object("rope_scaling"); older && !json.contains("rope_parameters"))
        config.rope_scaling = detail::frequency_rule_of(*older);
    if (first[0] >= 0) config.family[full_rotary] = parse_rotated(json, config, "full_attention", first[0]);
    if (first[1] >= 0) config.family[sliding_rotary] = parse_rotated(json, config, "sliding_attention", first[1]);
}

inline constexpr submodel_spec text = [](model_spec spec) {
    spec.model_type = "step3p5";
    spec.class_prefix = "Step3p7";
    spec.parse_config = parse_text_config;
    spec.attention = attention;
    spec.mlp = mlp;
    spec.supported_heads = {};
    spec.norm = norm_kind::rms_plus_one;
    spec.mask_policy = mask_kind::full_and_sliding;
    spec.process_logits = nullptr;
    spec.dropout_keys = {};
    spec.names.model_class = "TextModel";
    spec.defaults.head = head_kind::none;
    spec.config_keys.remove("mlp_bias");
    spec.config_keys.add("num_key_value_heads", "num_attention_groups", key_rule::standard_name_first);
    spec.defaults.vocab_size = 128815;
    spec.defaults.hidden_size = 4096;
    spec.defaults.intermediate_size = 11264;
    spec.defaults.num_hidden_layers = 45;
    spec.defaults.num_attention_heads = 64;
    spec.defaults.num_key_value_heads = 8;
    spec.defaults.max_position_embeddings = 128000;
    spec.defaults.sliding_window = 0;
    return spec;
}(laguna);

// ---- images

enum family_config_index : std::uint8_t { projector_bias };

inline constexpr family_key family_keys[]{{"projector_bias", 0, family_key_type::boolean}};

/// Source: transformers/models/step3p7/image_processing_step3p7.py, `_plan_patches`.
inline constexpr std::int64_t max_pixels = 3024, crop_side = 504;

/// Returns the grid of crops of equal size, whose window depends on the sides of the image. An image that fits the full
/// view has no crops.
[[nodiscard]] constexpr tile_grid crops_of(std::int64_t height, std::int64_t width, std::int64_t view_size) {
    const auto ratio = [](std::int64_t longer, std::int64_t shorter) {
        return static_cast<double>(longer) / static_cast<double>(shorter);
    };
    const auto longer = [&] { return height > width ? height : width; };
    const auto shorter = [&] { return height > width ? width : height; };
    if (shorter() < 32 && ratio(longer(), shorter()) > 4) height = width = longer();
    if (longer() > max_pixels) {
        const double scale = static_cast<double>(max_pixels) / static_cast<double>(longer());
        width = static_cast<std::int64_t>(static_cast<double>(width) * scale);
        height = static_cast<std::int64_t>(static_cast<double>(height) * scale);
    }
    if (shorter() < 1) throw_description_error("the aspect ratio of the image is too large: a side is rounded to zero");
    std::int64_t window = crop_side;
    if (longer() <= view_size)
        window = ratio(longer(), shorter()) > 1.5 ? shorter() : 0;
    else if (ratio(longer(), shorter()) > 4)
        window = shorter() < crop_side ? shorter() : crop_side;
    if (window == 0) return {0, 0};
    const auto count_crops = [&](std::int64_t side) {
        const bool up = static_cast<double>(side % window) > 0.2 * static_cast<double>(window);
        const std::int64_t n = side >= window ? side / window + (up ? 1 : 0) : 0;
        return n > 0 ? n : 1;
    };
    return {count_crops(height), count_crops(width)};
}

constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    if (load.images == 0) return {};
    const vision_config& vision = m.components[0].config.vision;
    const image_size image = image_size_of(load, vision);
    const tile_grid crops = crops_of(image.height, image.width, vision.image_height);
    const auto tokens = [&](std::int64_t side) {
        const std::int64_t n = local_views::left_of(side, vision.patch_size);
        return n * n;
    };
    return {.image = {.num_tokens = tokens(vision.image_height) + crops.tiles() * tokens(crop_side),
                      .num_tiles = crops.tiles(),
                      .height = vision.image_height,
                      .width = vision.image_width,
                      .tile_rows = crops.rows,
                      .tile_columns = crops.columns}};
}

/// Encodes the full image and its crops; the crops precede it in the sequence.
constexpr tensor base(const layer_context& ctx, trace& t) {
    return forward_text_after_encoder(ctx, t, "language_model", [&](const tensor& token_embeddings) {
        const bool has_image_inputs = has_images(t);
        const recorder::not_executed_guard no_pixels{t, !has_image_inputs};
        const std::int64_t width = ctx.config.hidden_size;
        const auto encode_images = [&] {
            const tensor states = forward_encoder_component(ctx, t, 0, "vision_model", role::vision);
            const linear projection{states.dim(2), width, ctx.model.family[projector_bias] != 0};
            return t.call("multi_modal_projector", local_views::projector{projection}, states);
        };
        const auto merge_views = [&](const tensor& global_features, const tensor& parts) {
            return parts.rank == 0 ? global_features : t.cat({t.reshape(parts, {-1, width}), global_features}, 0);
        };
        const media_shape shape =
            has_image_inputs ? compute_media_shapes(ctx.model, t.load()).image : media_shape{.num_tiles = 0};
        return local_views::place_cut_images(t, token_embeddings, shape, crop_side, encode_images, merge_views);
    });
}

}  // namespace step3p7_detail

// transformers/models/step3p7: Laguna's attention and MiniMax's router; a vision encoder with RoPE over crops and the
// full image
inline constexpr model_spec step3p7 = [](model_spec spec) {
    spec.model_type = "step3p7";
    spec.class_prefix = "Step3p7";
    spec.base_model = step3p7_detail::base;
    spec.family_keys = step3p7_detail::family_keys;
    spec.compute_media_shapes = step3p7_detail::compute_media_shapes;
    spec.modalities.has_images = true;
    spec.text_model = {.key = "text_config", .default_spec = &step3p7_detail::text, .ignores_model_type = true};
    spec.components[0] = {.key = "vision_config", .default_spec = &step3p7_detail::tower, .ignores_model_type = true};
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
