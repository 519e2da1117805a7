// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/inkling.hpp>
#include <llmcost/config/keys.hpp>
#include <llmcost/forward/relative_local_attention.hpp>

namespace llmcost::arch {

namespace inkling2_detail {

enum family_config_index : std::uint8_t {
    local_heads,
    local_kv_heads,
    local_head_dim,
    relative_width,
    relative_extent,
    block_layers,
    unpadded_vocab_size,
    kernel,
    score
};

inline constexpr family_key family_keys[]{
    {"swa_num_attention_heads", 48, family_key_type::positive, tensor_parallel_split::sharded},
    {"swa_num_key_value_heads", 8, family_key_type::positive, tensor_parallel_split::sharded},
    {"swa_head_dim", 128},
    {"d_rel", 16},
    {"rel_extent", 1024},
    {"n_layers_per_attn_res_block", 6},
    {"unpadded_vocab_size", 200058},
    {.type = family_key_type::computed},  // of the short convolutions
    {.type = family_key_type::computed},  // the activation function that scores experts
};

// ---- block residuals: outputs of earlier layer blocks, read by later ones, (B, S, blocks, width)

constexpr tensor appended(trace& t, const tensor& blocks, const tensor& x) {
    return blocks.rank == 0 ? t.cat({x.unsqueeze(-2)}, -2) : t.cat({blocks, x.unsqueeze(-2)}, -2);
}

/// Attention of learned queries to the normed blocks and x at each position: (B, S, queries, width).
struct block_residual {
    layer_context ctx;
    std::int64_t queries = 1;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("BlockAttentionResidual"); }
    constexpr tensor forward(trace& t, const tensor& blocks, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size;
        const tensor query = t.float32_param("query", queries == 1 ? shape{width} : shape{queries, width});
        const tensor stacked = call_norm(t, "norm", norm_kind::rms_weightless, width, ctx.class_of("UnweightedRMSNorm"),
                                         t.to(appended(t, blocks, x), dtype::float32));
        const tensor query_states =
            t.to(query, dtype::float32).view({-1, width}).expand({x.dim(0), x.dim(1), queries, width});
        const tensor scaled = t.mul_scalar(query_states);
        return t.matmul(t.softmax(t.matmul(scaled, t.mul_scalar(stacked.transpose(-2, -1)))), stacked);
    }
};

/// The only query's answer, or one of several.
constexpr tensor answer(const tensor& answers) { return answers.select(-2); }

// ---- attention

/// Clips the norm of head vectors (B, S, heads, width), optionally followed by a learned scale per element.
struct length_clip {
    class_name named;
    bool scaled;

    static constexpr role module_role = role::norm;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        tensor h = t.to(x, dtype::float32);
        if (scaled) h = t.mul(h, t.to(t.param("scale", {x.dim(2), x.dim(3)}), dtype::float32));
        const tensor length = t.add_scalar(t.vector_norm(h, -1, true));
        const tensor factor = t.clamp_max(t.mul_scalar(t.reciprocal(length)));
        return t.to(t.mul(h, factor), x.type);
    }
};

constexpr tensor clipped(const layer_context& ctx, trace& t, literal name, const tensor& x, bool scaled = true) {
    return t.call(name, length_clip{ctx.class_of(scaled ? "ScaledL2Clip" : "L2Clip"), scaled}, x);
}

/// Each position's window of the last k along the last dimension (`Tensor.unfold`): (…, S + k − 1) -> (…, S, k).
constexpr tensor windows_of(trace& t, const tensor& x, std::int64_t k) {
    tensor v = x.unsqueeze(-1).expand([&] {
        shape to;
        to.rank = x.rank + 1;
        for (int i = 0; i < x.rank; ++i) to.size[i] = x.size[i];
        to.size[x.rank] = k;
        return to;
    }());
    v.stride[x.rank] = v.stride[x.rank - 1];
    v = t.slice_with_gradient(x, v.slice(-2, x.dim(-1) - k + 1));
    if (v.requires_grad) t.add_backward_cost({.add = count(v.numel)});  // windows lie over each other
    return v;
}

/// A causal convolution whose taps are per channel and, by head, made of other states for each token.
struct dynamic_convolution {
    std::int64_t heads;
    std::int64_t kernel_size;
    class_name named;

