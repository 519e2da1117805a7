// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/t5.hpp>
#include <llmcost/forward/t5_stacks.hpp>
#include <llmcost/layers/einsum.hpp>

namespace llmcost::arch {

namespace longt5_detail {

enum family_config_index : std::uint8_t { block = 4, global_block, transient };  // after the keys of T5
inline constexpr family_key family_keys[]{
    t5_stacks::family_keys[0], t5_stacks::family_keys[1],           t5_stacks::family_keys[2],
    t5_stacks::family_keys[3], {.type = family_key_type::computed},   // local_radius and the place itself
    {"global_block_size", 16}, {.type = family_key_type::computed}};  // global tokens besides

/// Splits a sequence into blocks: (B, L, …) -> (B, blocks, length, …), padded to complete blocks
/// (`_split_into_blocks`).
constexpr tensor split_blocks(trace& t, const tensor& x, std::int64_t length) {
    const std::int64_t rest = x.dim(1) % length;
    const tensor padded = rest == 0 ? x : t.pad(x, 1, length - rest);
    const std::int64_t blocks = padded.dim(1) / length;
    if (x.rank == 2) return t.reshape(padded, {x.dim(0), blocks, length});
    return t.reshape(padded, {x.dim(0), blocks, length, x.dim(2), x.dim(3)});
}

/// Concatenates each block with the previous and the next one (`_concatenate_3_blocks`).
constexpr tensor with_neighbours(trace& t, const tensor& x) {
    const std::int64_t blocks = x.dim(1);
    const tensor padded = t.pad(x, 1, 2);
    const tensor first = t.slice(padded, 1, blocks), second = t.slice(padded, 1, blocks);
    return t.cat({first, second, t.slice(padded, 1, blocks)}, 2);
}

/// `torch.where(…, 0.0, -1e10)`: the two numbers are tensors, too.
constexpr tensor hidden_or_not(trace& t, const shape& sizes) {
    t.add_written_elements(2);
    return t.full(sizes);
}

/// Which block of global tokens each place belongs to (`_make_global_fixed_block_ids`), in floating point.
constexpr void number_blocks(trace& t, std::int64_t batch, std::int64_t length, std::int64_t globals) {
    const tensor mask = trace::buffer({batch, length});
    const tensor share = t.div_scalar(t.full({batch, length}));
    const tensor block_starts = t.sub(t.cumsum(share, 1), share);
    const tensor ids = t.floor(t.add_scalar(t.add(hidden_or_not(t, {batch, length}), block_starts)));
    t.add_written_elements(1);  // the lower bound
    const tensor masked_ids = t.mul(t.masked_fill(ids), mask);
    (void)t.add(masked_ids, t.add_scalar(mask));
    (void)t.add_scalar(t.full({batch, 1}));  // full blocks of each sequence
    const tensor numbers = t.masked_fill(ids);
    if (globals > 0) (void)t.copy(t.amax(numbers, -1).unsqueeze(0).expand({globals, batch}));
    const tensor counted = t.cumsum(t.full({batch, globals}), -1);
    (void)t.copy(t.add_scalar(counted));  // counted on the processor, then where the mask is
}

/// Builds the mask of positions that a block attends to, in every layer (`_get_local_attention_mask`).
constexpr tensor local_mask(trace& t, std::int64_t batch, std::int64_t length, std::int64_t block_length) {
    const tensor blocks = split_blocks(t, trace::buffer({batch, length}), block_length);
    (void)with_neighbours(t, blocks);
    return hidden_or_not(t, {batch, blocks.dim(1), 1, block_length, 3 * block_length});
}

/// Buckets of distances between places and global tokens, looked up in a table of their own (`compute_side_bias`).
constexpr tensor side_bias(const model_config& config, trace& t, std::int64_t batch, std::int64_t length,
                           std::int64_t globals) {
    const std::int64_t heads = config.num_attention_heads, block_length = config.family[block];
    const tensor mask = hidden_or_not(t, {batch, 1, length, globals});
    number_blocks(t, batch, length, globals);
    (void)t.mul_scalar(t.div_scalar(t.log(t.div_scalar(t.full({batch, length, globals})))));
    const bucket_table table{{config.family[t5_stacks::buckets], heads}};
    const tensor biases = t.call("global_relative_attention_bias", table, shape{batch, length, globals});
    tensor all = t.add(mask, biases.permute({0, 3, 1, 2}));
    if (const std::int64_t rest = length % block_length; rest != 0 && globals > 0)
        all = t.pad(all, 2, block_length - rest);
    const std::int64_t blocks = (length + block_length - 1) / block_length;
    if (globals == 0) return trace::buffer({batch, blocks, heads, block_length, 0});
    return t.reshape(all, {batch, heads, blocks, block_length, globals}).transpose(1, 2);
}

/// Attention of blocks over their neighbours and, where there are such, over sums of all blocks.
struct local_attention {
    const model_config& config;
    literal prefix;
    tensor& bias;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const {
        return {prefix, config.family[transient] ? "TransientGlobalAttention" : "LocalAttention"};
    }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t heads = config.num_attention_heads, d = config.head_dim, inner = heads * d;
        const std::int64_t batch = x.dim(0), length = x.dim(1), block_length = config.family[block];
        const bool global = config.family[transient] != 0;
        const std::int64_t globals = global ? length / config.family[global_block] : 0;
        const linear projection{config.hidden_size, inner};
        const auto shaped = [&](literal name, const tensor& input) {
            return t.call(name, projection, input).view({batch, input.dim(1), heads, d});
        };
        t.set_chunk_size(block_length);
        tensor sums;
        if (global) {
            t.set_chunk_size(config.family[global_block]);
            number_blocks(t, batch, length, globals);
            const tensor member = t.full({batch, length, globals}, x.type);
            sums =
                einsum(t, "bng,bnd->bgd", member, x);  // as torch does, which begins with the result's first dimension
            sums = t5_stacks::normed(t, "global_input_layer_norm", prefix, sums);
        }
        const tensor q = shaped("q", x);
        tensor k = shaped("k", x), v = shaped("v", x), side_k, side_v;
        if (global) {
            const recorder::shared_parameters_guard shared_parameters{t};
            side_k = shaped("k", sums);
            side_v = shaped("v", sums);
        }
        const tensor queries = split_blocks(t, q, block_length);
        k = split_blocks(t, k, block_length);
        v = split_blocks(t, v, block_length);
        k = with_neighbours(t, k);
        v = with_neighbours(t, v);
        const std::int64_t blocks = queries.dim(1);
        if (global) {
            const shape to{batch, blocks, globals, heads, d};
            side_k = t.copy(side_k.unsqueeze(1).expand(to));
            side_v = t.copy(side_v.unsqueeze(1).expand(to));
            k = t.cat({k, side_k}, 2);
            v = t.cat({v, side_v}, 2);
        }
        tensor scores = einsum(t, "bnqhd,bnkhd->bnhqk", queries, k);
        tensor mask;
        if (global) mask = local_mask(t, batch, length, block_length);
        if (bias.rank == 0) {
            bias =
                relative_bias(t, config.family[t5_stacks::buckets], heads, block_length, 3 * block_length).unsqueeze(0);
            if (!global) mask = hidden_or_not(t, {batch, blocks, 1, block_length, 3 * block_length});
            bias = t.add(bias, mask);
            if (global) bias = t.cat({bias, side_bias(config, t, batch, length, globals)}, -1);
        }
        t.add_(scores, bias);
        const tensor probabilities =
            functional_dropout(t, t.to(t.softmax(t.to(scores, dtype::float32)), x.type), dropout_position::attention);
        const tensor mixed = t.contiguous(einsum(t, "bnhqk,bnkhd->bnqhd", probabilities, v)).view({batch, -1, inner});
        return t.call("o", linear{inner, config.hidden_size}, t.slice(mixed, 1, length));
    }
};

struct attention_part {
    const model_config& config;
    literal prefix;
    tensor& bias;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const {
        return {prefix, config.family[transient] ? "LayerTransientGlobalSelfAttention" : "LayerLocalSelfAttention"};
    }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor h = t5_stacks::normed(t, "layer_norm", prefix, x);
        const literal name = config.family[transient] ? "TransientGlobalSelfAttention" : "LocalSelfAttention";
        return t.add(x, dropout(t, "dropout", t.call(name, local_attention{config, prefix, bias}, h)));
    }
};

