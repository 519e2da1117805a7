// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bart.hpp>
#include <llmcost/layers/einsum.hpp>

namespace llmcost::arch {

namespace pegasus_x_detail {

enum own : std::uint8_t { globals = stack_own::count, block_size, staggers };
inline constexpr own_key keys[]{{"decoder_layers", 16},
                                {"decoder_attention_heads", 16},
                                {"decoder_ffn_dim", 4096},
                                {"encoder_ffn_dim", 4096},
                                {"num_global_tokens", 32},
                                {"block_size", 512},
                                {"stagger_local_blocks", 1, own_value::boolean}};

/// Sines made in every pass, the same for all sequences.
struct sinusoidal_positions {
    const site& here;

    static constexpr role what = role::embedding;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return here.type("SinusoidalPositionalEmbedding"); }
    constexpr value describe(trace& t, std::int64_t length) const {
        const std::int64_t width = here.dims.hidden_size, half = width / 2;
        const value table = t.constant({length, width}, t.activation_type());
        const value frequencies = t.exp(t.mul(t.constant({half}, t.activation_type())));
        for (const op wave : {op::sin, op::cos}) (void)t.unary(wave, t.mul(trace::buffer({length, 1}), frequencies));
        return table.unsqueeze(0).expand({t.load().batch, length, width});
    }
};

constexpr value positions(const site& here, trace& t, std::int64_t length, bool) {
    return t.call("embed_positions", sinusoidal_positions{here}, length);
}

/// Attention of global tokens over all, and of each block's tokens over the global ones and themselves.
struct global_local_attention {
    const site& here;
    bool last;  ///< what becomes of the global tokens reaches no loss

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("GlobalLocalAttention"); }
    constexpr two_values describe(trace& t, const value& x, const value& global, const value& mask) const {
        const std::int64_t width = here.dims.hidden_size, heads = here.dims.encoder.num_attention_heads, d = width / heads;
        const std::int64_t batch = x.dim(0), length = x.dim(1), some = global.dim(1), block = here.dims.own[block_size];
        const linear projection{width, width};
        const auto shaped = [&](const value& v) {
            return t.contiguous(v.view({batch, v.dim(1), heads, d}).transpose(1, 2));
        };
        const value q = shaped(t.mul(t.call("q_proj", projection, x))), k = shaped(t.call("k_proj", projection, x)),
                    v = shaped(t.call("v_proj", projection, x));
        value global_q, global_k, global_v;
        {
            const recorder::called_again_guard again{t};
            {
                const recorder::off_loss_guard unread{t, last};
                global_q = shaped(t.mul(t.call("q_proj", projection, global)));
            }
            global_k = shaped(t.call("k_proj", projection, global));
            global_v = shaped(t.call("v_proj", projection, global));
        }
        const value whole = attend_globally(t, global_q, {global_k, global_v}, {k, v}, mask);
        const value local = attend_locally(t, q, {global_k, global_v}, {k, v}, mask, length / block);
        // the call that reaches the loss first, although the reference calls it last
        const value joined = t.contiguous(local.permute({0, 2, 3, 1, 4})).view({batch, length, width});
        const value out = t.call("out_proj", projection, joined);
        const recorder::off_loss_guard unread{t, last};
        const recorder::called_again_guard again{t};
        const value flat = t.contiguous(whole.transpose(1, 2)).view({batch, some, width});
        return {out, t.call("out_proj", projection, flat)};
    }
    /// `compute_global_attention_representations`.
    constexpr value attend_globally(trace& t, const value& q, const two_values& global, const two_values& local,
                                    const value& mask) const {
        const recorder::off_loss_guard unread{t, last};
        const value k = t.cat({global.first, local.first}, 2), v = t.cat({global.second, local.second}, 2);
        const value wide = t.pad(mask, -1, q.dim(2)).unsqueeze(1).unsqueeze(2);
        const value scores = t.add(einsum(t, "BHGF,BHXF->BHGX", q, k), wide);
        return einsum(t, "BHGX,BHXF->BHGF", drop(t, t.softmax(scores), dropout_of::attention), v);
    }
    /// `compute_local_attention_representations`.
    constexpr value attend_locally(trace& t, const value& q, const two_values& global, const two_values& local,
                                   const value& mask, std::int64_t blocks) const {
        const std::int64_t batch = q.dim(0), heads = q.dim(1), d = q.dim(3), some = global.first.dim(2);
        const std::int64_t block = here.dims.own[block_size];
        const extents blocked{batch, heads, blocks, block, d};
        const value queries = q.view(blocked), keys = local.first.view(blocked), values = local.second.view(blocked);
        const value wide = t.pad(mask.view({batch, blocks, block}), -1, some).unsqueeze(1).unsqueeze(3);
        const value to_global = einsum(t, "BHNKF,BHGF->BHNKG", queries, global.first);
        const value to_local = einsum(t, "BHNKF,BHNXF->BHNKX", queries, keys);
        const value scores = t.add(t.cat({to_global, to_local}, -1), wide);
        const value probabilities = drop(t, t.softmax(scores), dropout_of::attention);
        const value of_global = t.slice(probabilities, -1, some), of_local = t.slice(probabilities, -1, block);
        const value from_global = einsum(t, "BHNKG,BHGF->BHNKF", of_global, global.second);
        return t.add(from_global, einsum(t, "BHNKX,BHNXF->BHNKF", of_local, values));
    }
};