    static constexpr role module_role = role::mixer;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, const tensor& x, const tensor& weight_input) const {
        const std::int64_t batch = x.dim(0), sequence = x.dim(1), channels = x.dim(2), k = kernel_size;
        const tensor weight = t.to(t.param("static_weight", {k, channels}), dtype::float32);
        const tensor made =
            t.to(t.call("weight_proj", linear{weight_input.dim(-1), heads * k}, weight_input), dtype::float32);
        const tensor taps =
            t.add(weight.transpose(0, 1).view({heads, -1, k}), made.view({batch, sequence, heads, 1, k}));
        const tensor h = t.to(x, dtype::float32);
        const shape state{batch, channels, k};
        const bool follows = has_recurrent_state(t);
        cache_recurrent_state(t, state, false);
        if (!t.is_training() && !follows) t.add_region_edge(workload_axis::sequence, k);  // shorter ones are padded
        tensor all = h.transpose(1, 2);
        if (follows)
            all = t.cat({trace::buffer(state), all}, -1);
        else if (!t.is_training() && sequence < k)
            all = t.pad(all, -1, k - sequence);
        const tensor features = t.slice(t.pad(all, -1, k - 1), -1, sequence + k - 1);
        const tensor flipped_windows = t.clone(windows_of(t, features, k)).transpose(1, 2);  // `flip`
        const tensor windows = t.reshape(flipped_windows, {batch, sequence, heads, -1, k});
        const tensor mixed = t.reshape(t.sum(t.mul(windows, taps), -1), {batch, sequence, channels});
        return t.to(t.div_scalar(t.add(mixed, h)), x.type);
    }
};

/// Scores with biases of distance, and for each query one logit more, (B, heads, S, 1), which takes part in the softmax
/// only.
constexpr tensor attention_with_sinks(const layer_context& ctx, trace& t, const query_key_value& qkv,
                                      const tensor& bias, const tensor& sinks) {
    const attention_pattern& pattern = ctx.inputs->pattern;
    const recorder::fused_kernel_guard fused{
        t, fused_attention_kernel(qkv.query, qkv.key.dim(1), pattern, qkv.key.dim(2))};
    const std::int64_t groups = qkv.query.dim(1) / qkv.key.dim(1);
    const tensor family_keys = repeat_kv(t, qkv.key, groups), values = repeat_kv(t, qkv.value, groups);
    const bool sparse = t.load().attention == attention_scores::causal;
    const std::int64_t pairs = sparse ? pattern.visible_pairs() : 0;
    tensor scores = t.add(t.mul_scalar(t.matmul(qkv.query, family_keys.transpose(2, 3), pairs)), bias);
    if (!sparse) scores = t.add(scores, ctx.inputs->mask);
    const tensor all = t.softmax(t.to(t.cat({scores, sinks}, -1), dtype::float32));
    tensor weights = t.slice(all, -1, pattern.key_length());
    if (sparse) trace::set_visible_pairs(weights, pairs);
    weights = functional_dropout(t, t.to(weights, qkv.query.type), dropout_position::attention);
    const tensor mixed = t.contiguous(t.matmul(weights, values).transpose(1, 2));
    return t.reshape(mixed, {mixed.dim(0), mixed.dim(1), -1});
}

