// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bert.hpp>
#include <llmcost/config/block_sparse_attention.hpp>
#include <llmcost/forward/block_sparse_attention.hpp>

// BigBird. Derived from BERT, with block-sparse attention for long sequences.
//
// Source: transformers/models/big_bird

namespace llmcost::arch {

namespace big_bird_detail {

enum family_config_index : std::uint8_t { block_size, random_blocks, rescale_embeddings, sparse };
inline constexpr family_key family_keys[]{{"block_size", 64},
                                          {"num_random_blocks", 3, family_key_type::non_negative},
                                          {"rescale_embeddings", 0, family_key_type::boolean},
                                          {.default_value = 1, .type = family_key_type::computed}};

[[nodiscard]] constexpr sparse_blocks blocks_of(const layer_context& ctx) noexcept {
    return {ctx.config.family[block_size], ctx.config.family[random_blocks]};
}
/// Returns true if a sequence of this length uses block-sparse attention.
[[nodiscard]] constexpr bool is_sparse(const layer_context& ctx, std::int64_t sequence) noexcept {
    return ctx.config.family[sparse] != 0 && sequence > blocks_of(ctx).max_dense_length();
}

/// Sums word, segment and position embeddings; applies dropout, then the norm.
constexpr tensor sum_embeddings(const layer_context& ctx, trace& t) {
    tensor x = word_embeddings(ctx, t);
    if (ctx.config.family[rescale_embeddings] != 0) x = t.mul_scalar(x);
    x = t.add(x, segment_embeddings(ctx, t));
    t.add_(x, position_embeddings(ctx, t));
    return t.call("LayerNorm", norm_module{norm_kind::layer, ctx.config.hidden_size}, dropout(t, "dropout", x));
}

/// Embeds tokens. Block-sparse attention pads the sequence to complete blocks.
///
/// Throws: a position error for block-sparse attention with a KV cache, or without random blocks.
constexpr tensor embed(const layer_context& ctx, trace& t) {
    register_position_buffers(ctx, t);
    workload load = t.load();
    const sparse_blocks blocks = blocks_of(ctx);
    if (ctx.config.family[sparse] != 0) t.add_region_edge(workload_axis::sequence, blocks.max_dense_length() + 1);
    if (!is_sparse(ctx, load.sequence)) return embed_in_module(ctx, t, sum_embeddings);
    t.set_chunk_size(blocks.size);
    t.check_positions(ctx.config.max_position_embeddings / blocks.size * blocks.size, load.sequence);
    if ((blocks.random == 0 || load.past > 0) && !t.is_not_executed())
        throw_position_error(blocks.max_dense_length(), load.past + load.sequence);
    load.sequence = blocks.padded(load.sequence);
    const recorder::workload_guard padded_workload{t, load};
    return embed_in_module(ctx, t, sum_embeddings);
}

/// Prepares masks: a padding mask and the mask of neighbouring blocks, or the masks of dense attention.
constexpr decoder_inputs prepare_inputs(const layer_context& ctx, trace& t) {
    const std::int64_t sequence = t.load().sequence, batch = t.load().batch;
    tensor text = t.full({batch, t.load().past + sequence});
    if (!is_sparse(ctx, sequence)) return causal_or_bidirectional(ctx, t);
    const sparse_blocks blocks = blocks_of(ctx);
    if (const std::int64_t padding_length = blocks.padded(sequence) - sequence; padding_length > 0)
        text = t.pad(text, 1, padding_length);
    decoder_inputs c;
    c.full.pattern = full_pattern(blocks.padded(sequence)).pattern;
    c.full.family_tensors[0] = text;
    c.full.family_tensors[1] = block_band_mask(t, blocks, text);
    return c;
}

constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    tensor q, k, v;
    project_to_heads(t, x, ctx.config.hidden_size, ctx.config.num_attention_heads, {}, q, k, v,
                     ctx.config.attention_bias);
    if (is_sparse(ctx, x.dim(1))) {
        if (bert_layers::bidirectional_pattern_of(ctx).pattern.is_causal) t.add_empty_cache_entry();
        return block_sparse_attention(t, q, k, v, blocks_of(ctx), ctx.inputs->family_tensors[0],
                                      ctx.inputs->family_tensors[1]);
    }
    const bidirectional_pattern reach = bert_layers::bidirectional_pattern_of(ctx);
    if (reach.pattern.is_causal) {
        k = update_kv_cache(t, k, reach.pattern);
        v = update_kv_cache(t, v, reach.pattern);
    }
    return divided_score_attention(t, q, k, v, reach);
}

/// Encoder or decoder layer.
///
/// The class name follows the configuration, although short sequences use full attention.
constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const literal inner = ctx.config.family[sparse] != 0 ? "BlockSparseAttention" : "SelfAttention";
    const tensor a = t.call("attention", bert_layers::attention_block{ctx, {}, inner}, x);
    declare_bert_cross_attention(ctx, t, a, {}, "SelfAttention");
    return bert_mlp(ctx, t, a);
}

