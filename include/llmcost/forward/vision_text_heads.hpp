// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/config/encoder.hpp>
#include <llmcost/config/image.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/encoder_model.hpp>
#include <llmcost/forward/prediction_head.hpp>
#include <llmcost/forward/siglip_heads.hpp>

// ModernVBERT: prediction heads over the states of a text with images (arXiv 2510.01149).
namespace llmcost::vision_text_heads {

enum family_config_index : std::uint8_t { shuffle_factor, pools_mean, norms_images };

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
    const tensor states = config.head == head_kind::sequence_classification
                              ? modernbert_heads::pool(t, x, ctx.model.family[pools_mean] != 0)
                              : x;
    const tensor h = dropout(t, "drop", before_labels(ctx, t, "head", states));
    return t.leave(
        model_info,
        t.select_model_output(x, t.call("classifier", head_linear{{config.hidden_size, config.num_labels, true}}, h)));
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

}  // namespace llmcost::vision_text_heads
