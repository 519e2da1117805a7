// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/t5.hpp>
#include <llmcost/layers/einsum.hpp>

namespace llmcost::arch {

namespace longt5_detail {

enum own : std::uint8_t { block = 4, global_block, transient };  // behind T5's
inline constexpr own_key keys[]{t5_detail::keys[0],
                                t5_detail::keys[1],
                                t5_detail::keys[2],
                                t5_detail::keys[3],
                                {.value = own_value::computed},  // local_radius and the place itself
                                {"global_block_size", 16},
                                {.value = own_value::computed}};  // global tokens besides

/// (B, L, …) -> (B, blocks, places, …), padded to whole blocks (`_split_into_blocks`).
constexpr value in_blocks(trace& t, const value& x, std::int64_t length) {
    const std::int64_t rest = x.dim(1) % length;
    const value whole = rest == 0 ? x : t.pad(x, 1, length - rest);
    const std::int64_t blocks = whole.dim(1) / length;
    if (x.rank == 2) return t.reshape(whole, {x.dim(0), blocks, length});
    return t.reshape(whole, {x.dim(0), blocks, length, x.dim(2), x.dim(3)});
}

/// Each block beside those around it (`_concatenate_3_blocks`).
constexpr value with_neighbours(trace& t, const value& x) {
    const std::int64_t blocks = x.dim(1);
    const value wide = t.pad(x, 1, 2);
    const value first = t.slice(wide, 1, blocks), second = t.slice(wide, 1, blocks);
    return t.cat({first, second, t.slice(wide, 1, blocks)}, 2);
}

/// `torch.where(…, 0.0, -1e10)`: the two numbers are tensors, too.
constexpr value hidden_or_not(trace& t, const extents& sizes) {
    t.written(2);
    return t.constant(sizes);
}

/// Which block of global tokens each place belongs to (`_make_global_fixed_block_ids`), in floating point.
constexpr void number_blocks(trace& t, std::int64_t batch, std::int64_t length, std::int64_t globals) {
    const value mask = trace::buffer({batch, length});
    const value share = t.div(t.constant({batch, length}));
    const value begun = t.sub(t.cumsum(share, 1), share);
    const value ids = t.unary(op::compare, t.add(t.add(hidden_or_not(t, {batch, length}), begun)));
    t.written(1);  // the lower bound
    (void)t.add(t.mul(t.where(ids), mask), t.add(mask));
    (void)t.add(t.constant({batch, 1}));  // full blocks of each sequence
    const value numbers = t.where(ids);
    if (globals > 0) (void)t.copy(t.max_over(numbers, -1).unsqueeze(0).expand({globals, batch}));
    const value counted = t.cumsum(t.constant({batch, globals}), -1);
    (void)t.copy(t.add(counted));  // counted on the processor, then where the mask is
}

/// The mask of places that a block sees, made in every layer (`_get_local_attention_mask`).
constexpr value local_mask(trace& t, std::int64_t batch, std::int64_t length, std::int64_t block_length) {
    const value blocks = in_blocks(t, trace::buffer({batch, length}), block_length);
    (void)with_neighbours(t, blocks);
    return hidden_or_not(t, {batch, blocks.dim(1), 1, block_length, 3 * block_length});
}

/// Buckets of distances between places and global tokens, looked up in a table of their own (`compute_side_bias`).
constexpr value side_bias(const sizes& dims, trace& t, std::int64_t batch, std::int64_t length, std::int64_t globals) {
    const std::int64_t heads = dims.num_attention_heads, block_length = dims.own[block];
    const value mask = hidden_or_not(t, {batch, 1, length, globals});
    number_blocks(t, batch, length, globals);
    (void)t.mul(t.div(t.unary(op::log, t.div(t.constant({batch, length, globals})))));
    const bucket_table table{{dims.own[t5_detail::buckets], heads}};
    const value biases = t.call("global_relative_attention_bias", table, extents{batch, length, globals});
    value all = t.add(mask, biases.permute({0, 3, 1, 2}));
    if (const std::int64_t rest = length % block_length; rest != 0 && globals > 0) all = t.pad(all, 2, block_length - rest);
    const std::int64_t blocks = (length + block_length - 1) / block_length;
    if (globals == 0) return trace::buffer({batch, blocks, heads, block_length, 0});
    return t.reshape(all, {batch, heads, blocks, block_length, globals}).transpose(1, 2);
}

/// Attention of blocks over their neighbours and, where there are such, over sums of all blocks.
struct local_attention {
    const sizes& dims;
    literal prefix;
    value& bias;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const {
        return {prefix, dims.own[transient] ? "TransientGlobalAttention" : "LocalAttention"};
    }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t heads = dims.num_attention_heads, d = dims.head_dim, inner = heads * d;
        const std::int64_t batch = x.dim(0), length = x.dim(1), block_length = dims.own[block];
        const bool global = dims.own[transient] != 0;
        const std::int64_t globals = global ? length / dims.own[global_block] : 0;
        const linear projection{dims.hidden_size, inner};
        const auto shaped = [&](literal name, const value& from) {
            return t.call(name, projection, from).view({batch, from.dim(1), heads, d});
        };
        t.chunked(block_length);
        value sums;
        if (global) {
            t.chunked(dims.own[global_block]);
            number_blocks(t, batch, length, globals);
            const value member = t.constant({batch, length, globals}, x.type);
            sums = einsum(t, "bng,bnd->bgd", member, x);  // as torch does, which begins with the result's first dimension
            sums = t5_detail::normed(t, "global_input_layer_norm", prefix, sums);
        }
        const value q = shaped("q", x);
        value k = shaped("k", x), v = shaped("v", x), side_k, side_v;
        if (global) {
            const recorder::called_again_guard again{t};
            side_k = shaped("k", sums), side_v = shaped("v", sums);
        }
        const value queries = in_blocks(t, q, block_length);
        k = in_blocks(t, k, block_length), v = in_blocks(t, v, block_length);
        k = with_neighbours(t, k), v = with_neighbours(t, v);
        const std::int64_t blocks = queries.dim(1);
        if (global) {
            const extents to{batch, blocks, globals, heads, d};
            side_k = t.copy(side_k.unsqueeze(1).expand(to)), side_v = t.copy(side_v.unsqueeze(1).expand(to));
            k = t.cat({k, side_k}, 2), v = t.cat({v, side_v}, 2);
        }
        value scores = einsum(t, "bnqhd,bnkhd->bnhqk", queries, k);
        value mask;
        if (global) mask = local_mask(t, batch, length, block_length);
        if (bias.rank == 0) {
            bias = relative_bias(t, dims.own[t5_detail::buckets], heads, block_length, 3 * block_length).unsqueeze(0);
            if (!global) mask = hidden_or_not(t, {batch, blocks, 1, block_length, 3 * block_length});
            bias = t.add(bias, mask);
            if (global) bias = t.cat({bias, side_bias(dims, t, batch, length, globals)}, -1);
        }
        t.in_place(op::add, scores, bias);
        const value probabilities = drop(t, t.to(t.softmax(t.to(scores, dtype::float32)), x.type), dropout_of::attention);
        const value mixed = t.contiguous(einsum(t, "bnhqk,bnkhd->bnqhd", probabilities, v)).view({batch, -1, inner});
        return t.call("o", linear{inner, dims.hidden_size}, t.slice(mixed, 1, length));
    }
};

struct attention_part {
    const sizes& dims;
    literal prefix;
    value& bias;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const {
        return {prefix, dims.own[transient] ? "LayerTransientGlobalSelfAttention" : "LayerLocalSelfAttention"};
    }
    constexpr value describe(trace& t, const value& x) const {
        const value h = t5_detail::normed(t, "layer_norm", prefix, x);
        const literal name = dims.own[transient] ? "TransientGlobalSelfAttention" : "LocalSelfAttention";
        return t.add(x, dropout(t, "dropout", t.call(name, local_attention{dims, prefix, bias}, h)));
    }
};

struct block_of_encoder {
    const sizes& dims;
    literal prefix;
    value& bias;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {prefix, "Block"}; }
    constexpr value describe(trace& t, const value& x) const {
        const value h = t.call({"layer", 0}, attention_part{dims, prefix, bias}, x);
        return t.call({"layer", 1}, t5_detail::feed_forward_part{dims, prefix}, h);
    }
};