/// Pooler: a dense layer and its activation, both direct children of the model. Sequence classification does not read
/// it.
constexpr tensor pool(const layer_context& ctx, trace& t, const tensor& x) {
    const recorder::detach_guard unread{t, ctx.config.head == head_kind::sequence_classification};
    const std::int64_t width = ctx.config.hidden_size;
    const tensor first = t.call("pooler", linear{width, width, true}, t.select(x, 1));
    return t.call("activation", activation_module{activation::tanh}, first);
}

/// Removes the padding to complete blocks. Multiple choice does not read these states.
constexpr tensor cut_off_padding(const layer_context& ctx, trace& t, const tensor& x) {
    const recorder::detach_guard unread{t, ctx.config.head == head_kind::multiple_choice};
    return x.dim(1) == t.load().sequence ? x : t.slice(x, 1, t.load().sequence);
}

/// Answer-span logits after an MLP block. The mask excludes the question's tokens.
constexpr tensor answer(const layer_context& ctx, trace& t, const tensor& x) {
    const module_info head{.name = "qa_classifier",
                           .class_of_module = ctx.class_of("ForQuestionAnsweringHead"),
                           .module_role = role::head};
    t.enter(head);
    const tensor intermediate_states =
        t.call("intermediate", bert_layers::intermediate_block{ctx}, dropout(t, "dropout", x));
    const bert_layers::output_block output_dense{ctx.config.intermediate_size, ctx.config.hidden_size,
                                                 ctx.class_of("Output")};
    const tensor h = t.call("output", bert_layers::mlp_output{output_dense}, intermediate_states, x);
    const tensor scores = t.leave(head, t.call("qa_outputs", linear{ctx.config.hidden_size, 2, true}, h));
    const tensor question = t.mul_scalar(trace::buffer({x.dim(0), x.dim(1), 1}));
    return start_of_answers(t, t.sub(scores, question));
}

constexpr tensor score(const layer_context& ctx, trace& t, const tensor_pair& out) {
    switch (ctx.config.head) {
        case head_kind::question_answering: return answer(ctx, t, out.first);
        case head_kind::sequence_classification: return classify_first_state(ctx, t, out.first, ctx.config.hidden_act);
        case head_kind::multiple_choice:
            return t.call("classifier", head_linear{{ctx.config.hidden_size, 1, true}},
                          dropout(t, "dropout", out.second));
        default: return forward_encoder_head(ctx, t, out, score_in_cls);
    }
}

inline constexpr encoder_heads heads{
    .score = score,
    .pooled = {head_kind::none, head_kind::causal_lm, head_kind::masked_lm, head_kind::pretraining,
               head_kind::sequence_classification, head_kind::token_classification, head_kind::multiple_choice},
    .pool = pool,
    .last = cut_off_padding,
};
constexpr tensor forward(const layer_context& ctx, trace& t) { return forward_encoder_model(ctx, t, heads); }

/// Parses `config.json`. A decoder with cross-attention is never sparse (`BigBirdModel.__init__`).
constexpr void parse_config(config_view json, model_config& config) {
    if (config.head == head_kind::question_answering) config.num_labels = 2;  // `BigBirdForQuestionAnswering.__init__`
    parse_decoding_encoder(json, config);
    config.attention_bias = json.boolean("use_bias", true);
    config.family[sparse] = parse_sparse_blocks(json, config.family[block_size], config.family[random_blocks]) &&
                            !config.add_cross_attention;
}

}  // namespace big_bird_detail

inline constexpr model_spec big_bird = [](model_spec spec) {
    spec.dropout_keys = {};
    spec.model_type = "big_bird";
    spec.class_prefix = "BigBird";
    spec.forward = big_bird_detail::forward;
    spec.parse_config = big_bird_detail::parse_config;
    spec.family_keys = big_bird_detail::family_keys;
    spec.embed_tokens = big_bird_detail::embed;
    spec.prepare_inputs = big_bird_detail::prepare_inputs;
    spec.decoder_layer = big_bird_detail::decoder_layer;
    spec.attention = big_bird_detail::attention;
    spec.supported_heads = {head_kind::none,
                            head_kind::causal_lm,
                            head_kind::masked_lm,
                            head_kind::pretraining,
                            head_kind::sequence_classification,
                            head_kind::token_classification,
                            head_kind::question_answering,
                            head_kind::multiple_choice};
    spec.names.causal_lm_class = "ForCausalLM";
    spec.defaults.vocab_size = 50358;
    spec.defaults.max_position_embeddings = 4096;
    spec.defaults.hidden_act = activation::gelu_new;
    return spec;
}(bert);

}  // namespace llmcost::arch
