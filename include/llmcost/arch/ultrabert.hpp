// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/reading/encoder.hpp>
#include <llmcost/walks/encoder_model.hpp>

namespace llmcost::arch {

namespace ultrabert_detail {

enum own : std::uint8_t { head_width, pools_mean };
inline constexpr own_key keys[]{
    {"prediction_head_size", 768}, {.value = own_value::computed},  // `classifier_pooling`
};

constexpr decoder_context prepare(const site& here, trace& t) { return all_or_around(here, t, here.dims.sliding_window); }

/// Two projections through a width of their own, then words, in one module, and a module that hands them on.
constexpr value score_words(const site& here, trace& t, const value& x) {
    const module_info head{.name = "head", .type = here.type("PredictionHead"), .what = role::head};
    const std::int64_t width = here.dims.hidden_size, inner = here.dims.own[head_width];
    const activation_module act{activation::gelu_pytorch_tanh};
    t.enter(head);
    value h = t.call("act_fn", act, t.call("linear1", linear{width, inner}, x));
    h = t.call("act_fn", act, t.call("linear2", linear{inner, width}, h));
    h = t.leave(head, t.call("decoder", linear{width, here.dims.vocab_size, false, here.dims.tie_word_embeddings}, h));
    return t.call("decoder", identity{"Identity"}, h);
}

/// The first state of a text, or the mean of all by a mask of ones.
constexpr value pool(const site& here, trace& t, const value& x) {
    if (here.dims.own[pools_mean] == 0) return t.select(x, 1);
    return t.div(t.sum(t.mul(x, dense({x.dim(0), x.dim(1), 1}, x.type)), 1), dense({x.dim(0), 1}, x.type));
}

constexpr value score(const site& here, trace& t, const two_values& out) {
    if (here.dims.head == head_kind::question_answering) return answer_scores(t, out.first);
    if (here.dims.head == head_kind::masked_lm) return score_words(here, t, kept_positions(t, out.first));
    const bool sequences = here.dims.head == head_kind::sequence_classification;
    const value x = t.call("head", identity{"Identity"}, sequences ? pool(here, t, out.first) : out.first);
    return t.call("classifier", head_linear{{here.dims.hidden_size, here.dims.num_labels, true}}, dropout(t, "drop", x));
}
constexpr value describe(const site& here, trace& t) { return describe_encoder(here, t, {.score = score}); }

/// Older files list the window of each layer; without a list every third layer sees all.
constexpr void plan(config_view config, sizes& s) {
    const auto windows = config.optional_array("attention_windows");
    const auto window_of = [&](std::int64_t i) { return (*windows)[static_cast<std::uint32_t>(i)].as_non_negative(); };
    if (windows)
        for (std::int64_t i = static_cast<std::int64_t>(windows->size()) - 1; i >= 0; --i)
            if (window_of(i) > 0) s.sliding_window = window_of(i);
    if (read_layer_types(config, s)) return;
    if (windows && static_cast<std::int64_t>(windows->size()) != s.num_hidden_layers)
        fail_value(config, "attention_windows", "a list with one window per hidden layer");
    plan_layers(config, s, [&](std::int64_t i) {
        const bool slides = windows ? window_of(i) > 0 : (i + 1) % 3 != 0;
        return layer_kind{slides ? mixer_kind::sliding_attention : mixer_kind::full_attention};
    });
}

constexpr void read(config_view config, sizes& s) {
    plan(config, s);
    if (s.head == head_kind::question_answering && s.num_labels != 2)
        fail_value(config, config.contains("num_labels") ? "num_labels" : "id2label",
                   "two labels under a question-answering head");
    if (s.hidden_size % s.num_attention_heads != 0) fail_value(config, "num_attention_heads", "a divisor of hidden_size");
    const string_ref pooling = config.string("classifier_pooling", "cls");
    s.own[pools_mean] = pooling == "mean";
    if (pooling != "mean" && pooling != "cls") fail_value(config, "classifier_pooling", "\"cls\" or \"mean\"");
}

}  // namespace ultrabert_detail

// transformers/models/ultrabert: Llama that looks ahead, some layers through windows around each token
inline constexpr architecture ultrabert = [](architecture a) {
    a.model_type = "ultrabert", a.prefix = "Ultrabert", a.describe = ultrabert_detail::describe;
    a.read = ultrabert_detail::read, a.own = ultrabert_detail::keys, a.prepare = ultrabert_detail::prepare;
    a.attend = attend_around, a.rotary_per_mixer = true;
    a.heads = {head_kind::none, head_kind::masked_lm, head_kind::sequence_classification, head_kind::token_classification,
               head_kind::question_answering};
    a.defaults.max_position_embeddings = 32768, a.defaults.sliding_window = 128, a.defaults.head = head_kind::masked_lm;
    return a;
}(llama);

}  // namespace llmcost::arch
