// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/experts.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/decoder.hpp>
#include <llmcost/forward/relative_local_attention.hpp>
#include <llmcost/layers/causal_convolution.hpp>

namespace llmcost::arch {

namespace inkling_detail {

using relative_local_attention::check_local_heads, relative_local_attention::kernel,
    relative_local_attention::local_head_dim, relative_local_attention::local_heads,
    relative_local_attention::local_kv_heads, relative_local_attention::relative_extent,
    relative_local_attention::relative_logits, relative_local_attention::relative_width,
    relative_local_attention::scales_by_length, relative_local_attention::shared_experts,
    relative_local_attention::short_convolution, relative_local_attention::temperatures,
    relative_local_attention::unpadded_vocab_size;

inline constexpr family_key family_keys[]{
    {"swa_num_attention_heads", 64, family_key_type::positive, tensor_parallel_split::sharded},
    {"swa_num_key_value_heads", 16, family_key_type::positive, tensor_parallel_split::sharded},
    {"swa_head_dim", 128},
    {"d_rel", 16},
    {"rel_extent", 1024},
    {.type = family_key_type::computed},  // of the short convolutions
    {"n_shared_experts", 2},
    {.type = family_key_type::computed},  // unpadded vocabulary size of the head; 0: all
    {.type = family_key_type::computed},  // queries of layers that see everything are scaled by how much there is
};

constexpr tensor convolve(const layer_context& ctx, trace& t, literal name, const tensor& x,
                          bool has_own_cache_entry = true) {
    return t.call(
        name,
        short_convolution{x.dim(-1), ctx.config.family[kernel], ctx.class_of("ShortConvolution"), has_own_cache_entry},
        x);
}

/// Keys and values through short convolutions, positions as biases of distance; windows have heads of their own.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const model_config& config = ctx.config;
    const bool slides = ctx.layer.token_mixer == token_mixer_kind::sliding_attention;
    const std::int64_t batch = x.dim(0), sequence = x.dim(1);
    const std::int64_t heads = slides ? config.family[local_heads] : config.num_attention_heads;
    const std::int64_t groups = slides ? config.family[local_kv_heads] : config.num_key_value_heads;
    const std::int64_t d = slides ? config.family[local_head_dim] : config.head_dim;
    query_key_value qkv;
    qkv.query = project(ctx, t, "q_proj", heads * d, x);
    qkv.key = convolve(ctx, t, "k_sconv", project(ctx, t, "k_proj", groups * d, x), false);
    qkv.value = convolve(ctx, t, "v_sconv", project(ctx, t, "v_proj", groups * d, x), false);
    const tensor states = project(ctx, t, "r_proj", heads * config.family[relative_width], x);
    for (tensor* const operand : {&qkv.query, &qkv.key, &qkv.value}) *operand = operand->view({batch, sequence, -1, d});
    apply_qk_norm(ctx, t, qkv, d, d);
    transpose_heads(qkv);
    update_kv_cache(ctx, t, qkv);
    for (int i = 0; i < 2 && !t.is_training(); ++i)
        t.add_to_cache(trace::buffer({batch, groups * d, config.family[kernel]}));
    const relative_logits by_distance{slides ? config.sliding_window : config.family[relative_extent],
                                      ctx.class_of("RelativeLogits")};
    tensor bias = t.call("rel_logits_proj", by_distance, states.view({batch, sequence, heads, -1}), qkv.key.dim(2));
    if (!slides && config.family[scales_by_length]) {
        const tensor tau = temperatures(t, sequence);
        qkv.query = t.to(t.mul(t.to(qkv.query, dtype::float32), tau), qkv.query.type);
        bias = t.to(t.mul(t.to(bias, dtype::float32), tau), bias.type);
    }
    return output_projection(ctx, t, scaled_dot_product_attention(ctx, t, qkv, {.bias = &bias}));
}

/// Weights of the picked experts (n, k) and of the shared ones (n, shared), from one softmax over the logs of their
/// sigmoids.
constexpr tensor_pair route(const layer_context& ctx, trace& t, const tensor& tokens) {
    const moe_config& moe = ctx.config.moe;
    const std::int64_t shared = ctx.config.family[shared_experts], k = moe.num_experts_per_tok, n = tokens.dim(0);
    const module_info gate{
        .name = "gate", .class_of_module = ctx.class_of("TopkRouter"), .module_role = role::router, .is_leaf = true};
    t.enter(gate);
    const tensor weight = t.param("weight", {moe.num_experts + shared, ctx.config.hidden_size});
    const tensor scale = t.float32_param("global_scale", {1});
    const tensor float_tokens = t.to(tokens, dtype::float32);
    const tensor logits = t.linear(float_tokens, t.to(weight, dtype::float32));
    {
        const recorder::detach_guard indices{t};
        const tensor scores = t.sigmoid(logits).slice(-1, moe.num_experts);
        (void)t.topk(t.add(scores, correction_bias(t, moe.num_experts)), k);
    }
    const tensor routed = t.slice(logits, -1, moe.num_experts);
    const tensor picked = t.cat({t.gather_with_saved_source(routed, {n, k}), t.slice(logits, -1, shared)}, -1);
    const tensor logs = t.log_sigmoid(picked);
    tensor weights = t.exp(t.sub(logs, t.logsumexp(logs, -1, true)));
    weights = t.mul_scalar(weights);
    weights = t.to(t.mul(weights, t.to(scale, dtype::float32)), tokens.type);
    const tensor_pair out{t.contiguous(t.slice(weights, -1, k)), t.contiguous(t.slice(weights, -1, shared))};
    t.record_module_output(routed);
    t.record_module_output(out);
    t.leave(gate);
    return out;
}

/// The shared experts in one batch over all tokens, each weighed by its gammas (n, shared).
struct shared_block {
    layer_context ctx;

