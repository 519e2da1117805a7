// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bert.hpp>

// ELECTRA. Derived from BERT, with these differences:
//  - embeddings that can be narrower than the hidden states;
//  - no pooler, and other heads.
//
// Source: transformers/models/electra

namespace llmcost::arch {

namespace electra_detail {

enum family_config_index : std::uint8_t { summary };
inline constexpr family_key family_keys[]{{.type = family_key_type::computed}};  // `summary_form`

/// Discriminator logits: one per token, for replaced-token detection.
constexpr tensor discriminate(const layer_context& ctx, trace& t, const tensor& x) {
    const module_info predictions{.name = "discriminator_predictions",
                                  .class_of_module = ctx.class_of("DiscriminatorPredictions"),
                                  .module_role = role::head};
    t.enter(predictions);
    const linear dense{ctx.config.hidden_size, ctx.config.hidden_size, true};
    const tensor h = t.call("activation", activation_module{ctx.config.hidden_act}, t.call("dense", dense, x));
    const tensor scores = t.call("dense_prediction", linear{ctx.config.hidden_size, 1, true}, h);
    return t.leave(predictions, scores.squeeze(-1));
}

constexpr tensor score(const layer_context& ctx, trace& t, const tensor_pair& out) {
    switch (ctx.config.head) {
        case head_kind::sequence_classification:
            return classify_first_state(ctx, t, out.first, activation::gelu, "activation");
        case head_kind::multiple_choice: return choose_by_summary(ctx, t, out.first, ctx.config.family[summary]);
        case head_kind::pretraining: return discriminate(ctx, t, logits_to_keep(t, out.first));
        default: return forward_encoder_head(ctx, t, out, generate_and_score);
    }
}
constexpr tensor forward(const layer_context& ctx, trace& t) { return forward_encoder_model(ctx, t, {.score = score}); }

constexpr void parse_config(config_view json, model_config& config) {
    parse_decoding_encoder(json, config);
    config.embedding_size = json.positive("embedding_size", config.embedding_size);
    config.family[summary] = parse_sequence_summary(json, {.kind = summary_kind::first,
                                                           .projects = true,
                                                           .drops_last = true,
                                                           .activates = true,
                                                           .act = activation::gelu});
    validate_sequence_summary(json, config, config.family[summary]);
}

}  // namespace electra_detail

inline constexpr model_spec electra = [](model_spec spec) {
    spec.model_type = "electra";
    spec.class_prefix = "Electra";
    spec.forward = electra_detail::forward;
    spec.parse_config = electra_detail::parse_config;
    spec.family_keys = electra_detail::family_keys;
    spec.embed_tokens = embed_and_project;
    spec.supported_heads = {head_kind::none,
                            head_kind::causal_lm,
                            head_kind::masked_lm,
                            head_kind::pretraining,
                            head_kind::sequence_classification,
                            head_kind::token_classification,
                            head_kind::question_answering,
                            head_kind::multiple_choice};
    spec.names.base_model = "electra";
    spec.names.causal_lm_class = "ForCausalLM";
    spec.defaults.hidden_size = 256;
    spec.defaults.intermediate_size = 1024;
    spec.defaults.num_attention_heads = 4;
    spec.defaults.embedding_size = 128;
    return spec;
}(bert);

}  // namespace llmcost::arch
