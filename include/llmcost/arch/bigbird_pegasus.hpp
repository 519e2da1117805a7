// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bart.hpp>
#include <llmcost/config/block_sparse_attention.hpp>
#include <llmcost/forward/block_sparse_attention.hpp>

// BigBird-Pegasus. Derived from BART, with block-sparse attention in the encoder and pre-norm layers.
//
// Source: transformers/models/bigbird_pegasus: configuration_bigbird_pegasus.py, modeling_bigbird_pegasus.py

namespace llmcost::arch {

namespace bigbird_pegasus_detail {

enum family_config_index : std::uint8_t { block_size = stack_config::count, random_blocks, sparse };
inline constexpr family_key family_keys[]{{"decoder_layers", 16},
                                          {"decoder_attention_heads", 16},
                                          {"decoder_ffn_dim", 4096},
                                          {"encoder_ffn_dim", 4096},
                                          {"block_size", 64},
                                          {"num_random_blocks", 3, family_key_type::non_negative},
                                          {.default_value = 1, .type = family_key_type::computed}};

[[nodiscard]] constexpr sparse_blocks blocks_of(const layer_context& ctx) noexcept {
    return {ctx.config.family[block_size], ctx.config.family[random_blocks], true};
}
[[nodiscard]] constexpr bool is_sparse(const layer_context& ctx, std::int64_t length) noexcept {
    return ctx.config.family[sparse] != 0 && length > blocks_of(ctx).max_dense_length();
}

/// Encoder self-attention: block-sparse for long sequences, otherwise full.
///
/// The class name follows the configuration, although the first short sequence switches the model to full attention.
constexpr tensor attend_in_encoder(const layer_context& ctx, trace& t, const stack_sizes& s, const tensor& x,
                                   const tensor*, const attention_pattern& pattern, const tensor*) {
    const bool bias = ctx.config.attention_bias;
    const module_info self{
        .name = "self",
        .class_of_module = ctx.class_of(ctx.config.family[sparse] != 0 ? "BlockSparseAttention" : "SelfAttention")};
    t.enter(self);
    tensor q, k, v;
    project_to_heads(t, x, s.width, s.heads, {}, q, k, v, bias);
    const attention_inputs& inputs = *ctx.inputs;
    const tensor found =
        is_sparse(ctx, x.dim(1))
            ? block_sparse_attention(t, q, k, v, blocks_of(ctx), inputs.family_tensors[0], inputs.family_tensors[1])
            : divided_score_attention(t, q, k, v, {.pattern = pattern});
    t.leave(self);
    return t.call("output", linear{s.width, s.width, bias}, found);
}

/// Prepares encoder masks. A mask of ones is converted to integers; full attention skips it, because it masks nothing.
constexpr void prepare_inputs(const layer_context& ctx, trace& t, bool decodes, attention_inputs& inputs) {
    if (decodes) return;
    const std::int64_t length = encoder_length(t.load()), batch = t.load().batch;
    const sparse_blocks blocks = blocks_of(ctx);
    if (ctx.config.family[sparse] != 0) t.add_region_edge(workload_axis::sequence, blocks.max_dense_length() + 1);
    (void)t.full({batch, length});
    if (!is_sparse(ctx, length)) return;
    if (blocks.random == 0 && !t.is_not_executed()) throw_position_error(blocks.max_dense_length(), length);
    t.set_chunk_size(blocks.size);
    inputs.family_tensors[0] = trace::buffer({batch, blocks.padded(length)});
    inputs.family_tensors[1] = block_band_mask(t, blocks, inputs.family_tensors[0]);
}

/// Pads the encoder states to complete blocks, without positions.
constexpr tensor lengthen(const layer_context& ctx, trace& t, const tensor& x);

inline constexpr stack_style style{.norm_first = true,
                                   .norm_embedding = "",
                                   .norm_last = "layernorm_embedding",
                                   .encoder_attention = "EncoderAttention",
                                   .decoder_attention = "DecoderAttention",
                                   .positions = learned_positions,
                                   .prepare = prepare_inputs,
                                   .lengthen = lengthen,
                                   .attend_in_encoder = attend_in_encoder};

constexpr tensor lengthen(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t padding_length = blocks_of(ctx).padded(x.dim(1)) - x.dim(1);
    if (padding_length == 0 || !is_sparse(ctx, x.dim(1))) return x;
    const recorder::shared_parameters_guard shared_parameters{t};
    return t.cat({x, embed_stack_tokens(ctx, t, style, ctx.config.vocab_size, padding_length,
                                        has_shared_embeddings(ctx, style))},
                 -2);
}

}  // namespace bigbird_pegasus_detail

/// Traces BigBird-Pegasus: pre-norm layers, full attention for short sequences and block-sparse attention for long
/// ones.
///
/// Source: transformers/models/bigbird_pegasus/modeling_bigbird_pegasus.py.
constexpr tensor forward_bigbird_pegasus(const layer_context& ctx, trace& t) {
    return forward_sequence_model(ctx, t, bigbird_pegasus_detail::style);
}

constexpr void parse_bigbird_pegasus(config_view json, model_config& config) {
    parse_stacks(json, config);
    config.attention_bias = json.boolean("use_bias", false);
    if (config.head == head_kind::causal_lm) config.tie_word_embeddings = false;  // the class declares no tied weights
    using namespace bigbird_pegasus_detail;
    config.family[sparse] = parse_sparse_blocks(json, config.family[block_size], config.family[random_blocks]);
}

inline constexpr model_spec bigbird_pegasus = [](model_spec spec) {
    spec.model_type = "bigbird_pegasus";
    spec.has_eager_attention_only = true;
    spec.class_prefix = "BigBirdPegasus";
    spec.forward = forward_bigbird_pegasus;
    spec.parse_config = parse_bigbird_pegasus;
    spec.family_keys = bigbird_pegasus_detail::family_keys;
    spec.defaults.vocab_size = 96103;
    spec.defaults.num_hidden_layers = 16;
    spec.defaults.max_position_embeddings = 4096;
    spec.defaults.num_labels = 2;
    spec.defaults.hidden_act = activation::gelu_new;
    return spec;
}(bart);

}  // namespace llmcost::arch
