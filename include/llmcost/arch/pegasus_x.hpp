// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bart.hpp>
#include <llmcost/layers/einsum.hpp>

namespace llmcost::arch {

namespace pegasus_x_detail {

enum family_config_index : std::uint8_t { globals = stack_config::count, block_size, staggers };
inline constexpr family_key family_keys[]{{"decoder_layers", 16},
                                          {"decoder_attention_heads", 16},
                                          {"decoder_ffn_dim", 4096},
                                          {"encoder_ffn_dim", 4096},
                                          {"num_global_tokens", 32},
                                          {"block_size", 512},
                                          {"stagger_local_blocks", 1, family_key_type::boolean}};

/// Sines made in every pass, the same for all sequences.
struct sinusoidal_positions {
    const layer_context& ctx;

    static constexpr role module_role = role::embedding;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("SinusoidalPositionalEmbedding"); }
    constexpr tensor forward(trace& t, std::int64_t length) const {
        const std::int64_t width = ctx.config.hidden_size, half = width / 2;
        const tensor table = t.full({length, width}, t.activation_type());
        const tensor frequencies = t.exp(t.mul_scalar(t.full({half}, t.activation_type())));
        for (const op wave : {op::sin, op::cos}) (void)t.unary(wave, t.mul(trace::buffer({length, 1}), frequencies));
        return table.unsqueeze(0).expand({t.load().batch, length, width});
    }
};

constexpr tensor positions(const layer_context& ctx, trace& t, std::int64_t length, bool) {
    return t.call("embed_positions", sinusoidal_positions{ctx}, length);
}

/// Attention of global tokens over all, and of each block's tokens over the global ones and themselves.
struct global_local_attention {
    const layer_context& ctx;
    bool last;  ///< what becomes of the global tokens reaches no loss

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("GlobalLocalAttention"); }
    constexpr tensor_pair forward(trace& t, const tensor& x, const tensor& global, const tensor& mask) const {
        const std::int64_t width = ctx.config.hidden_size, heads = ctx.config.encoder.num_attention_heads,
                           d = width / heads;
        const std::int64_t batch = x.dim(0), length = x.dim(1), num_global_tokens = global.dim(1),
                           block = ctx.config.family[block_size];
        const linear projection{width, width};
        const auto shaped = [&](const tensor& v) {
            return t.contiguous(v.view({batch, v.dim(1), heads, d}).transpose(1, 2));
        };
        const tensor q = shaped(t.mul_scalar(t.call("q_proj", projection, x))),
                     k = shaped(t.call("k_proj", projection, x)), v = shaped(t.call("v_proj", projection, x));
        tensor global_q, global_k, global_v;
        {
            const recorder::shared_parameters_guard shared_parameters{t};
            {
                const recorder::detach_guard unread{t, last};
                global_q = shaped(t.mul_scalar(t.call("q_proj", projection, global)));
            }
            global_k = shaped(t.call("k_proj", projection, global));
            global_v = shaped(t.call("v_proj", projection, global));
        }
        const tensor global_output = attend_globally(t, global_q, {global_k, global_v}, {k, v}, mask);
        const tensor local = attend_locally(t, q, {global_k, global_v}, {k, v}, mask, length / block);
        // the call that reaches the loss first, although the reference calls it last
        const tensor attention_output = t.contiguous(local.permute({0, 2, 3, 1, 4})).view({batch, length, width});
        const tensor out = t.call("out_proj", projection, attention_output);
        const recorder::detach_guard unread{t, last};
        const recorder::shared_parameters_guard shared_parameters{t};
        const tensor flat = t.contiguous(global_output.transpose(1, 2)).view({batch, num_global_tokens, width});
        return {out, t.call("out_proj", projection, flat)};
    }
    /// `compute_global_attention_representations`.
    constexpr tensor attend_globally(trace& t, const tensor& q, const tensor_pair& global, const tensor_pair& local,
                                     const tensor& mask) const {
        const recorder::detach_guard unread{t, last};
        const tensor k = t.cat({global.first, local.first}, 2), v = t.cat({global.second, local.second}, 2);
        const tensor padded_mask = t.pad(mask, -1, q.dim(2)).unsqueeze(1).unsqueeze(2);
        const tensor scores = t.add(einsum(t, "BHGF,BHXF->BHGX", q, k), padded_mask);
        return einsum(t, "BHGX,BHXF->BHGF", functional_dropout(t, t.softmax(scores), dropout_position::attention), v);
    }
    /// `compute_local_attention_representations`.
    constexpr tensor attend_locally(trace& t, const tensor& q, const tensor_pair& global, const tensor_pair& local,
                                    const tensor& mask, std::int64_t blocks) const {
        const std::int64_t batch = q.dim(0), heads = q.dim(1), d = q.dim(3), num_global_tokens = global.first.dim(2);
        const std::int64_t block = ctx.config.family[block_size];
        const shape blocked{batch, heads, blocks, block, d};
        const tensor queries = q.view(blocked), family_keys = local.first.view(blocked),
                     values = local.second.view(blocked);
        const tensor padded_mask =
            t.pad(mask.view({batch, blocks, block}), -1, num_global_tokens).unsqueeze(1).unsqueeze(3);
        const tensor to_global = einsum(t, "BHNKF,BHGF->BHNKG", queries, global.first);
        const tensor to_local = einsum(t, "BHNKF,BHNXF->BHNKX", queries, family_keys);
        const tensor scores = t.add(t.cat({to_global, to_local}, -1), padded_mask);
        const tensor probabilities = functional_dropout(t, t.softmax(scores), dropout_position::attention);
        const tensor of_global = t.slice(probabilities, -1, num_global_tokens),
                     of_local = t.slice(probabilities, -1, block);
        const tensor from_global = einsum(t, "BHNKG,BHGF->BHNKF", of_global, global.second);
        return t.add(from_global, einsum(t, "BHNKX,BHNXF->BHNKF", of_local, values));
    }
};