struct block_of_encoder {
    const model_config& config;
    literal prefix;
    tensor& bias;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return {prefix, "Block"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor h = t.call({"layer", 0}, attention_part{config, prefix, bias}, x);
        return t.call({"layer", 1}, t5_stacks::layer_ff{config, prefix}, h);
    }
};

constexpr tensor encode(const layer_context& ctx, trace& t, std::int64_t length) {
    t5_stacks::declare_shared_embeddings(ctx.config, t);
    const std::int64_t batch = t.load().batch;
    const module_info encoder{
        .name = "encoder", .class_of_module = ctx.class_of("Stack"), .module_role = role::encoder};
    t.enter(encoder);
    const embedding token_embedding{ctx.config.vocab_size, ctx.config.hidden_size, false, {"", "Embedding"}, true};
    tensor x = t.call("embed_tokens", token_embedding, shape{batch, length});
    (void)t.full({batch, length});
    if (!ctx.config.family[transient]) {
        const tensor blocks = split_blocks(t, trace::buffer({batch, length}), ctx.config.family[block]);
        (void)with_neighbours(t, blocks);
    }
    x = dropout(t, "dropout", x);
    tensor bias;
    const block_of_encoder encoder_block{ctx.config, ctx.spec.class_prefix, bias};
    x = t.call({"block", 0}, encoder_block, x);
    for (loop other_loop = t.loop_modules(ctx.config.encoder.num_hidden_layers - 1, x, 1); other_loop.next();)
        x = t.call({"block", other_loop.index()}, encoder_block, x);
    return t.leave(encoder, dropout(t, "dropout", t5_stacks::normed(t, "final_layer_norm", ctx.spec.class_prefix, x)));
}

