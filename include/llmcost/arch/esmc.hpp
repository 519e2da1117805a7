// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/config/encoder.hpp>
#include <llmcost/forward/encoder_model.hpp>

// ESM C. Derived from Llama, with these differences:
//  - bidirectional attention;
//  - layer norms, also of queries and keys;
//  - scaled residuals.
//
// Source: transformers/models/esmc

namespace llmcost::arch {

namespace esmc_detail {

/// `nn.LayerNorm` under the family's class name.
constexpr tensor call_norm(const layer_context& ctx, trace& t, literal name, const tensor& x, bool bias) {
    return t.call(name, norm_module{norm_kind::layer, x.dim(-1), ctx.class_of("LayerNorm"), true, bias}, x);
}

/// Bidirectional self-attention. Norms of queries and keys cover all heads and have no bias.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t width = ctx.config.hidden_size;
    query_key_value qkv;
    qkv.query = call_norm(ctx, t, "q_norm", project(ctx, t, "q_proj", width, x), false);
    qkv.key = call_norm(ctx, t, "k_norm", project(ctx, t, "k_proj", width, x), false);
    qkv.value = project(ctx, t, "v_proj", width, x);
    return output_projection(ctx, t, local_attention(ctx, t, qkv, false));
}

/// Decoder layer. The output of each block is divided by a constant.
constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    tensor h = attention_token_mixer(ctx, t, call_norm(ctx, t, "input_layernorm", x, true));
    const tensor middle = t.add(x, t.div_scalar(h));
    h = ctx.spec.mlp(ctx, t, call_norm(ctx, t, "post_attention_layernorm", middle, true));
    return t.add(middle, t.div_scalar(h));
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    const tensor x = ctx.spec.embed_tokens(ctx, t);
    const decoder_inputs shared = ctx.spec.prepare_inputs(ctx, t);
    return call_norm(ctx, t, "norm", forward_layers(ctx, t, shared, x), false);
}

constexpr tensor score(const layer_context& ctx, trace& t, const tensor_pair& out) {
    const model_config& config = ctx.config;
    const std::int64_t width = config.hidden_size;
    if (config.head == head_kind::sequence_classification) return classify_first_state(ctx, t, out.first);
    if (config.head == head_kind::token_classification)
        return t.call("score", head_linear{{width, config.num_labels, true}}, dropout(t, "dropout", out.first));
    const module_info lm_head{
        .name = "lm_head", .class_of_module = ctx.class_of("MaskedLMHead"), .module_role = role::head};
    t.enter(lm_head);
    tensor h = t.call("dense", linear{width, width, true}, logits_to_keep(t, out.first));
    h = t.call("layer_norm", norm_module{norm_kind::layer, width}, activate(t, activation::gelu, h));
    return t.leave(lm_head, t.call("decoder", linear{width, config.vocab_size, true}, h));
}
constexpr tensor forward(const layer_context& ctx, trace& t) { return forward_encoder_model(ctx, t, {.score = score}); }

constexpr void parse_config(config_view json, model_config& config) {
    if (config.num_key_value_heads != config.num_attention_heads)
        throw_invalid_value(json, "num_key_value_heads", "num_attention_heads");
    if (config.hidden_size % config.num_attention_heads != 0)
        throw_invalid_value(json, "num_attention_heads", "a divisor of hidden_size");
    if (config.head_dim * config.num_attention_heads != config.hidden_size)
        throw_invalid_value(json, "head_dim", "hidden_size / num_attention_heads");
    config.sliding_window = 0;
    config.tie_word_embeddings = false;  // modeling_esmc.py declares no tied weights
}

}  // namespace esmc_detail

inline constexpr model_spec esmc = [](model_spec spec) {
    spec.model_type = "esmc";
    spec.class_prefix = "Esmc";
    spec.forward = esmc_detail::forward;
    spec.parse_config = esmc_detail::parse_config;
    spec.base_model = esmc_detail::base;
    spec.prepare_inputs = bidirectional_with_rotary;
    spec.decoder_layer = esmc_detail::decoder_layer;
    spec.attention = esmc_detail::attention;
    spec.has_float32_masked_lm_loss = true;
    spec.supported_heads = {head_kind::none, head_kind::masked_lm, head_kind::sequence_classification,
                            head_kind::token_classification};
    spec.names.base_model = "esmc";
    spec.names.layer_class = "Layer";
    spec.defaults.vocab_size = 64;
    spec.defaults.hidden_size = 2560;
    spec.defaults.intermediate_size = 6912;
    spec.defaults.num_hidden_layers = 80;
    spec.defaults.num_attention_heads = 40;
    spec.defaults.head = head_kind::masked_lm;
    return spec;
}(llama);

}  // namespace llmcost::arch