/// Attention whose queries, keys and values may read states of their own; those that see everything scale by how much.
struct attention_layer {
    layer_context ctx;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr bool slides() const { return ctx.layer.token_mixer == token_mixer_kind::sliding_attention; }
    [[nodiscard]] constexpr class_name type_name() const {
        return ctx.class_of(slides() ? "SlidingAttention" : "FullAttention");
    }
    constexpr tensor convolved(trace& t, literal name, const tensor& x, const tensor& weight_input,
                               std::int64_t groups) const {
        const std::int64_t k = ctx.config.family[kernel];
        if (!slides())
            return t.call(name, dynamic_convolution{groups, k, ctx.class_of("DynamicShortConvolution")}, x,
                          weight_input);
        return t.call(
            name,
            relative_local_attention::short_convolution{x.dim(-1), k, ctx.class_of("ShortConvolution"), false, true},
            x);
    }
    constexpr tensor forward(trace& t, const tensor& x, const tensor& for_keys, const tensor& for_values) const {
        const model_config& config = ctx.config;
        const std::int64_t batch = x.dim(0), sequence = x.dim(1);
        const std::int64_t heads = slides() ? config.family[local_heads] : config.num_attention_heads;
        const std::int64_t groups = slides() ? config.family[local_kv_heads] : config.num_key_value_heads;
        const std::int64_t d = slides() ? config.family[local_head_dim] : config.head_dim;
        query_key_value qkv;
        qkv.query = project(ctx, t, "q_proj", heads * d, x);
        qkv.key = convolved(t, "k_sconv", project(ctx, t, "k_proj", groups * d, for_keys), for_keys, groups);
        qkv.value = convolved(t, "v_sconv", project(ctx, t, "v_proj", groups * d, for_values), for_values, groups);
        tensor states = project(ctx, t, "r_proj", heads * config.family[relative_width], x);
        const tensor gate = project(ctx, t, "gate_proj", heads * d, x);
        const tensor sinks = project(ctx, t, "sink_proj", heads, x).transpose(1, 2).unsqueeze(-1);
        const tensor tau =
            slides() ? tensor{} : relative_local_attention::temperatures(t, sequence).view({1, sequence, 1, 1});
        const auto warmed = [&](const tensor& h) {
            return slides() ? h : t.to(t.mul(t.to(h, dtype::float32), tau), h.type);
        };
        for (tensor* const operand : {&qkv.query, &qkv.key, &qkv.value})
            *operand = operand->view({batch, sequence, -1, d});
        qkv.query = warmed(clipped(ctx, t, "q_l2_clip", qkv.query));
        qkv.key = clipped(ctx, t, "k_l2_clip", qkv.key, false);
        qkv.value = t.to(call_norm(t, "v_norm", norm_kind::rms_weightless, d, ctx.class_of("UnweightedRMSNorm"),
                                   t.to(qkv.value, dtype::float32)),
                         qkv.value.type);
        transpose_heads(qkv);
        states = warmed(clipped(ctx, t, "rel_l2_clip", states.view({batch, sequence, heads, -1})));
        update_kv_cache(ctx, t, qkv);
        for (int i = 0; i < 2 && !t.is_training(); ++i)
            t.add_to_cache(trace::buffer({batch, groups * d, config.family[kernel]}));
        const std::int64_t extent = slides() ? config.sliding_window : config.family[relative_extent];
        const relative_local_attention::relative_logits by_distance{extent, ctx.class_of("RelativeLogits")};
        const tensor bias = t.call("rel_logits_proj", by_distance, states, qkv.key.dim(2));
        const tensor found = attention_with_sinks(ctx, t, qkv, bias, sinks);
        const tensor float_found = t.to(found, dtype::float32);
        const tensor opened = t.mul(float_found, t.sigmoid(t.to(gate, dtype::float32)));
        return output_projection(ctx, t, t.to(opened, found.type));
    }
};

// ---- experts

/// tanh(x / cap) · cap.
struct soft_cap {
    class_name named;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, const tensor& x) const { return t.mul_scalar(t.tanh(t.div_scalar(x))); }
};

/// SwiGLU whose factors are capped outside of the sigmoid.
struct capped_swiglu {
    literal prefix;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return {prefix, "SoftcappedSwiGLU"}; }
    constexpr tensor forward(trace& t, const tensor& gate, const tensor& up) const {
        const soft_cap cap{{prefix, "Softcap"}};
        const tensor g = t.to(gate, dtype::float32), u = t.to(up, dtype::float32);
        const tensor capped = t.call("gate_softcap", cap, g);
        const tensor opened = t.mul(capped, t.sigmoid(g));
        return t.to(t.mul(opened, t.call("up_softcap", cap, u)), gate.type);
    }
};

struct top_k_router {
    layer_context ctx;

