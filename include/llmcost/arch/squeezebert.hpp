// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bert.hpp>

namespace llmcost::arch {

namespace squeezebert_detail {

enum family_config_index : std::uint8_t {
    q_groups,
    k_groups,
    v_groups,
    post_attention_groups,
    intermediate_groups,
    output_groups
};

inline constexpr family_key family_keys[]{
    {"q_groups", 4},      {"k_groups", 4}, {"v_groups", 4}, {"post_attention_groups", 1}, {"intermediate_groups", 4},
    {"output_groups", 4},
};

/// `nn.Conv1d` over single tokens, in groups of channels: (B, in, S) -> (B, out, S).
struct convolution_of_tokens {
    std::int64_t in;
    std::int64_t out;
    std::int64_t groups;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "Conv1d"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor weight = t.param("weight", {out, in / groups, 1});
        t.read_parameter_in_next_op(t.param("bias", {out}));
        return t.conv(x, weight, true, groups);
    }
};

/// A layer norm over channels, in a layout of channels before tokens.
struct norm_of_channels {
    std::int64_t width;

    static constexpr role module_role = role::norm;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return {"SqueezeBert", "LayerNorm"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        t.read_parameter_in_next_op(t.param("weight", {width}));
        t.read_parameter_in_next_op(t.param("bias", {width}));
        return t.layer_norm(x.permute({0, 2, 1}), 2).permute({0, 2, 1});
    }
};

/// `torch.matmul` and softmax as modules.
struct product_module {
    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "MatMulWrapper"}; }
    constexpr tensor forward(trace& t, const tensor& a, const tensor& b) const { return t.matmul(a, b); }
};

constexpr tensor sum_embeddings(const layer_context& ctx, trace& t) {
    register_position_ids(ctx, t);
    const tensor tokens = word_embeddings(ctx, t);
    const tensor x = t.add(tokens, position_embeddings(ctx, t));
    return norm_embeddings(ctx, t, t.add(x, segment_embeddings(ctx, t)));
}

constexpr tensor embed(const layer_context& ctx, trace& t) { return embed_in_module(ctx, t, sum_embeddings); }

/// Attention over (B, channels, S), without an output projection.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t width = ctx.config.hidden_size, heads = ctx.config.num_attention_heads, d = ctx.config.head_dim;
    const std::int64_t batch = x.dim(0), sequence = x.dim(2);
    const auto project = [&](literal name, family_config_index groups) {
        const convolution_of_tokens all{width, width, ctx.config.family[groups]};
        return t.call(name, all, x).view({batch, heads, d, sequence});
    };
    const tensor q = project("query", q_groups).permute({0, 1, 3, 2}), k = project("key", k_groups);
    const tensor v = project("value", v_groups).permute({0, 1, 3, 2});
    const recorder::fused_kernel_guard fused{t, fused_attention_kernel(q, heads, ctx.inputs->pattern, sequence)};
    const tensor scores = t.div_scalar(t.call("matmul_qk", product_module{}, q, k));
    const tensor features =
        dropout(t, "dropout", t.call("softmax", softmax_module{}, scores), dropout_position::attention);
    const tensor mixed = t.call("matmul_qkv", product_module{}, features, v).permute({0, 1, 3, 2});
    return t.contiguous(mixed).view({batch, width, sequence});
}

/// A convolution, dropout, and a norm of the sum with what came in.
constexpr tensor convolve_and_norm(const layer_context& ctx, trace& t, literal name, std::int64_t in,
                                   family_config_index groups, const tensor& h, const tensor& x, role module_role) {
    const module_info block{.name = name, .class_of_module = {"", "ConvDropoutLayerNorm"}, .module_role = module_role};
    const std::int64_t width = ctx.config.hidden_size;
    t.enter(block);
    const tensor out =
        dropout(t, "dropout", t.call("conv1d", convolution_of_tokens{in, width, ctx.config.family[groups]}, h));
    return t.leave(block, t.call("layernorm", norm_of_channels{width}, t.add(out, x)));
}

constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t width = ctx.config.hidden_size, inner = ctx.config.intermediate_size;
    const tensor mixed = attention_token_mixer(ctx, t, x);
    const tensor a = convolve_and_norm(ctx, t, "post_attention", width, post_attention_groups, mixed, x, role::none);
    const module_info intermediate{.name = "intermediate",
                                   .class_of_module = {"", "ConvActivation"},
                                   .module_role = role::mlp,
                                   .continues_block = true};
    t.enter(intermediate);
    tensor h = t.call("conv1d", convolution_of_tokens{width, inner, ctx.config.family[intermediate_groups]}, a);
    h = t.leave(intermediate, t.call("act", activation_module{ctx.config.hidden_act}, h));
    return convolve_and_norm(ctx, t, "output", inner, output_groups, h, a, role::mlp);
}

/// Runs the encoder in a layout of channels before tokens.
constexpr tensor encode(const layer_context& ctx, trace& t) {
    make_padding_mask(t);
    const tensor x = ctx.spec.embed_tokens(ctx, t);
    const decoder_inputs shared = ctx.spec.prepare_inputs(ctx, t);
    const module_info encoder{.name = "encoder", .class_of_module = ctx.class_of("Encoder")};
    t.enter(encoder);
    return t.leave(encoder, forward_layers(ctx, t, shared, x.permute({0, 2, 1})).permute({0, 2, 1}));
}

constexpr tensor score(const layer_context& ctx, trace& t, const tensor_pair& out) {
    return forward_encoder_head(ctx, t, out, score_in_mlm_cls);
}

/// Every head has the pooler below it.
constexpr tensor forward(const layer_context& ctx, trace& t) {
    return forward_encoder_model(ctx, t, {score, ctx.spec.supported_heads});
}

constexpr void parse_config(config_view json, model_config& config) {
    parse_encoder_only(json, config);
    if (json.positive("embedding_size", 768) != config.hidden_size)
        throw_invalid_value(json, "embedding_size", "hidden_size");
    for (const family_config_index groups :
         {q_groups, k_groups, v_groups, post_attention_groups, intermediate_groups, output_groups}) {
        const bool inner = groups == intermediate_groups || groups == output_groups;
        if (config.hidden_size % config.family[groups] != 0 ||
            (inner && config.intermediate_size % config.family[groups] != 0))
            throw_invalid_value(json, family_keys[groups].key, "a divisor of the numbers of channels");
    }
}

}  // namespace squeezebert_detail

// transformers/models/squeezebert: BERT with grouped convolutions for projections
inline constexpr model_spec squeezebert = [](model_spec spec) {
    spec.model_type = "squeezebert";
    spec.class_prefix = "SqueezeBert";
    spec.forward = squeezebert_detail::forward;
    spec.parse_config = squeezebert_detail::parse_config;
    spec.family_keys = squeezebert_detail::family_keys;
    spec.base_model = squeezebert_detail::encode;
    spec.embed_tokens = squeezebert_detail::embed;
    spec.decoder_layer = squeezebert_detail::decoder_layer;
    spec.attention = squeezebert_detail::attention;
    spec.token_mixer = attention_token_mixer;
    spec.supported_heads = {head_kind::none,
                            head_kind::masked_lm,
                            head_kind::sequence_classification,
                            head_kind::token_classification,
                            head_kind::question_answering,
                            head_kind::multiple_choice};
    spec.names.base_model = "transformer";
    spec.names.layers = "layers";
    spec.names.layer_class = "Module";
    spec.names.attention = "attention";
    spec.names.attention_class = "SelfAttention";
    spec.defaults.head = head_kind::masked_lm;
    spec.dropout_keys = headless_encoder_dropout;
    return spec;
}(bert);

}  // namespace llmcost::arch