/// Local and global tokens, each with their residual sums; the same feed-forward block serves both.
struct encoder_layer {
    const site& here;
    bool staggered;
    bool last;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("EncoderLayer"); }
    constexpr two_values describe(trace& t, const value& x, const value& global, const value& mask) const {
        const std::int64_t around = staggered ? here.dims.own[block_size] / 2 * 2 : 0;
        value h = stack_norm(t, "self_attn_layer_norm", x);
        const value g = stack_norm(t, "global_self_attn_layer_norm", global);
        const value wide = around != 0 ? (h = t.pad(h, 1, around), t.pad(mask, -1, around)) : mask;
        const two_values out = t.call("self_attn", global_local_attention{here, last}, h, g, wide);
        const value found = around != 0 ? t.slice(out.first, 1, x.dim(1)) : out.first;
        const value local = t.add(x, drop(t, found, dropout_of::hidden));
        value sum;
        {
            const recorder::off_loss_guard unread{t, last};
            sum = t.add(global, drop(t, out.second, dropout_of::hidden));
        }
        const stack_sizes dims = encoder_stack_of(here);
        const value first = stack_feed_forward(t, true, dims, local);
        const recorder::off_loss_guard unread{t, last};
        const recorder::called_again_guard again{t};
        return {first, stack_feed_forward(t, true, dims, sum)};
    }
};

/// Texts in whole blocks beside global tokens; layer by layer, as two values go from each to the next.
constexpr value encoder(const site& here, trace& t, const stack_style& style) {
    const std::int64_t length = encoder_length(t.load()), batch = t.load().batch, block = here.dims.own[block_size];
    value x = words_of_stack(here, t, style, here.dims.vocab_size, length, shares_words(here, style));
    x = drop(t, t.add(x, style.positions(here, t, length, false)), dropout_of::hidden);
    value mask = t.unary(op::sub, t.constant({batch, length}, t.activation_type()));
    mask = t.where(mask);
    t.chunked(block);
    if (const std::int64_t rest = length % block; rest != 0)
        x = t.pad(x, 1, block - rest), mask = t.pad(mask, -1, block - rest);
    const embedding table{here.dims.own[globals], here.dims.hidden_size};
    value global = t.call("embed_global", table, extents{batch, here.dims.own[globals]});
    const std::int64_t layers = here.dims.encoder.num_hidden_layers;
    for (std::int64_t i = 0; i < layers; ++i) {
        const encoder_layer layer{here, here.dims.own[staggers] != 0 && i % 2 == 1, i + 1 == layers};
        const two_values out = t.call({"layers", i}, layer, x, global, mask);
        x = out.first, global = out.second;
    }
    return stack_norm(t, "layer_norm", t.slice(x, 1, length));
}

inline constexpr stack_style style{.norm_first = true,
                                   .norm_embedding = "",
                                   .norm_last = "layer_norm",
                                   .logits_bias = false,
                                   .positions = positions,
                                   .encoder = encoder};

}  // namespace pegasus_x_detail

/// An encoder of blocks and global tokens, a decoder with norms in front of its blocks.
///
/// Source: transformers/models/pegasus_x/modeling_pegasus_x.py.
constexpr value describe_pegasus_x(const site& here, trace& t) { return describe_stacks(here, t, pegasus_x_detail::style); }

constexpr void read_pegasus_x(config_view config, sizes& s) {
    using namespace pegasus_x_detail;
    read_stacks(config, s);
    s.attention_bias = false;
    if (s.hidden_size % 2 != 0) fail_value(config, "d_model", "an even number");
    if (s.encoder.num_hidden_layers > layer_plan::longest)
        fail_unsupported(config, "encoder_layers", "no row describes an encoder of more than 512 such layers");
    if (s.own[staggers] != 0 && s.encoder.num_hidden_layers > 1 && s.own[block_size] % 2 != 0)
        fail_value(config, "block_size", "an even number where stagger_local_blocks moves blocks by half of one");
}

// transformers/models/pegasus_x: configuration_pegasus_x.py, modeling_pegasus_x.py
inline constexpr architecture pegasus_x = [](architecture a) {
    a.model_type = "pegasus_x", a.prefix = "PegasusX", a.describe = describe_pegasus_x, a.read = read_pegasus_x;
    a.own = pegasus_x_detail::keys, a.heads = {head_kind::none, head_kind::conditional_generation};
    a.defaults.vocab_size = 96103, a.defaults.num_hidden_layers = 16, a.defaults.max_position_embeddings = 16384;
    a.defaults.num_labels = 2, a.defaults.head = head_kind::conditional_generation;
    return a;
}(bart);

}  // namespace llmcost::arch
