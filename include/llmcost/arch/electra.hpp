// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bert.hpp>

namespace llmcost::arch {

namespace electra_detail {

enum own : std::uint8_t { summary };
inline constexpr own_key keys[]{{.value = own_value::computed}};  // `summary_form`

/// Whether each token was replaced.
constexpr value discriminate(const site& here, trace& t, const value& x) {
    const module_info predictions{
        .name = "discriminator_predictions", .type = here.type("DiscriminatorPredictions"), .what = role::head};
    t.enter(predictions);
    const linear dense{here.dims.hidden_size, here.dims.hidden_size, true};
    const value h = t.call("activation", activation_module{here.dims.hidden_act}, t.call("dense", dense, x));
    const value scores = t.call("dense_prediction", linear{here.dims.hidden_size, 1, true}, h);
    return t.leave(predictions, scores.squeeze(-1));
}

constexpr value score(const site& here, trace& t, const two_values& out) {
    switch (here.dims.head) {
        case head_kind::sequence_classification:
            return classify_first_state(here, t, out.first, activation::gelu, "activation");
        case head_kind::multiple_choice: return choose_by_summary(here, t, out.first, here.dims.own[summary]);
        case head_kind::pretraining: return discriminate(here, t, kept_positions(t, out.first));
        default: return score_states(here, t, out, generate_and_score);
    }
}
constexpr value describe(const site& here, trace& t) { return describe_encoder(here, t, {.score = score}); }

constexpr void read(config_view config, sizes& s) {
    read_encoder_decoding(config, s);
    s.embedding_size = config.positive("embedding_size", s.embedding_size);
    s.own[summary] = read_summary(
        config,
        {.kind = summary_kind::first, .projects = true, .drops_last = true, .activates = true, .act = activation::gelu});
    check_summary(config, s, s.own[summary]);
}

}  // namespace electra_detail

// transformers/models/electra: BERT with narrow embeddings, no pooler, heads of its own
inline constexpr architecture electra = [](architecture a) {
    a.model_type = "electra", a.prefix = "Electra", a.describe = electra_detail::describe, a.read = electra_detail::read;
    a.own = electra_detail::keys, a.embed = embed_and_project;
    a.heads = {head_kind::none,
               head_kind::causal_lm,
               head_kind::masked_lm,
               head_kind::pretraining,
               head_kind::sequence_classification,
               head_kind::token_classification,
               head_kind::question_answering,
               head_kind::multiple_choice};
    a.names.base = "electra", a.names.causal_lm_type = "ForCausalLM";
    a.defaults.hidden_size = 256, a.defaults.intermediate_size = 1024, a.defaults.num_attention_heads = 4;
    a.defaults.embedding_size = 128;
    return a;
}(bert);

}  // namespace llmcost::arch