constexpr tensor forward_encoder_and_decoder(const layer_context& ctx, trace& t) {
    const workload& load = t.load();
    const std::int64_t length = encoder_length(load);
    t5_stacks::stack_values stack{.decodes = true};
    {
        const recorder::not_executed_guard done{t, is_encoder_cached(load)};
        stack.encoded = encode(ctx, t, length);
    }
    if (is_encoder_cached(load)) stack.encoded = t.input({load.batch, length, ctx.config.hidden_size});
    stack.pattern = attention_pattern_of(t, 0);
    stack.cross_pattern = {.query_length = length, .is_causal = false};
    const module_info decoder{
        .name = "decoder", .class_of_module = ctx.class_of("Stack"), .module_role = role::decoder};
    t.enter(decoder);
    (void)t.full({load.batch, stack.pattern.key_length()});
    return t.leave(decoder, t5_stacks::forward_stack(ctx, t, ctx.config.num_hidden_layers, load.sequence, stack));
}

constexpr tensor forward_model(const layer_context& ctx, trace& t) {
    if (ctx.config.head == head_kind::encoder) return encode(ctx, t, t.load().sequence);
    const tensor x = forward_encoder_and_decoder(ctx, t);
    return t.select_model_output(x, t5_stacks::compute_logits(ctx, t, x));
}

}  // namespace longt5_detail

/// T5 whose encoder attends to neighbouring blocks, and perhaps to sums of all.
///
/// Source: transformers/models/longt5/modeling_longt5.py.
constexpr tensor forward_longt5(const layer_context& ctx, trace& t) {
    return forward_in_module({.class_of_module = {ctx.spec.class_prefix, name_of(ctx.config.head)}},
                             longt5_detail::forward_model, ctx, t);
}

constexpr void parse_longt5(config_view json, model_config& config) {
    using namespace longt5_detail;
    parse_t5_stacks(json, config, 6, "relu");
    config.family[t5_stacks::scales_output] =
        json.boolean("scale_decoder_outputs", json.boolean("tie_word_embeddings", true));
    config.family[block] = json.positive("local_radius", 127) + 1;
    const string_ref type = json.string("encoder_attention_type", "local");
    if (type != "local" && type != "transient-global")
        throw_invalid_value(json, "encoder_attention_type", "local or transient-global");
    config.family[transient] = type == "transient-global";
}

// transformers/models/longt5: configuration_longt5.py, modeling_longt5.py
inline constexpr model_spec longt5 = [](model_spec spec) {
    spec.model_type = "longt5";
    spec.class_prefix = "LongT5";
    spec.forward = forward_longt5;
    spec.parse_config = parse_longt5;
    spec.family_keys = longt5_detail::family_keys;
    spec.supported_heads = {head_kind::none, head_kind::conditional_generation};
    spec.published_head = published_head_kind::as_built;  // checkpoints only have `shared` (configuration_longt5.py)
    return spec;
}(t5);

}  // namespace llmcost::arch
