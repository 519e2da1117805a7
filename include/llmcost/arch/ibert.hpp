// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/roberta.hpp>

namespace llmcost::arch {

namespace ibert_detail {

/// An embedding, whose class can be quantized.
constexpr embedding table(std::int64_t rows, std::int64_t width) { return {rows, width, false, {"", "QuantEmbedding"}}; }
constexpr linear projection(std::int64_t in, std::int64_t out) {
    return {.in = in, .out = out, .bias = true, .named = {"", "QuantLinear"}};
}

/// Without quantization: what comes in, or the sum with what it is added to.
struct act {
    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return {"", "QuantAct"}; }
    constexpr value describe(trace&, const value& x) const { return x; }
    constexpr value describe(trace& t, const value& x, const value& to) const { return t.add(to, x); }
};

/// A layer norm, written out.
struct spelled_norm {
    std::int64_t width;

    static constexpr role what = role::norm;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {"", "IntLayerNorm"}; }
    constexpr value describe(trace& t, const value& x) const {
        const value weight = t.param("weight", {width}), bias = t.param("bias", {width});
        const value y = t.sub(x, t.mean(x, 2, true));
        const value variance = t.mean(t.pow(y, 2), 2, true);
        return t.add(t.mul(t.div(y, t.unary(op::sqrt, t.add(variance))), weight), bias);
    }
};

constexpr value sum_embeddings(const site& here, trace& t) {
    const sizes& dims = here.dims;
    const extents ids{t.load().batch, t.load().sequence};
    value x = t.call("word_embeddings", table(dims.vocab_size, dims.hidden_size), ids);
    const value kinds = t.call("token_type_embeddings", table(dims.type_vocab_size, dims.hidden_size), ids);
    x = t.call("embeddings_act1", act{}, x, kinds);
    t.positions(dims.max_position_embeddings - dims.first_position, t.load().sequence);
    const value places = t.call("position_embeddings", table(dims.max_position_embeddings, dims.hidden_size), ids);
    x = t.call("embeddings_act1", act{}, x, places);
    x = dropout(t, "dropout", t.call("LayerNorm", spelled_norm{dims.hidden_size}, x));
    return t.call("output_activation", act{}, x);
}
constexpr value embed(const site& here, trace& t) {
    make_padding_mask(t);
    return embed_within(here, t, sum_embeddings);
}

/// `IntSoftmax`, which holds a module of its own for when it is quantized.
struct softmax_module {
    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {"", "IntSoftmax"}; }
    constexpr value describe(trace& t, const value& x) const { return t.softmax(x); }
};

constexpr value attend(const site& here, trace& t, const value& x) {
    const std::int64_t width = here.dims.hidden_size, heads = here.dims.num_attention_heads;
    const std::int64_t batch = x.dim(0), sequence = x.dim(1);
    const value all_q = t.call("query", projection(width, width), x), all_k = t.call("key", projection(width, width), x);
    const value all_v = t.call("value", projection(width, width), x);
    const auto split = [&](literal name, const value& all) {
        return t.call(name, act{}, all).view({batch, sequence, heads, width / heads}).transpose(1, 2);
    };
    const value q = split("query_activation", all_q), k = split("key_activation", all_k);
    const value v = split("value_activation", all_v);
    const recorder::fused_guard fused{t, fused_attention(q, heads, here.shared->where, sequence)};
    const value scores = t.div(t.matmul(q, k.transpose(-1, -2)));
    const value mixed =
        t.matmul(dropout(t, "dropout", t.call("softmax", softmax_module{}, scores), dropout_of::attention), v);
    const value flat = t.contiguous(mixed.permute({0, 2, 1, 3})).view({batch, sequence, width});
    return t.call("output_activation", act{}, flat);
}

/// A projection, dropout, and a norm of the sum with what came in.
constexpr value join(const site& here, trace& t, const module_info& m, const value& h, const value& x) {
    const std::int64_t width = here.dims.hidden_size;
    t.enter(m);
    value out = dropout(t, "dropout", t.call("dense", projection(h.dim(-1), width), h));
    out = t.call("LayerNorm", spelled_norm{width}, t.call("ln_input_act", act{}, out, x));
    return t.leave(m, t.call("output_activation", act{}, out));
}

/// `nn.GELU` in a module that can be quantized.
constexpr value activated(trace& t, const value& x) {
    const module_info m{.name = "intermediate_act_fn", .type = {"", "IntGELU"}};
    const module_info function{.name = "activation_fn", .type = {"", "GELU"}, .leaf = true};
    t.enter(m);
    t.enter(function);
    return t.leave(m, t.leave(function, t.unary(op::gelu, x)));
}

constexpr value layer(const site& here, trace& t, const value& x) {
    const std::int64_t width = here.dims.hidden_size, inner = here.dims.intermediate_size;
    const module_info attention{.name = "attention", .type = here.type("Attention"), .what = role::attn};
    const module_info intermediate{.name = "intermediate", .type = here.type("Intermediate"), .what = role::mlp};
    t.enter(attention);
    const value mixed = t.call("self", bert_layers::self_attention_block{here}, x);
    value a = t.leave(attention, ibert_detail::join(here, t, {.name = "output", .type = here.type("SelfOutput")}, mixed, x));
    a = t.call("pre_intermediate_act", act{}, a);
    t.enter(intermediate);
    value h = activated(t, t.call("dense", projection(width, inner), a));
    h = t.leave(intermediate, t.call("output_activation", act{}, h));
    h = t.call("pre_output_act", act{}, h);
    return ibert_detail::join(here, t, {.name = "output", .type = here.type("Output"), .what = role::mlp}, h, a);
}

constexpr void read(config_view config, sizes& s) {
    if (config.boolean("is_decoder", false))
        fail_unsupported(config, "is_decoder", "no row describes this type as a decoder");
    roberta_detail::read(config, s);
    if (config.boolean("quant_mode", false)) fail_unsupported(config, "quant_mode", "no row describes integers alone");
    if (s.hidden_act != activation::gelu) fail_value(config, "hidden_act", "\"gelu\"");
}

}  // namespace ibert_detail

// transformers/models/ibert: RoBERTa in modules that can be quantized
inline constexpr architecture ibert = [](architecture a) {
    a.model_type = "ibert", a.prefix = "IBert", a.read = ibert_detail::read, a.embed = ibert_detail::embed;
    a.layer = ibert_detail::layer, a.attend = ibert_detail::attend;
    a.heads = {head_kind::none,
               head_kind::masked_lm,
               head_kind::sequence_classification,
               head_kind::token_classification,
               head_kind::question_answering,
               head_kind::multiple_choice};
    a.names.base = "ibert", a.defaults.vocab_size = 30522, a.defaults.head = head_kind::masked_lm;
    a.drops = {};  // what training quantizes is not described
    return a;
}(roberta);

}  // namespace llmcost::arch
