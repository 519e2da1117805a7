// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/modernbert.hpp>
#include <llmcost/arch/siglip.hpp>
#include <llmcost/arch/ultrabert.hpp>
#include <llmcost/forward/composite.hpp>

namespace llmcost::arch {

namespace modernvbert_detail {

enum family_config_index : std::uint8_t { shuffle_factor, pools_mean, norms_images };
inline constexpr family_key family_keys[]{
    {"pixel_shuffle_factor", 4},
    {.type = family_key_type::computed},  // `classifier_pooling`
    {.type = family_key_type::computed},  // norm after the connector's projection
};

/// Squares of patches side by side, projected to the width of the text; UltraVBERT norms them.
struct connector {
    layer_context ctx;

    static constexpr role module_role = role::projector;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Connector"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t square = ctx.model.family[shuffle_factor] * ctx.model.family[shuffle_factor];
        const tensor squares = t.full({x.dim(0), x.dim(1) / square, x.dim(2) * square}, x.type);
        const tensor h = t.call("modality_projection", linear{x.dim(2) * square, ctx.config.hidden_size}, squares);
        if (ctx.model.family[norms_images] == 0) return h;
        return call_norm(t, "norm", norm_kind::rms, ctx.config.hidden_size, ctx.class_of("RMSNorm"), h);
    }
};

constexpr tensor base(const layer_context& ctx, trace& t) {
    {
        const recorder::not_executed_guard no_pixels{t};
        (void)t.call("connector", connector{ctx}, forward_encoder_component(ctx, t, 0, "vision_model", role::vision));
    }
    return forward_text_model(ctx, t, "text_model");
}

/// A dense layer, an activation and a norm, configured by the text model (`ModernVBertPredictionHead`).
constexpr tensor transform(const layer_context& ctx, trace& t, literal name, const tensor& x) {
    const module_info head{.name = name, .class_of_module = ctx.class_of("PredictionHead"), .module_role = role::head};
    const std::int64_t width = ctx.config.hidden_size;
    const family_config& family = ctx.config.family;
    t.enter(head);
    tensor h = t.call("dense", linear{width, width, family[modernbert_detail::classifier_bias] != 0}, x);
    h = t.call("act", activation_module{static_cast<activation>(family[modernbert_detail::classifier_act])}, h);
    const bool bias = family[modernbert_detail::norm_bias] != 0;
    return t.leave(head, call_norm(t, "norm", norm_kind::layer, width, {}, h, bias));
}

/// Two projections through a width of their own (`UltraVBertPredictionHead`).
constexpr tensor transform_bottleneck(const layer_context& ctx, trace& t, literal name, const tensor& x) {
    const module_info head{.name = name, .class_of_module = ctx.class_of("PredictionHead"), .module_role = role::head};
    const std::int64_t width = ctx.config.hidden_size, inner = ctx.config.family[ultrabert_detail::head_width];
    const activation_module act{activation::gelu_pytorch_tanh};
    t.enter(head);
    const tensor h = t.call("act_fn", act, t.call("linear1", linear{width, inner}, x));
    return t.leave(head, t.call("act_fn", act, t.call("linear2", linear{inner, width}, h)));
}
constexpr tensor hand_on(const layer_context&, trace& t, literal name, const tensor& x) {
    return t.call(name, identity{"Identity"}, x);
}

/// The first state of a text, or the mean of all by a mask of ones.
constexpr tensor pool(const layer_context& ctx, trace& t, const tensor& x) {
    if (ctx.model.family[pools_mean] == 0) return t.select(x, 1);
    return t.div(t.sum(t.mul(x, empty_tensor({x.dim(0), x.dim(1), 1}, x.type)), 1),
                 empty_tensor({x.dim(0), 1}, x.type));
}

using head_part = tensor (*)(const layer_context&, trace&, literal, const tensor&);

/// Runs the base model, optionally with a language head or a classifier, each after its own transform.
constexpr tensor forward_with_heads(const layer_context& ctx, trace& t, head_part lm_transform, head_part before_labels,
                                    bool has_lm_bias) {
    const class_name type = ctx.class_of(ctx.spec.names.model_class);
    if (ctx.config.head == head_kind::none)
        return forward_in_module({.class_of_module = type}, ctx.spec.base_model, ctx, t);
    const module_info model_info{.class_of_module = ctx.class_of(name_of(ctx.config.head))};
    const model_config& config = ctx.config;
    t.enter(model_info);
    const tensor x =
        forward_in_module({.name = ctx.spec.names.base_model, .class_of_module = type}, ctx.spec.base_model, ctx, t);
    const recorder::not_executed_guard unused{t, t.load().head == logits::none};
    if (config.head == head_kind::masked_lm) {
        const tensor h = lm_transform(ctx, t, "projection_head", logits_to_keep(t, x));
        const linear lm_head{config.hidden_size, config.vocab_size, has_lm_bias, config.tie_word_embeddings};
        return t.leave(model_info, t.select_model_output(x, t.call("lm_head", head_linear{lm_head}, h)));
    }
    const tensor states = config.head == head_kind::sequence_classification ? pool(ctx, t, x) : x;
    const tensor h = dropout(t, "drop", before_labels(ctx, t, "head", states));
    return t.leave(
        model_info,
        t.select_model_output(x, t.call("classifier", head_linear{{config.hidden_size, config.num_labels, true}}, h)));
}
constexpr tensor forward(const layer_context& ctx, trace& t) {
    return forward_with_heads(ctx, t, transform, transform, ctx.config.family[modernbert_detail::decoder_bias] != 0);
}
constexpr tensor forward_normed_model(const layer_context& ctx, trace& t) {
    return forward_with_heads(ctx, t, transform_bottleneck, hand_on, false);
}

/// Heads read keys that one text model has.
constexpr void parse_over(config_view json, model& m, const model_spec& text) {
    if (m.text_spec != &text) throw_unsupported(json, "text_config", "heads are not supported with this text model");
    const string_ref pooling = json.string("classifier_pooling", "cls");
    m.family[pools_mean] = pooling == "mean";
    if (pooling != "mean" && pooling != "cls") throw_invalid_value(json, "classifier_pooling", "\"cls\" or \"mean\"");
    const std::int64_t square = m.family[shuffle_factor] * m.family[shuffle_factor];
    (void)checked_size(json, "pixel_shuffle_factor", square, m.components[0].config.hidden_size);
}
constexpr void parse_config(config_view json, model& m) { parse_over(json, m, modernbert); }
constexpr void parse_normed(config_view json, model& m) {
    parse_over(json, m, ultrabert);
    m.family[norms_images] = 1;
}

/// SigLIP without its pool, where UltraVBERT names no tower.
inline constexpr submodel_spec siglip_without_pool = [](model_spec spec) {
    spec.parse_config = [](config_view json, model_config& config) {
        siglip_detail::parse_config(json, config);
        config.family[siglip_detail::uses_head] = 0;
    };
    return spec;
}(siglip_vision_model);

}  // namespace modernvbert_detail

