// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/reader.hpp>
#include <llmcost/forward/encoder_decoder.hpp>
#include <llmcost/forward/t5_stacks.hpp>
#include <llmcost/layers/heads.hpp>

namespace llmcost::arch {

namespace t5_detail {

inline constexpr dropout_key dropout_rates[]{{dropout_position::hidden, "dropout_rate", 0.1},
                                             {dropout_position::attention, "dropout_rate", 0.1},
                                             {dropout_position::classifier, "classifier_dropout"}};

/// The part of a model before its head: both stacks in place, or a model of its own under `transformer`.
constexpr tensor forward_stacks(const layer_context& ctx, trace& t) {
    const module_info encoder{.name = "transformer", .class_of_module = ctx.class_of("EncoderModel")};
    const module_info model_info{.name = "transformer", .class_of_module = ctx.class_of("Model")};
    switch (ctx.config.head) {
        case head_kind::encoder: return t5_stacks::forward_encoder_only(ctx, t);
        case head_kind::token_classification:
            return forward_in_module(encoder, t5_stacks::forward_encoder_only, ctx, t);
        case head_kind::sequence_classification:
            return forward_in_module(model_info, t5_stacks::forward_seq2seq, ctx, t);
        default: return t5_stacks::forward_seq2seq(ctx, t);
    }
}

constexpr tensor forward_model(const layer_context& ctx, trace& t) {
    const tensor x = forward_stacks(ctx, t);
    return t.select_model_output(x, t5_stacks::compute_logits(ctx, t, x));
}

}  // namespace t5_detail

/// An encoder-decoder with relative positions and pre-norms, bare or under its head, or its encoder by itself.
///
/// Source: transformers/models/t5/modeling_t5.py.
constexpr tensor forward_t5(const layer_context& ctx, trace& t) {
    return forward_in_module({.class_of_module = {ctx.spec.class_prefix, name_of(ctx.config.head)}},
                             t5_detail::forward_model, ctx, t);
}

/// Both stacks and their feed-forward blocks, with these defaults.
constexpr void parse_t5_stacks(config_view json, model_config& config, std::int64_t layers, string_ref projection) {
    reject_sliding_window(json);
    config.encoder.num_hidden_layers = config.num_hidden_layers;
    config.num_hidden_layers = json.non_negative("num_decoder_layers", json.non_negative("num_layers", layers));
    if (config.num_hidden_layers == 0 && config.head != head_kind::encoder &&
        config.head != head_kind::token_classification)
        throw_invalid_value(json, json.contains("num_decoder_layers") ? "num_decoder_layers" : "num_layers",
                            "a decoder with layers");
    if (config.head == head_kind::question_answering && config.num_labels != 2)
        throw_invalid_value(json, json.contains("num_labels") ? "num_labels" : "id2label",
                            "two labels under a question-answering head");
    string_ref kind = json.string("feed_forward_proj", projection);
    bool gated = kind.starts_with("gated-");
    if (gated) kind.remove_prefix(6);
    if (gated && kind == "gelu") kind = "gelu_new";
    gated = json.boolean("is_gated_act", gated);  // a value in a saved configuration takes precedence
    config.family[t5_stacks::gated] = gated;
    kind = json.string("dense_act_fn", kind);
    config.hidden_act = activation_named(json, "feed_forward_proj", kind);
}

/// Parses `config.json` of T5, whose class always ties its embeddings. The key controls the output scaling
/// (configuration_t5.py, `__post_init__`). Checkpoints of version 1.1 with the key have a separate head.
constexpr void parse_t5(config_view json, model_config& config) {
    parse_t5_stacks(json, config, 6, "relu");
    config.family[t5_stacks::scales_output] =
        json.boolean("scale_decoder_outputs", json.boolean("tie_word_embeddings", true));
}

// transformers/models/t5: configuration_t5.py, modeling_t5.py
inline constexpr model_spec t5{
    .model_type = "t5",
    .class_prefix = "T5",
    .forward = forward_t5,
    .parse_config = parse_t5,
    .family_keys = t5_stacks::family_keys,
    .dropout_keys = t5_detail::dropout_rates,
    .rotary = rotary_style::none,
    .supported_heads = {head_kind::none, head_kind::conditional_generation, head_kind::encoder,
                        head_kind::sequence_classification, head_kind::token_classification,
                        head_kind::question_answering},
    .published_head = published_head_kind::untied_by_key,
    .config_keys = {{"hidden_size", "d_model", key_rule::standard_name_first},
                    {"num_attention_heads", "num_heads", key_rule::standard_name_first},
                    {"num_hidden_layers", "num_layers", key_rule::standard_name_first},
                    {"head_dim", "d_kv", key_rule::standard_name_first},
                    {"intermediate_size", "d_ff", key_rule::family_name_only},
                    {"tie_word_embeddings", "", key_rule::absent},  // the class overrides it
                    absent_num_key_value_heads},
    .defaults = {.vocab_size = 32128,
                 .hidden_size = 512,
                 .intermediate_size = 2048,
                 .num_hidden_layers = 6,
                 .num_attention_heads = 8,
                 .head_dim = 64,
                 .head = head_kind::conditional_generation,
                 .tie_word_embeddings = true},
};

}  // namespace llmcost::arch