    static constexpr role module_role = role::router;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("TopKRouter"); }
    constexpr tensor forward(trace& t, const tensor& tokens) const {
        const moe_config& moe = ctx.config.moe;
        const tensor weight = t.float32_param("weight", {moe.num_experts, ctx.config.hidden_size});
        const tensor logits = t.linear(t.to(tokens, dtype::float32), weight);
        const tensor scores =
            t.call("score_fn", activation_module{static_cast<activation>(ctx.config.family[score])}, logits);
        {
            const recorder::detach_guard indices{t};
            (void)t.topk(t.add(scores, correction_bias(t, moe.num_experts)), moe.num_experts_per_tok);
        }
        const tensor picked = t.gather_with_saved_source(scores, {tokens.dim(0), moe.num_experts_per_tok});
        return t.mul_scalar(t.div(picked, t.add_scalar(t.sum(picked, -1, true))));
    }
};

constexpr tensor sparse_moe_block(const layer_context& ctx, trace& t, const tensor& x) {
    const moe_config& moe = ctx.config.moe;
    const tensor tokens = x.view({-1, ctx.config.hidden_size});
    // the reference declares the experts before the router and calls them after it
    const tensor weights = t.call("gate", top_k_router{ctx}, tokens);
    const routed_experts_base all{ctx.config.hidden_size,  moe.intermediate_size, moe.num_experts,
                                  moe.num_experts_per_tok, ctx.config.hidden_act, ctx.class_of("Experts")};
    const auto gate = [prefix = all.named.prefix](trace& tracer, const tensor& gate_up) {
        const tensor half = gate_up.slice(-1, gate_up.dim(-1) / 2);
        return tracer.call("act_fn", capped_swiglu{prefix}, half, half);
    };
    return t.call("experts", with_custom_gate<false>(all, gate), tokens, weights)
        .view({x.dim(0), x.dim(1), ctx.config.hidden_size});
}

// ---- layers

struct decoder_block {
    layer_context ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr bool slides() const { return ctx.layer.token_mixer == token_mixer_kind::sliding_attention; }
    [[nodiscard]] constexpr class_name type_name() const {
        return ctx.class_of(slides() ? "SlidingDecoderLayer" : "FullDecoderLayer");
    }
    constexpr tensor attended(trace& t, const tensor& blocks, const tensor& x) const {
        const tensor all = ctx.layer_index > 0
                               ? t.call("attention_input", block_residual{ctx, slides() ? 1 : 3}, blocks, x)
                               : tensor{};
        const tensor h = ctx.layer_index > 0 ? answer(all) : x;
        const auto in = [&](literal name) { return t.to(apply_norm(ctx, t, name, h), x.type); };
        if (slides()) {
            const tensor normed_states = in("input_layernorm");
            return t.call("self_attn", attention_layer{ctx}, normed_states, normed_states, normed_states);
        }
        const tensor q = in("q_input_layernorm"), k = in("k_input_layernorm"), v = in("v_input_layernorm");
        return t.call("self_attn", attention_layer{ctx}, q, k, v);
    }
    constexpr tensor convolved(trace& t, literal name, const tensor& x) const {
        const class_name named = ctx.class_of("ShortConvolution");
        return t.call(
            name, relative_local_attention::short_convolution{x.dim(-1), ctx.config.family[kernel], named, true, true},
            x);
    }
    constexpr tensor forward(trace& t, const tensor& blocks, const tensor& x) const {
        const bool begins = ctx.layer_index % ctx.config.family[block_layers] == 0;
        tensor h = t.to(convolved(t, "post_attention_convolution", attended(t, blocks, x)), dtype::float32);
        if (!begins) h = t.add(t.to(x, dtype::float32), h);
        const tensor features = begins ? appended(t, blocks, x) : blocks;
        const tensor in = answer(t.call("mlp_input", block_residual{ctx}, features, h));
        const tensor mixed = t.call("mlp", custom_moe_module{ctx, sparse_moe_block},
                                    t.to(apply_norm(ctx, t, "post_attention_layernorm", in), x.type));
        return t.to(t.add(h, convolved(t, "post_mlp_convolution", mixed)), x.type);
    }
};