    static constexpr role module_role = role::mlp;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("SharedExperts"); }
    constexpr tensor forward(trace& t, const tensor& x, const tensor& gammas) const {
        const std::int64_t n = ctx.config.family[shared_experts], width = ctx.config.hidden_size;
        const std::int64_t inner = ctx.config.moe.intermediate_size, tokens = x.dim(0) * x.dim(1);
        const tensor gate = t.param("gate_proj", {n, inner, width}), up = t.param("up_proj", {n, inner, width});
        const tensor down = t.param("down_proj", {n, width, inner});
        const tensor all = t.reshape(x, {1, -1, width}).expand({n, tokens, width});
        const tensor g = t.bmm(all, gate.transpose(1, 2)), u = t.bmm(all, up.transpose(1, 2));
        const tensor gated = t.mul(t.call("act_fn", activation_module{ctx.config.hidden_act}, g), u);
        const tensor weighed = t.mul(gated, gammas.view({tokens, n, 1}).transpose(0, 1));
        const tensor out = t.bmm(weighed, down.transpose(1, 2));
        return t.to(t.sum(t.to(out, dtype::float32), 0), x.type).view({x.dim(0), x.dim(1), width});
    }
};

constexpr tensor sparse_moe_block(const layer_context& ctx, trace& t, const tensor& x) {
    const tensor tokens = x.view({-1, ctx.config.hidden_size});
    const tensor_pair weights = route(ctx, t, tokens);
    const tensor routed =
        call_experts(ctx, t, tokens, weights.first).view({x.dim(0), x.dim(1), ctx.config.hidden_size});
    return t.add(routed, t.call("shared_experts", shared_block{ctx}, x, weights.second));
}

/// A dense block is scaled by a number that is learned.
struct dense_block {
    layer_context ctx;

    static constexpr role module_role = role::mlp;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("MLP"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const model_config& config = ctx.config;
        const tensor scale = t.param("global_scale", {1});
        const mlp_module block{mlp_kind::gated, config.hidden_size, config.intermediate_size, config.hidden_act,
                               type_name()};
        return t.mul(block.forward(t, x), scale);
    }
};

constexpr tensor mlp(const layer_context& ctx, trace& t, const tensor& x) {
    return ctx.layer.has_experts ? t.call("mlp", custom_moe_module{ctx, sparse_moe_block}, x)
                                 : t.call("mlp", dense_block{ctx}, x);
}

/// Each block's output passes a short convolution.
constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    tensor h = mix_tokens(ctx, t, apply_norm(ctx, t, "input_layernorm", x));
    const tensor middle = t.add(x, convolve(ctx, t, "attn_sconv", h));
    h = ctx.spec.mlp(ctx, t, apply_norm(ctx, t, "post_attention_layernorm", middle));
    return t.add(middle, convolve(ctx, t, "mlp_sconv", h));
}

/// Words are normed inside of their module.
constexpr tensor embed(const layer_context& ctx, trace& t) {
    const std::int64_t width = ctx.config.hidden_size;
    const module_info embedding_module{
        .name = "embed_tokens", .class_of_module = ctx.class_of("NormedEmbedding"), .module_role = role::embedding};
    t.enter(embedding_module);
    const tensor found =
        t.gather(t.param("weight", {ctx.config.vocab_size, width}), {t.load().batch, t.load().sequence, width});
    return t.leave(embedding_module, apply_norm(ctx, t, "embed_norm", found));
}