/// Local and global tokens, each with their residual sums; the same feed-forward block serves both.
struct encoder_layer {
    const layer_context& ctx;
    bool staggered;
    bool last;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("EncoderLayer"); }
    constexpr tensor_pair forward(trace& t, const tensor& x, const tensor& global, const tensor& mask) const {
        const std::int64_t stagger_padding = staggered ? ctx.config.family[block_size] / 2 * 2 : 0;
        tensor h = stack_norm(t, "self_attn_layer_norm", x);
        const tensor g = stack_norm(t, "global_self_attn_layer_norm", global);
        const tensor padded_mask =
            stagger_padding != 0 ? (h = t.pad(h, 1, stagger_padding), t.pad(mask, -1, stagger_padding)) : mask;
        const tensor_pair out = t.call("self_attn", global_local_attention{ctx, last}, h, g, padded_mask);
        const tensor found = stagger_padding != 0 ? t.slice(out.first, 1, x.dim(1)) : out.first;
        const tensor local = t.add(x, functional_dropout(t, found, dropout_position::hidden));
        tensor sum;
        {
            const recorder::detach_guard unread{t, last};
            sum = t.add(global, functional_dropout(t, out.second, dropout_position::hidden));
        }
        const stack_sizes stack_config = encoder_stack_of(ctx);
        const tensor first = stack_mlp(t, true, stack_config, local);
        const recorder::detach_guard unread{t, last};
        const recorder::shared_parameters_guard shared_parameters{t};
        return {first, stack_mlp(t, true, stack_config, sum)};
    }
};

/// Encodes text in complete blocks in addition to global tokens. Layers are traced one by one, because each returns two
/// tensors.
constexpr tensor encoder(const layer_context& ctx, trace& t, const stack_style& style) {
    const std::int64_t length = encoder_length(t.load()), batch = t.load().batch, block = ctx.config.family[block_size];
    tensor x = embed_stack_tokens(ctx, t, style, ctx.config.vocab_size, length, has_shared_embeddings(ctx, style));
    x = functional_dropout(t, t.add(x, style.positions(ctx, t, length, false)), dropout_position::hidden);
    tensor mask = t.sub_scalar(t.full({batch, length}, t.activation_type()));
    mask = t.masked_fill(mask);
    t.set_chunk_size(block);
    if (const std::int64_t rest = length % block; rest != 0) {
        x = t.pad(x, 1, block - rest);
        mask = t.pad(mask, -1, block - rest);
    }
    const embedding table{ctx.config.family[globals], ctx.config.hidden_size};
    tensor global = t.call("embed_global", table, shape{batch, ctx.config.family[globals]});
    const std::int64_t layers = ctx.config.encoder.num_hidden_layers;
    for (std::int64_t i = 0; i < layers; ++i) {
        const encoder_layer layer{ctx, ctx.config.family[staggers] != 0 && i % 2 == 1, i + 1 == layers};
        const tensor_pair out = t.call({"layers", i}, layer, x, global, mask);
        x = out.first;
        global = out.second;
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

/// An encoder of blocks and global tokens, a decoder with norms before its blocks.
///
/// Source: transformers/models/pegasus_x/modeling_pegasus_x.py.
constexpr tensor forward_pegasus_x(const layer_context& ctx, trace& t) {
    return forward_sequence_model(ctx, t, pegasus_x_detail::style);
}

constexpr void parse_pegasus_x(config_view json, model_config& config) {
    using namespace pegasus_x_detail;
    parse_stacks(json, config);
    config.attention_bias = false;
    if (config.hidden_size % 2 != 0) throw_invalid_value(json, "d_model", "an even number");
    if (config.encoder.num_hidden_layers > layer_plan::max_layers)
        throw_unsupported(json, "encoder_layers", "more than 512 encoder layers are not supported");
    if (config.family[staggers] != 0 && config.encoder.num_hidden_layers > 1 && config.family[block_size] % 2 != 0)
        throw_invalid_value(json, "block_size",
                            "an even number where stagger_local_blocks moves blocks by half of one");
}

// transformers/models/pegasus_x: configuration_pegasus_x.py, modeling_pegasus_x.py
inline constexpr model_spec pegasus_x = [](model_spec spec) {
    spec.model_type = "pegasus_x";
    spec.has_eager_attention_only = true;
    spec.class_prefix = "PegasusX";
    spec.forward = forward_pegasus_x;
    spec.parse_config = parse_pegasus_x;
    spec.family_keys = pegasus_x_detail::family_keys;
    spec.supported_heads = {head_kind::none, head_kind::conditional_generation};
    spec.defaults.vocab_size = 96103;
    spec.defaults.num_hidden_layers = 16;
    spec.defaults.max_position_embeddings = 16384;
    spec.defaults.num_labels = 2;
    spec.defaults.head = head_kind::conditional_generation;
    return spec;
}(bart);

}  // namespace llmcost::arch
