// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/deepseek_ocr2.hpp>
#include <llmcost/arch/laguna.hpp>
#include <llmcost/arch/minimax_m2.hpp>
#include <llmcost/arch/step3p7_vision.hpp>

namespace llmcost::arch {

namespace step3p7_detail {

// ---- the text: Laguna's attention, experts and blocks whose inputs are clamped behind the activation

constexpr value attend(const site& here, trace& t, const value& x) {
    return laguna_detail::attend_gated(here, t, x, true, [&](const value& logits, dtype) { return t.sigmoid(logits); });
}

/// A gate clamped behind its activation, times what is clamped on both sides; without a limit by infinity.
constexpr value gated(trace& t, activation act, const value& gate, const value& up) {
    const value open = t.unary(op::compare, t.call("act_fn", activation_module{act}, gate));
    return t.mul(open, t.unary(op::clamp, up));
}

struct clamped_experts : routed_rows {
    static constexpr bool leaf = false;
    constexpr value describe(trace& t, const value& x, const value& weights) const {
        const recorder::fused_guard fused{t, part(x.dim(0))};
        const value rows = picked(t, x), up = param(t, "gate_up_proj", {num_experts, 2 * inner, width}),
                    down = param(t, "down_proj", {num_experts, width, inner});
        const value half = t.linear(rows, t.select(up, 0)).slice(-1, inner);
        return summed(t, x, weights, t.linear(gated(t, act, half, half), t.select(down, 0)));
    }
};

struct clamped_block {
    site here;
    std::int64_t inner;

    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("MLP"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size;
        const linear wide{width, inner, here.dims.mlp_bias};
        const value gate = t.call("gate_proj", wide, x), up = t.call("up_proj", wide, x);
        const value h = gated(t, here.dims.hidden_act, gate, up);
        return t.call("down_proj", linear{inner, width, here.dims.mlp_bias}, h);
    }
};

constexpr value mixture(const site& here, trace& t, const value& x) {
    const moe_sizes& m = here.dims.moe;
    const std::int64_t width = here.dims.hidden_size;
    const value tokens = x.view({-1, width});
    const value beside = t.call("shared_experts", clamped_block{here, m.shared_intermediate_size}, tokens);
    const value weights = call_own_router(here, t, minimax_m2_detail::pick, tokens);
    const routed_rows all{
        width, m.intermediate_size, m.num_experts, m.num_experts_per_tok, here.dims.hidden_act, here.type("Experts")};
    const value routed = t.mul(t.call("experts", clamped_experts{all}, tokens, weights));
    return t.add(routed, beside).view({x.dim(0), x.dim(1), width});
}
constexpr value feed(const site& here, trace& t, const value& x) {
    if (here.kind.experts) return feed_by_mixture(here, t, mixture, x);
    return t.call("mlp", clamped_block{here, here.dims.intermediate_size}, x);
}

/// A key under the first of its names that a file has, else under the standard one.
constexpr literal written(config_view config, literal standard, std::initializer_list<literal> others) {
    for (const literal key : others)
        if (!config.contains(standard) && config.contains(key)) return key;
    return standard;
}

/// A list for all layers, behind which those of modules for further tokens may stand.
constexpr maybe<config_view> list_of_layers(config_view config, literal key, std::int64_t layers, std::int64_t further) {
    const auto listed = config.optional_array(key);
    if (!listed) return {};
    const auto n = static_cast<std::int64_t>(listed->size());
    if (n != layers && n != layers + further) fail_value(config, key, "a list with one entry per hidden layer");
    return listed;
}

/// Layers with experts, by their kinds, by an older list of numbers, or all from the fourth on.
class mixtures {
public:
    constexpr mixtures(config_view config, std::int64_t layers, std::int64_t further)
        : kinds_(list_of_layers(config, "mlp_layer_types", layers, further)) {
        const auto older = config.find("moe_layers_enum");
        if (kinds_ || !older || older->is_null()) return;
        numbered_ = true;
        if (older->is_array()) {
            named_ = layer_set(*older);
            return;
        }
        std::int64_t n = -1;
        const auto take = [&] {
            if (n >= 0 && n < layer_plan::longest) listed_[n] = true;
            n = -1;
        };
        for (const char c : older->as_string()) {
            if (c >= '0' && c <= '9')
                n = n > layer_plan::longest ? n : (n > 0 ? 10 * n : 0) + (c - '0');
            else if (c == ',' || c == ' ')
                take();
            else
                fail_value(config, "moe_layers_enum", "numbers of layers with commas between them");
        }
        take();
    }
    [[nodiscard]] constexpr bool has(config_view config, std::int64_t layer) const {
        if (!kinds_) return numbered_ ? named_.has(layer) || listed_[layer] : layer >= 3;
        const string_ref kind = (*kinds_)[static_cast<std::size_t>(layer)].as_string();
        if (kind != "sparse" && kind != "dense") fail_value(config, "mlp_layer_types", "a list of dense and sparse");
        return kind == "sparse";
    }

private:
    maybe<config_view> kinds_;
    layer_set named_{};
    bool listed_[layer_plan::longest]{};
    bool numbered_ = false;
};

/// Heads of layers that slide, and of single layers where a saved file lists them.
class head_numbers {
public:
    constexpr head_numbers(config_view config, const sizes& s)
        : all_(s.num_attention_heads), sliding_(config.positive("num_sliding_attention_heads", s.num_attention_heads)),
          single_(config.optional_object("per_layer_config")) {
        const auto older = config.optional_object("attention_other_setting");
        if (older && !config.contains("num_sliding_attention_heads"))
            sliding_ = older->positive("num_attention_heads", s.num_attention_heads);
    }
    [[nodiscard]] constexpr std::int64_t of(std::int64_t layer, bool slides) const {
        if (!single_) return slides ? sliding_ : all_;
        for (const config_view each : *single_) {
            std::int64_t n = 0;
            for (const char c : each.key()) n = c >= '0' && c <= '9' && n < 1000000 ? 10 * n + (c - '0') : 1000000;
            if (n != layer) continue;
            for (const config_view entry : each.as_object())
                if (entry.key() != "num_attention_heads") fail_unsupported(entry, "no row describes this of a single layer");
            return each.positive("num_attention_heads", all_);
        }
        return all_;
    }

private:
    std::int64_t all_;
    std::int64_t sliding_;
    maybe<config_view> single_;
};

/// Rotated elements of heads of a kind of layers, the first of which is `layer`; older files list a part for each layer.
constexpr std::int64_t read_rotated(config_view config, const sizes& s, literal kind, std::int64_t layer) {
    const auto by_kind = config.optional_object("rope_parameters");
    if (by_kind && by_kind->contains(kind)) return read_rotary_dim_of_kind(config, s.head_dim, kind, 1.0);
    double part = 1;
    if (const auto parts = config.optional_array("partial_rotary_factors"); parts && parts->size() > 0) {
        if (static_cast<std::int64_t>(parts->size()) <= layer)
            fail_value(config, "partial_rotary_factors", "a list with one part per hidden layer");
        part = (*parts)[static_cast<std::size_t>(layer)].as_real();
    }
    const std::int64_t rotated = part > 0 && part <= 1 ? whole_pairs(s.head_dim, part) : 0;
    if (rotated < 2 || rotated > s.head_dim)
        fail_value(config, "partial_rotary_factors", "parts of a head that leave an even number of rotated elements");
    return rotated;
}

constexpr void read_text(config_view config, sizes& s) {
    using namespace laguna_detail;
    const std::int64_t n = s.num_hidden_layers;
    const std::int64_t further = config.non_negative(written(config, "num_nextn_predict_layers", {"num_mtp_layers"}), 0);
    s.moe.num_experts = config.positive(written(config, "n_routed_experts", {"num_local_experts", "moe_num_experts"}), 288);
    s.moe.num_experts_per_tok = config.positive(written(config, "num_experts_per_tok", {"moe_top_k"}), 8);
    s.moe.intermediate_size = config.positive("moe_intermediate_size", 1280);
    if (s.moe.num_experts_per_tok > s.moe.num_experts)
        fail_value(config, "n_routed_experts", "at least as many experts as num_experts_per_tok");
    s.moe.shared_intermediate_size = config.positive(written(config, "share_expert_dim", {"share_expert_dims"}), 1280);
    const auto gating = config.find("gating");
    s.own[gate_per_head] = !gating || (gating->is_boolean() ? gating->as_boolean() : gating->as_string() == "per-head");
    if (s.sliding_window == 0) fail_missing(config, "sliding_window", "a number of tokens, as a mask is made of it");
    const auto kinds = list_of_layers(config, "layer_types", n, further);
    const mixtures experts(config, n, further);
    const head_numbers heads(config, s);
    std::int64_t first[2]{-1, -1};  // of each kind
    plan_layers(config, s, [&](std::int64_t i) {
        const string_ref kind = kinds ? (*kinds)[static_cast<std::size_t>(i)].as_string() : string_ref("full_attention");
        const bool slides = kind == "sliding_attention";
        if (!slides && kind != "full_attention") fail_unsupported(config, "layer_types", "no layer describes one of these kinds");
        if (first[slides] < 0) first[slides] = i;
        const std::int64_t h = heads.of(i, slides);
        if (h % s.num_key_value_heads != 0)
            fail_value(config, "num_sliding_attention_heads", "multiples of num_key_value_heads");
        (void)checked_width(config, "num_attention_heads", h, s.head_dim);
        const mixer_kind mixer = slides ? mixer_kind::sliding_attention : mixer_kind::full_attention;
        return layer_kind{mixer, experts.has(config, i), word_of(config, s, h)};
    });
    read_frequencies_of_kinds(config, s, "full_attention", "sliding_attention");
    if (const auto older = config.optional_object("rope_scaling"); older && !config.contains("rope_parameters"))
        s.frequencies = detail::frequency_rule_of(*older);
    if (first[0] >= 0) s.own[full_rotary] = read_rotated(config, s, "full_attention", first[0]);
    if (first[1] >= 0) s.own[sliding_rotary] = read_rotated(config, s, "sliding_attention", first[1]);
}

inline constexpr architecture text = [](architecture a) {
    a.model_type = "step3p5", a.prefix = "Step3p7", a.read = read_text, a.attend = attend, a.feed = feed, a.heads = {};
    a.norm = norm_kind::rms_plus_one, a.masks = mask_rule::full_and_sliding, a.finish = nullptr, a.drops = {};
    a.names.model_type = "TextModel", a.defaults.head = head_kind::none;
    a.keys[0] = {"num_key_value_heads", "num_attention_groups", key_rule::standard_first};
    a.defaults.vocab_size = 128815, a.defaults.hidden_size = 4096, a.defaults.intermediate_size = 11264;
    a.defaults.num_hidden_layers = 45, a.defaults.num_attention_heads = 64, a.defaults.num_key_value_heads = 8;
    a.defaults.max_position_embeddings = 128000, a.defaults.sliding_window = 0;
    return a;
}(laguna);

// ---- images

enum own : std::uint8_t { projector_bias };
inline constexpr own_key keys[]{{"projector_bias", 0, own_value::boolean}};

/// Source: transformers/models/step3p7/image_processing_step3p7.py, `_plan_patches`.
inline constexpr std::int64_t most_pixels = 3024, crop_side = 504;

/// Crops of a window that follows an image's sides, all of one size in the end; none of an image that fits the whole view.
[[nodiscard]] constexpr tile_grid crops_of(std::int64_t height, std::int64_t width, std::int64_t whole) {
    const auto ratio = [](std::int64_t longer, std::int64_t shorter) {
        return static_cast<double>(longer) / static_cast<double>(shorter);
    };
    const auto longer = [&] { return height > width ? height : width; };
    const auto shorter = [&] { return height > width ? width : height; };
    if (shorter() < 32 && ratio(longer(), shorter()) > 4) height = width = longer();
    if (longer() > most_pixels) {
        const double scale = static_cast<double>(most_pixels) / static_cast<double>(longer());
        width = static_cast<std::int64_t>(static_cast<double>(width) * scale);
        height = static_cast<std::int64_t>(static_cast<double>(height) * scale);
    }
    if (shorter() < 1) report_description("an image of these sides has no height or no width left");
    std::int64_t window = crop_side;
    if (longer() <= whole)
        window = ratio(longer(), shorter()) > 1.5 ? shorter() : 0;
    else if (ratio(longer(), shorter()) > 4)
        window = shorter() < crop_side ? shorter() : crop_side;
    if (window == 0) return {0, 0};
    const auto along = [&](std::int64_t side) {
        const bool up = static_cast<double>(side % window) > 0.2 * static_cast<double>(window);
        const std::int64_t n = side >= window ? side / window + (up ? 1 : 0) : 0;
        return n > 0 ? n : 1;
    };
    return {along(height), along(width)};
}

constexpr media_shapes show(const model& m, const workload& load) {
    if (load.images == 0) return {};
    const vision_sizes& own = m.beside[0].dims.vision;
    const image_sides image = sides_of_images(load, own);
    const tile_grid crops = crops_of(image.height, image.width, own.image_height);
    const auto tokens = [&](std::int64_t side) {
        const std::int64_t n = deepseek_ocr2_detail::left_of(side, own.patch_size);
        return n * n;
    };
    return {.image = {.tokens = tokens(own.image_height) + crops.tiles() * tokens(crop_side),
                      .tiles = crops.tiles(),
                      .height = own.image_height,
                      .width = own.image_width,
                      .rows = crops.rows,
                      .columns = crops.columns}};
}

/// The whole image and its crops, the latter in front.
constexpr value base(const site& here, trace& t) {
    return describe_text_after(here, t, "language_model", [&](const value& words) {
        const bool sees = sees_images(t);
        const recorder::idle_guard no_pixels{t, !sees};
        const std::int64_t width = here.dims.hidden_size;
        const auto see = [&] {
            const value states = describe_tower(here, t, 0, "vision_model", role::vision);
            const linear projection{states.dim(2), width, here.whole.own[projector_bias] != 0};
            return t.call("multi_modal_projector", deepseek_ocr2_detail::projector{projection}, states);
        };
        const auto join = [&](const value& whole, const value& parts) {
            return parts.rank == 0 ? whole : t.cat({t.reshape(parts, {-1, width}), whole}, 0);
        };
        const media_shape each = sees ? show(here.whole, t.load()).image : media_shape{.tiles = 0};
        return deepseek_ocr2_detail::place_cut_images(t, words, each, crop_side, see, join);
    });
}

}  // namespace step3p7_detail

// transformers/models/step3p7: Laguna's attention and MiniMax's router; a tower of turned patches over crops and the whole
inline constexpr architecture step3p7 = [](architecture a) {
    a.model_type = "step3p7", a.prefix = "Step3p7", a.base = step3p7_detail::base, a.own = step3p7_detail::keys;
    a.media = step3p7_detail::show, a.reads.images = true;
    a.text = {.key = "text_config", .otherwise = &step3p7_detail::text, .always = true};
    a.beside[0] = {.key = "vision_config", .otherwise = &step3p7_detail::tower, .always = true};
    return a;
}(shared_composite);

}  // namespace llmcost::arch