/// Hidden states are divided by a constant before the language model's head.
constexpr tensor forward(const layer_context& ctx, trace& t) {
    if (ctx.config.head == head_kind::none) return forward_decoder(ctx, t);
    const module_info model_info{.class_of_module = ctx.class_of("ForCausalLM")};
    t.enter(model_info);
    const tensor x = forward_in_module({.name = "model", .class_of_module = ctx.class_of(ctx.spec.names.model_class)},
                                       ctx.spec.base_model, ctx, t);
    const recorder::not_executed_guard unused{t, t.load().head == logits::none};
    return t.leave(model_info, t.select_model_output(x, forward_head(ctx, t, t.div_scalar(x))));
}

constexpr tensor process_logits(const layer_context& ctx, trace& t, const tensor& scores) {
    const std::int64_t num_logits = ctx.config.family[unpadded_vocab_size];
    return num_logits == 0 ? scores : t.slice(scores, -1, num_logits);
}

/// Layers with windows by a list of their numbers, else all but every sixth.
constexpr void plan(config_view json, model_config& config, const sparse_layer_selection& experts) {
    const auto types = json.optional_array("layer_types");
    if (types && static_cast<std::int64_t>(types->size()) != config.num_hidden_layers)
        throw_invalid_value(json, "layer_types", "a list with one kind per hidden layer");
    const auto list = json.optional_array("local_layer_ids");
    const layer_set local = list ? layer_set(*list) : layer_set{};
    set_layers(json, config, [&](std::int64_t i) {
        bool slides = list ? local.has(i) : (i + 1) % 6 != 0;
        if (types) {
            const string_ref name = (*types)[static_cast<std::uint32_t>(i)].as_string();
            slides = name == "hybrid_sliding";
            if (!slides && name != "hybrid") throw_unsupported(json, "layer_types", "unsupported layer type");
        }
        return layer_spec{slides ? token_mixer_kind::sliding_attention : token_mixer_kind::full_attention,
                          experts.has(i)};
    });
}

constexpr void parse_config(config_view json, model_config& config) {
    config.tie_word_embeddings = false;  // the reference ties none
    parse_experts(json, config, json.contains("num_local_experts") ? "num_local_experts" : "n_routed_experts");
    validate_experts(json, config);
    if (const auto dense = json.optional_positive("dense_intermediate_size")) {
        config.moe.intermediate_size = config.intermediate_size;
        config.intermediate_size = *dense;
    }
    config.family[kernel] =
        json.positive(json.contains("sconv_kernel_size") ? "sconv_kernel_size" : "conv_kernel_size", 4);
    const std::int64_t num_logits = json.optional_positive("unpadded_vocab_size").value_or(0);
    config.family[unpadded_vocab_size] = num_logits < config.vocab_size ? num_logits : 0;
    config.family[scales_by_length] = json.optional_positive("log_scaling_n_floor").has_value();
    plan(json, config, sparse_layer_selection(json, config, json.non_negative("dense_mlp_idx", 0)));
    check_local_heads(json, config, config.family[local_heads], config.family[local_kv_heads],
                      config.family[local_head_dim], config.family[relative_width]);
}

}  // namespace inkling_detail

// transformers/models/inkling: the text model; biases of distance, short convolutions, shared experts that are routed
// too
inline constexpr model_spec inkling_text = [](model_spec spec) {
    spec.model_type = "inkling_text";
    spec.class_prefix = "Inkling";
    spec.parse_config = inkling_detail::parse_config;
    spec.family_keys = inkling_detail::family_keys;
    spec.forward = inkling_detail::forward;
    spec.embed_tokens = inkling_detail::embed;
    spec.decoder_layer = inkling_detail::decoder_layer;
    spec.attention = inkling_detail::attention;
    spec.mlp = inkling_detail::mlp;
    spec.process_logits = inkling_detail::process_logits;
    spec.rotary = rotary_style::none;
    spec.mask_policy = mask_kind::full_and_sliding;
    spec.supported_heads = language_heads;
    spec.names.model_class = "TextModel";
    spec.names.moe_class = "MoE";
    spec.config_keys.add("attention_bias", key_rule::absent);
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.config_keys.add("sliding_window", "sliding_window_size", key_rule::standard_name_first);
    spec.config_keys.add("max_position_embeddings", "model_max_length", key_rule::standard_name_first);
    spec.defaults.vocab_size = 201024;
    spec.defaults.hidden_size = 6144;
    spec.defaults.intermediate_size = 24576;
    spec.defaults.num_hidden_layers = 66;
    spec.defaults.num_attention_heads = 64;
    spec.defaults.num_key_value_heads = 8;
    spec.defaults.head_dim = 128;
    spec.defaults.max_position_embeddings = 131072;
    spec.defaults.sliding_window = 512;
    spec.defaults.moe = {.num_experts = 256, .num_experts_per_tok = 6, .intermediate_size = 3072};
    return spec;
}(default_decoder);

}  // namespace llmcost::arch
