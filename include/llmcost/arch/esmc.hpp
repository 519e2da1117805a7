// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/reading/encoder.hpp>
#include <llmcost/walks/encoder_model.hpp>

namespace llmcost::arch {

namespace esmc_detail {

/// `nn.LayerNorm` under a name of its own.
constexpr value call_norm(const site& here, trace& t, literal name, const value& x, bool bias) {
    return t.call(name, any_norm{norm_kind::layer, x.dim(-1), here.type("LayerNorm"), true, bias}, x);
}

/// Queries and keys are normed whole, without a bias.
constexpr value attend(const site& here, trace& t, const value& x) {
    const std::int64_t width = here.dims.hidden_size;
    qkv of;
    of.q = call_norm(here, t, "q_norm", project(here, t, "q_proj", width, x), false);
    of.k = call_norm(here, t, "k_norm", project(here, t, "k_proj", width, x), false);
    of.v = project(here, t, "v_proj", width, x);
    return join(here, t, attend_around(here, t, of, false));
}

/// Each block's output is divided by a constant.
constexpr value layer(const site& here, trace& t, const value& x) {
    value h = mix_by_attention(here, t, call_norm(here, t, "input_layernorm", x, true));
    const value middle = t.add(x, t.div(h));
    h = here.row.feed(here, t, call_norm(here, t, "post_attention_layernorm", middle, true));
    return t.add(middle, t.div(h));
}

constexpr value base(const site& here, trace& t) {
    const value x = here.row.embed(here, t);
    const decoder_context shared = here.row.prepare(here, t);
    return call_norm(here, t, "norm", describe_layers(here, t, shared, x), false);
}

constexpr value score(const site& here, trace& t, const two_values& out) {
    const sizes& dims = here.dims;
    const std::int64_t width = dims.hidden_size;
    if (dims.head == head_kind::sequence_classification) return classify_first_state(here, t, out.first);
    if (dims.head == head_kind::token_classification)
        return t.call("score", head_linear{{width, dims.num_labels, true}}, dropout(t, "dropout", out.first));
    const module_info lm_head{.name = "lm_head", .type = here.type("MaskedLMHead"), .what = role::head};
    t.enter(lm_head);
    value h = t.call("dense", linear{width, width, true}, kept_positions(t, out.first));
    h = t.call("layer_norm", norm<norm_kind::layer>{width}, activate(t, activation::gelu, h));
    return t.leave(lm_head, t.call("decoder", linear{width, dims.vocab_size, true}, h));
}
constexpr value describe(const site& here, trace& t) { return describe_encoder(here, t, {.score = score}); }

constexpr void read(config_view config, sizes& s) {
    if (s.num_key_value_heads != s.num_attention_heads) fail_value(config, "num_key_value_heads", "num_attention_heads");
    if (s.hidden_size % s.num_attention_heads != 0) fail_value(config, "num_attention_heads", "a divisor of hidden_size");
    if (s.head_dim * s.num_attention_heads != s.hidden_size)
        fail_value(config, "head_dim", "hidden_size / num_attention_heads");
    s.sliding_window = 0;
    s.tie_word_embeddings = false;  // modeling_esmc.py names no tied weights
}

}  // namespace esmc_detail

// transformers/models/esmc: Llama that looks ahead, with layer norms, also of queries and keys, and divided residuals
inline constexpr architecture esmc = [](architecture a) {
    a.model_type = "esmc", a.prefix = "Esmc", a.describe = esmc_detail::describe, a.read = esmc_detail::read;
    a.base = esmc_detail::base, a.prepare = all_with_tables, a.layer = esmc_detail::layer, a.attend = esmc_detail::attend;
    a.heads = {head_kind::none, head_kind::masked_lm, head_kind::sequence_classification, head_kind::token_classification};
    a.names.base = "esmc", a.names.layer_type = "Layer";
    a.defaults.vocab_size = 64, a.defaults.hidden_size = 2560, a.defaults.intermediate_size = 6912;
    a.defaults.num_hidden_layers = 80, a.defaults.num_attention_heads = 40, a.defaults.head = head_kind::masked_lm;
    return a;
}(llama);

}  // namespace llmcost::arch