// transformers/models/modernvbert: SigLIP before ModernBERT, squares of patches
inline constexpr model_spec modernvbert = [](model_spec spec) {
    spec.model_type = "modernvbert";
    spec.class_prefix = "ModernVBert";
    spec.forward = modernvbert_detail::forward;
    spec.base_model = modernvbert_detail::base;
    spec.parse_composite_config = modernvbert_detail::parse_config;
    spec.family_keys = modernvbert_detail::family_keys;
    spec.supported_heads = {head_kind::none, head_kind::masked_lm, head_kind::sequence_classification,
                            head_kind::token_classification};
    spec.defaults.head = head_kind::masked_lm;
    spec.text_model = {.key = "text_config", .default_spec = &modernbert};
    spec.components[0] = {.key = "vision_config", .default_spec = &siglip_vision_model};
    return spec;
}(shared_composite);

// transformers/models/ultravbert: the same over UltraBERT, with a norm of what the connector gives
inline constexpr model_spec ultravbert = [](model_spec spec) {
    spec.model_type = "ultravbert";
    spec.class_prefix = "UltraVBert";
    spec.forward = modernvbert_detail::forward_normed_model;
    spec.parse_composite_config = modernvbert_detail::parse_normed;
    spec.text_model.default_spec = &ultrabert;
    spec.components[0].spec_if_absent = &modernvbert_detail::siglip_without_pool;
    return spec;
}(modernvbert);

}  // namespace llmcost::arch