constexpr value encode(const site& here, trace& t, std::int64_t length) {
    t5_detail::declare_words(here.dims, t);
    const std::int64_t batch = t.load().batch;
    const module_info encoder{.name = "encoder", .type = here.type("Stack"), .what = role::encoder};
    t.enter(encoder);
    const embedding words{here.dims.vocab_size, here.dims.hidden_size, false, {"", "Embedding"}, true};
    value x = t.call("embed_tokens", words, extents{batch, length});
    (void)t.constant({batch, length});
    if (!here.dims.own[transient]) {
        const value blocks = in_blocks(t, trace::buffer({batch, length}), here.dims.own[block]);
        (void)with_neighbours(t, blocks);
    }
    x = dropout(t, "dropout", x);
    value bias;
    const block_of_encoder each{here.dims, here.row.prefix, bias};
    x = t.call({"block", 0}, each, x);
    for (repetition other = t.repeat(here.dims.encoder.num_hidden_layers - 1, x, 1); other.next();)
        x = t.call({"block", other.index()}, each, x);
    return t.leave(encoder, dropout(t, "dropout", t5_detail::normed(t, "final_layer_norm", here.row.prefix, x)));
}

constexpr value both(const site& here, trace& t) {
    const workload& load = t.load();
    const std::int64_t length = encoder_length(load);
    t5_detail::stack_values stack{.decodes = true};
    {
        const recorder::idle_guard done{t, encoder_is_done(load)};
        stack.encoded = encode(here, t, length);
    }
    if (encoder_is_done(load)) stack.encoded = t.input({load.batch, length, here.dims.hidden_size});
    stack.where = context_of(t, 0);
    stack.across = {.sequence = length, .causal = false};
    const module_info decoder{.name = "decoder", .type = here.type("Stack"), .what = role::decoder};
    t.enter(decoder);
    (void)t.constant({load.batch, stack.where.length()});
    return t.leave(decoder, t5_detail::describe_stack(here, t, here.dims.num_hidden_layers, load.sequence, stack));
}

