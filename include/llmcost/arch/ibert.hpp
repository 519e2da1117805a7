// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/roberta.hpp>

namespace llmcost::arch {

namespace ibert_detail {

/// Calls an embedding whose class can be quantized.
///
/// Buffers: `weight_integer`, `weight_scaling_factor`. Source: transformers/models/ibert/quant_modules.py.
constexpr tensor look_up(trace& t, literal name, std::int64_t rows, std::int64_t width, const shape& ids) {
    t.register_buffer({rows * width + 1}, t.activation_type());
    return t.call(name, embedding{rows, width, false, {"", "QuantEmbedding"}}, ids);
}
/// Calls a linear layer whose class can be quantized.
///
/// Buffers: `weight_integer`, `bias_integer`, `fc_scaling_factor`.
constexpr tensor project(trace& t, literal name, std::int64_t out, const tensor& x) {
    const std::int64_t in = x.dim(-1);
    t.register_buffer({out, in + 2}, t.activation_type());
    return t.call(
        name, linear{.in_features = in, .out_features = out, .bias = true, .reference_class = {"", "QuantLinear"}}, x);
}
/// Buffers of `QuantAct`: `x_min`, `x_max` and `act_scaling_factor`.
constexpr void register_activation_range(const trace& t) { t.register_buffer({3}, t.activation_type()); }

/// Without quantization: the input, or the sum of two inputs.
struct act {
    bool is_called_again = false;  ///< its buffers are registered

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "QuantAct"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        register_activation_range(t);
        return x;
    }
    constexpr tensor forward(trace& t, const tensor& x, const tensor& to) const {
        if (!is_called_again) register_activation_range(t);
        return t.add(to, x);
    }
};

/// A layer norm, written out.
struct spelled_norm {
    std::int64_t width;

    static constexpr role module_role = role::norm;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "IntLayerNorm"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        t.register_buffer({1}, t.activation_type());  // `shift`
        register_activation_range(t);
        const tensor weight = t.param("weight", {width}), bias = t.param("bias", {width});
        const tensor y = t.sub(x, t.mean(x, 2, true));
        const tensor variance = t.mean(t.pow(y, 2), 2, true);
        return t.add(t.mul(t.div(y, t.sqrt(t.add_scalar(variance))), weight), bias);
    }
};

constexpr tensor sum_embeddings(const layer_context& ctx, trace& t) {
    const model_config& config = ctx.config;
    const shape ids{t.load().batch, t.load().sequence};
    register_position_ids(ctx, t);
    register_activation_range(t);  // `embeddings_act2`, which is not called
    tensor x = look_up(t, "word_embeddings", config.vocab_size, config.hidden_size, ids);
    const tensor kinds = look_up(t, "token_type_embeddings", config.type_vocab_size, config.hidden_size, ids);
    x = t.call("embeddings_act1", act{}, x, kinds);
    t.check_positions(config.max_position_embeddings - config.position_offset, t.load().sequence);
    const tensor places = look_up(t, "position_embeddings", config.max_position_embeddings, config.hidden_size, ids);
    x = t.call("embeddings_act1", act{.is_called_again = true}, x, places);
    x = dropout(t, "dropout", t.call("LayerNorm", spelled_norm{config.hidden_size}, x));
    return t.call("output_activation", act{}, x);
}
constexpr tensor embed(const layer_context& ctx, trace& t) {
    make_padding_mask(t);
    return embed_in_module(ctx, t, sum_embeddings);
}

/// `IntSoftmax`, which holds a module of its own for when it is quantized.
struct softmax_module {
    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "IntSoftmax"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        register_activation_range(t);
        return t.softmax(x);
    }
};

constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t width = ctx.config.hidden_size, heads = ctx.config.num_attention_heads;
    const std::int64_t batch = x.dim(0), sequence = x.dim(1);
    const tensor all_q = project(t, "query", width, x), all_k = project(t, "key", width, x);
    const tensor all_v = project(t, "value", width, x);
    const auto split = [&](literal name, const tensor& all) {
        return t.call(name, act{}, all).view({batch, sequence, heads, width / heads}).transpose(1, 2);
    };
    const tensor q = split("query_activation", all_q), k = split("key_activation", all_k);
    const tensor v = split("value_activation", all_v);
    const recorder::fused_kernel_guard fused{t, fused_attention_kernel(q, heads, ctx.inputs->pattern, sequence)};
    const tensor scores = t.div_scalar(t.matmul(q, k.transpose(-1, -2)));
    const tensor mixed =
        t.matmul(dropout(t, "dropout", t.call("softmax", softmax_module{}, scores), dropout_position::attention), v);
    const tensor flat = t.contiguous(mixed.permute({0, 2, 1, 3})).view({batch, sequence, width});
    return t.call("output_activation", act{}, flat);
}

/// A projection, dropout, and a norm of the sum with what came in.
constexpr tensor forward_output(const layer_context& ctx, trace& t, const module_info& m, const tensor& h,
                                const tensor& x) {
    const std::int64_t width = ctx.config.hidden_size;
    t.enter(m);
    tensor out = dropout(t, "dropout", project(t, "dense", width, h));
    out = t.call("LayerNorm", spelled_norm{width}, t.call("ln_input_act", act{}, out, x));
    return t.leave(m, t.call("output_activation", act{}, out));
}

/// `nn.GELU` in a module that can be quantized.
constexpr tensor activated(trace& t, const tensor& x) {
    const module_info m{.name = "intermediate_act_fn", .class_of_module = {"", "IntGELU"}};
    const module_info function{.name = "activation_fn", .class_of_module = {"", "GELU"}, .is_leaf = true};
    t.enter(m);
    t.enter(function);
    return t.leave(m, t.leave(function, t.gelu(x)));
}

constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t inner = ctx.config.intermediate_size;
    const module_info attention{
        .name = "attention", .class_of_module = ctx.class_of("Attention"), .module_role = role::attn};
    const module_info intermediate{.name = "intermediate",
                                   .class_of_module = ctx.class_of("Intermediate"),
                                   .module_role = role::mlp,
                                   .continues_block = true};
    t.enter(attention);
    const tensor mixed = t.call("self", bert_layers::self_attention_block{ctx}, x);
    tensor a =
        t.leave(attention, ibert_detail::forward_output(
                               ctx, t, {.name = "output", .class_of_module = ctx.class_of("SelfOutput")}, mixed, x));
    a = t.call("pre_intermediate_act", act{}, a);
    t.enter(intermediate);
    tensor h = activated(t, project(t, "dense", inner, a));
    h = t.leave(intermediate, t.call("output_activation", act{}, h));
    h = t.call("pre_output_act", act{}, h);
    return ibert_detail::forward_output(
        ctx, t, {.name = "output", .class_of_module = ctx.class_of("Output"), .module_role = role::mlp}, h, a);
}

constexpr void parse_config(config_view json, model_config& config) {
    if (json.boolean("is_decoder", false))
        throw_unsupported(json, "is_decoder", "this model type is not supported as a decoder");
    roberta.parse_config(json, config);
    if (json.boolean("quant_mode", false))
        throw_unsupported(json, "quant_mode", "integer-only inference is not supported");
    if (config.hidden_act != activation::gelu) throw_invalid_value(json, "hidden_act", "\"gelu\"");
}

}  // namespace ibert_detail

// transformers/models/ibert: RoBERTa in modules that can be quantized
inline constexpr model_spec ibert = [](model_spec spec) {
    spec.model_type = "ibert";
    spec.class_prefix = "IBert";
    spec.parse_config = ibert_detail::parse_config;
    spec.embed_tokens = ibert_detail::embed;
    spec.decoder_layer = ibert_detail::decoder_layer;
    spec.attention = ibert_detail::attention;
    spec.supported_heads = {head_kind::none,
                            head_kind::masked_lm,
                            head_kind::sequence_classification,
                            head_kind::token_classification,
                            head_kind::question_answering,
                            head_kind::multiple_choice};
    spec.names.base_model = "ibert";
    spec.defaults.vocab_size = 30522;
    spec.defaults.head = head_kind::masked_lm;
    spec.dropout_keys = {};  // what training quantizes is not described
    return spec;
}(roberta);

}  // namespace llmcost::arch
