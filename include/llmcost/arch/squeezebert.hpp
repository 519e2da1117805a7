// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bert.hpp>

namespace llmcost::arch {

namespace squeezebert_detail {

enum own : std::uint8_t { q_groups, k_groups, v_groups, post_attention_groups, intermediate_groups, output_groups };
inline constexpr own_key keys[]{
    {"q_groups", 4},      {"k_groups", 4}, {"v_groups", 4}, {"post_attention_groups", 1}, {"intermediate_groups", 4},
    {"output_groups", 4},
};

/// `nn.Conv1d` over single tokens, in groups of channels: (B, in, S) -> (B, out, S).
struct convolution_of_tokens {
    std::int64_t in;
    std::int64_t out;
    std::int64_t groups;

    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return {"", "Conv1d"}; }
    constexpr value describe(trace& t, const value& x) const {
        const value weight = t.param("weight", {out, in / groups, 1});
        t.beside(t.param("bias", {out}));
        return t.convolution(x, weight, true, groups);
    }
};

/// A layer norm over channels, which stand in front of tokens.
struct norm_of_channels {
    std::int64_t width;

    static constexpr role what = role::norm;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return {"SqueezeBert", "LayerNorm"}; }
    constexpr value describe(trace& t, const value& x) const {
        t.beside(t.param("weight", {width})), t.beside(t.param("bias", {width}));
        return t.layer_norm(x.permute({0, 2, 1}), 2).permute({0, 2, 1});
    }
};

/// `torch.matmul` and softmax as modules.
struct product_module {
    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return {"", "MatMulWrapper"}; }
    constexpr value describe(trace& t, const value& a, const value& b) const { return t.matmul(a, b); }
};
struct softmax_module {
    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return {"", "Softmax"}; }
    constexpr value describe(trace& t, const value& x) const { return t.softmax(x); }
};

constexpr value sum_embeddings(const site& here, trace& t) {
    const value x = t.add(word_embeddings(here, t), position_embeddings(here, t));
    return norm_embeddings(here, t, t.add(x, segment_embeddings(here, t)));
}
constexpr value embed(const site& here, trace& t) { return embed_within(here, t, sum_embeddings); }

/// Attention over (B, channels, S), without an output projection.
constexpr value attend(const site& here, trace& t, const value& x) {
    const std::int64_t width = here.dims.hidden_size, heads = here.dims.num_attention_heads, d = here.dims.head_dim;
    const std::int64_t batch = x.dim(0), sequence = x.dim(2);
    const auto project = [&](literal name, own groups) {
        const convolution_of_tokens all{width, width, here.dims.own[groups]};
        return t.call(name, all, x).view({batch, heads, d, sequence});
    };
    const value q = project("query", q_groups).permute({0, 1, 3, 2}), k = project("key", k_groups);
    const value v = project("value", v_groups).permute({0, 1, 3, 2});
    const recorder::fused_guard fused{t, fused_attention(q, heads, here.shared->where, sequence)};
    const value scores = t.div(t.call("matmul_qk", product_module{}, q, k));
    const value seen = dropout(t, "dropout", t.call("softmax", softmax_module{}, scores), dropout_of::attention);
    const value mixed = t.call("matmul_qkv", product_module{}, seen, v).permute({0, 1, 3, 2});
    return t.contiguous(mixed).view({batch, width, sequence});
}

/// A convolution, dropout, and a norm of the sum with what came in.
constexpr value convolve_and_norm(const site& here, trace& t, literal name, std::int64_t in, own groups, const value& h,
                                  const value& x, role what) {
    const module_info block{.name = name, .type = {"", "ConvDropoutLayerNorm"}, .what = what};
    const std::int64_t width = here.dims.hidden_size;
    t.enter(block);
    const value out = dropout(t, "dropout", t.call("conv1d", convolution_of_tokens{in, width, here.dims.own[groups]}, h));
    return t.leave(block, t.call("layernorm", norm_of_channels{width}, t.add(out, x)));
}

constexpr value layer(const site& here, trace& t, const value& x) {
    const std::int64_t width = here.dims.hidden_size, inner = here.dims.intermediate_size;
    const value mixed = mix_by_attention(here, t, x);
    const value a = convolve_and_norm(here, t, "post_attention", width, post_attention_groups, mixed, x, role::none);
    const module_info intermediate{.name = "intermediate", .type = {"", "ConvActivation"}, .what = role::mlp};
    t.enter(intermediate);
    value h = t.call("conv1d", convolution_of_tokens{width, inner, here.dims.own[intermediate_groups]}, a);
    h = t.leave(intermediate, t.call("act", activation_module{here.dims.hidden_act}, h));
    return convolve_and_norm(here, t, "output", inner, output_groups, h, a, role::mlp);
}

/// Channels stand in front of tokens inside of the encoder.
constexpr value encode(const site& here, trace& t) {
    make_padding_mask(t);
    const value x = here.row.embed(here, t);
    const decoder_context shared = here.row.prepare(here, t);
    const module_info encoder{.name = "encoder", .type = here.type("Encoder")};
    t.enter(encoder);
    return t.leave(encoder, describe_layers(here, t, shared, x.permute({0, 2, 1})).permute({0, 2, 1}));
}

constexpr value score_words(const site& here, trace& t, const two_values& out) {
    const module_info cls{.name = "cls", .type = here.type("OnlyMLMHead"), .what = role::head};
    t.enter(cls);
    return t.leave(cls, transform_and_score(here, t, out.first));
}
constexpr value score(const site& here, trace& t, const two_values& out) { return score_states(here, t, out, score_words); }
/// Every head has the pooler below it.
constexpr value describe(const site& here, trace& t) { return describe_encoder(here, t, {score, here.row.heads}); }

constexpr void read(config_view config, sizes& s) {
    read_encoder_alone(config, s);
    if (config.positive("embedding_size", 768) != s.hidden_size) fail_value(config, "embedding_size", "hidden_size");
    for (const own groups : {q_groups, k_groups, v_groups, post_attention_groups, intermediate_groups, output_groups}) {
        const bool inner = groups == intermediate_groups || groups == output_groups;
        if (s.hidden_size % s.own[groups] != 0 || (inner && s.intermediate_size % s.own[groups] != 0))
            fail_value(config, keys[groups].key, "a divisor of the numbers of channels");
    }
}

}  // namespace squeezebert_detail

// transformers/models/squeezebert: BERT with grouped convolutions for projections
inline constexpr architecture squeezebert = [](architecture a) {
    a.model_type = "squeezebert", a.prefix = "SqueezeBert", a.describe = squeezebert_detail::describe;
    a.read = squeezebert_detail::read, a.own = squeezebert_detail::keys, a.base = squeezebert_detail::encode;
    a.embed = squeezebert_detail::embed, a.layer = squeezebert_detail::layer, a.attend = squeezebert_detail::attend;
    a.mix = mix_by_attention;
    a.heads = {head_kind::none,
               head_kind::masked_lm,
               head_kind::sequence_classification,
               head_kind::token_classification,
               head_kind::question_answering,
               head_kind::multiple_choice};
    a.names.base = "transformer", a.names.layers = "layers", a.names.layer_type = "Module";
    a.names.attention = "attention", a.names.attention_type = "SelfAttention", a.defaults.head = head_kind::masked_lm;
    a.drops = headless_encoder_dropout;
    return a;
}(bert);

}  // namespace llmcost::arch