constexpr value whole(const site& here, trace& t) {
    if (here.dims.head == head_kind::encoder) return encode(here, t, t.load().sequence);
    const value x = both(here, t);
    return t.returns(x, t5_detail::describe_scores(here, t, x));
}

}  // namespace longt5_detail

/// T5 whose encoder attends to neighbouring blocks, and perhaps to sums of all.
///
/// Source: transformers/models/longt5/modeling_longt5.py.
constexpr value describe_longt5(const site& here, trace& t) {
    return describe_within({.type = {here.row.prefix, name_of(here.dims.head)}}, longt5_detail::whole, here, t);
}

constexpr void read_longt5(config_view config, sizes& s) {
    using namespace longt5_detail;
    read_t5_stacks(config, s, 6, "relu");
    s.own[t5_detail::scales_output] = config.boolean("scale_decoder_outputs", config.boolean("tie_word_embeddings", true));
    s.own[block] = config.positive("local_radius", 127) + 1;
    const string_ref type = config.string("encoder_attention_type", "local");
    if (type != "local" && type != "transient-global")
        fail_value(config, "encoder_attention_type", "local or transient-global");
    s.own[transient] = type == "transient-global";
}

// transformers/models/longt5: configuration_longt5.py, modeling_longt5.py
inline constexpr architecture longt5 = [](architecture a) {
    a.model_type = "longt5", a.prefix = "LongT5", a.describe = describe_longt5, a.read = read_longt5;
    a.own = longt5_detail::keys;
    a.heads = {head_kind::none, head_kind::conditional_generation};
    return a;
}(t5);

}  // namespace llmcost::arch
