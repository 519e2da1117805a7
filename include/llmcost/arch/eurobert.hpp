// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/reading/encoder.hpp>
#include <llmcost/walks/encoder_model.hpp>

namespace llmcost::arch {

namespace eurobert_detail {

enum class pooling : std::uint8_t { first, mean, late };
enum own : std::uint8_t { pooled_by };
inline constexpr own_key keys[]{{.value = own_value::computed}};  // `pooling`

/// `nn.GELU`, the class of PyTorch.
struct gelu_module {
    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return {"", "GELU"}; }
    constexpr value describe(trace& t, const value& x) const { return t.unary(op::gelu, x); }
};

/// Labels of a sequence from its first state or the mean of all; or the mean of every token's.
constexpr value classify_sequence(const site& here, trace& t, const value& x) {
    const auto how = static_cast<pooling>(here.dims.own[pooled_by]);
    const std::int64_t width = here.dims.hidden_size;
    const value pooled = how == pooling::first ? t.select(x, 1) : how == pooling::mean ? t.mean(x, 1) : x;
    const value h = t.call("activation", gelu_module{}, t.call("dense", linear{width, width, true}, pooled));
    const value labels = t.call("classifier", head_linear{{width, here.dims.num_labels, true}}, h);
    return how == pooling::late ? t.mean(labels, 1) : labels;
}

constexpr value score(const site& here, trace& t, const two_values& out) {
    const sizes& dims = here.dims;
    if (dims.head == head_kind::sequence_classification) return classify_sequence(here, t, out.first);
    if (dims.head == head_kind::token_classification)
        return t.call("classifier", head_linear{{dims.hidden_size, dims.num_labels, true}}, out.first);
    const linear words{dims.hidden_size, dims.vocab_size, dims.mlp_bias, dims.tie_word_embeddings};
    return t.call("lm_head", head_linear{words}, kept_positions(t, out.first));
}
constexpr value describe(const site& here, trace& t) { return describe_encoder(here, t, {.score = score}); }

constexpr void read(config_view config, sizes& s) {
    s.sliding_window = 0;
    const string_ref how = config.string("classifier_pooling", "late");
    const bool first = how == "bos", mean = how == "mean";
    s.own[pooled_by] = static_cast<std::int64_t>(first ? pooling::first : mean ? pooling::mean : pooling::late);
    if (!first && !mean && how != "late") fail_value(config, "classifier_pooling", "\"bos\", \"mean\" or \"late\"");
}

}  // namespace eurobert_detail

// transformers/models/eurobert: Llama that looks ahead, without a cache
inline constexpr architecture eurobert = [](architecture a) {
    a.model_type = "eurobert", a.prefix = "EuroBert", a.describe = eurobert_detail::describe, a.read = eurobert_detail::read;
    a.own = eurobert_detail::keys, a.prepare = all_with_tables, a.attend = attend_around;
    a.heads = {head_kind::none, head_kind::masked_lm, head_kind::sequence_classification, head_kind::token_classification};
    a.defaults.vocab_size = 128256, a.defaults.hidden_size = 768, a.defaults.intermediate_size = 3072;
    a.defaults.num_hidden_layers = a.defaults.num_attention_heads = 12, a.defaults.max_position_embeddings = 8192;
    a.defaults.head = head_kind::masked_lm;
    return a;
}(llama);

}  // namespace llmcost::arch