/// Traces the first layer of each block separately, because all later layers read its input.
constexpr tensor base(const layer_context& ctx, trace& t) {
    const model_config& config = ctx.config;
    tensor x = ctx.spec.embed_tokens(ctx, t), blocks;
    const decoder_inputs shared = ctx.spec.prepare_inputs(ctx, t);
    const dtype type = x.type;
    const auto begins = [&](std::int64_t layer) { return layer % config.family[block_layers] == 0; };
    for (std::int64_t layer = 0, end = 0; layer < config.num_hidden_layers; layer = end) {
        const layer_spec kind = config.layers[layer];
        for (end = layer + 1;
             end < config.num_hidden_layers && !begins(layer) && !begins(end) && config.layers[end] == kind;)
            ++end;
        const tensor block_input = x;
        for (loop layer_loop = t.loop_modules(end - layer, x, layer); layer_loop.next();) {
            const layer_context place{ctx.model, ctx.spec, config, &shared.for_layer(kind), kind, layer_loop.index()};
            x = t.call({"layers", layer_loop.index()}, decoder_block{place}, blocks, x);
        }
        if (begins(layer)) blocks = appended(t, blocks, block_input);
    }
    x = answer(t.call("final_input", block_residual{ctx}, blocks, x));
    return t.to(apply_norm(ctx, t, "norm", x), type);
}

constexpr tensor process_logits(const layer_context& ctx, trace& t, const tensor& scores) {
    const std::int64_t num_logits = ctx.config.family[unpadded_vocab_size];
    const tensor capped = t.call("logit_softcap", soft_cap{ctx.class_of("Softcap")}, t.to(scores, dtype::float32));
    return num_logits < capped.dim(-1) ? t.slice(capped, -1, num_logits) : capped;
}

constexpr void parse_config(config_view json, model_config& config) {
    config.tie_word_embeddings = false;  // the reference ties none
    parse_experts(json, config, json.contains("num_local_experts") ? "num_local_experts" : "n_routed_experts");
    validate_experts(json, config);
    config.moe.intermediate_size = config.intermediate_size;
    config.family[kernel] =
        json.positive(json.contains("sconv_kernel_size") ? "sconv_kernel_size" : "conv_kernel_size", 4);
    const auto scored = json.find("scoring_func");
    config.family[score] = static_cast<std::int64_t>(
        scored ? activation_named(json, "scoring_func", scored->as_string()) : activation::sigmoid);
    const auto types = json.optional_array("layer_types");
    if (types && static_cast<std::int64_t>(types->size()) != config.num_hidden_layers)
        throw_invalid_value(json, "layer_types", "a list with one kind per hidden layer");
    set_layers(json, config, [&](std::int64_t i) {
        const string_ref name = types ? (*types)[static_cast<std::uint32_t>(i)].as_string() : string_ref{};
        if (types && name != "hybrid_sliding" && name != "hybrid")
            throw_unsupported(json, "layer_types", "unsupported layer type");
        const bool slides = types ? name == "hybrid_sliding" : (i + 1) % 6 != 0;
        return layer_spec{slides ? token_mixer_kind::sliding_attention : token_mixer_kind::full_attention, true};
    });
    relative_local_attention::check_local_heads(json, config, config.family[local_heads], config.family[local_kv_heads],
                                                config.family[local_head_dim], config.family[relative_width]);
}

}  // namespace inkling2_detail

// transformers/models/inkling2: the text model; layers read what blocks of layers left by an attention of learned
// queries
inline constexpr model_spec inkling2_text = [](model_spec spec) {
    spec.model_type = "inkling2_text";
    spec.class_prefix = "Inkling2";
    spec.parse_config = inkling2_detail::parse_config;
    spec.family_keys = inkling2_detail::family_keys;
    spec.forward = forward_decoder;
    spec.base_model = inkling2_detail::base;
    spec.process_logits = inkling2_detail::process_logits;
    spec.norm = norm_kind::rms_cast_last;
    spec.names.moe_class = "SparseMoeBlock";
    spec.config_keys.add("intermediate_size", "moe_intermediate_size", key_rule::standard_name_first);
    spec.defaults.hidden_size = 4608;
    spec.defaults.intermediate_size = 2304;
    spec.defaults.num_hidden_layers = 48;
    spec.defaults.num_attention_heads = 48;
    spec.defaults.max_position_embeddings = 1048576;
    spec.defaults.sliding_window = 1024;
    spec.defaults.moe = {.num_experts = 384, .num_experts_per_tok = 8};
    return spec;
}(inkling_text);

}  // namespace llmcost::arch
