// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/reader.hpp>
#include <llmcost/forward/decoder.hpp>
#include <llmcost/layers/conv_1d.hpp>

namespace llmcost::arch {

namespace openai_detail {

/// Layer flag of the first layer. The activation is one module for all layers, created once per file, and the trace
/// names it in the first layer (modeling_openai.py, `ACT_FNS`).
inline constexpr std::uint8_t has_activation = 1;

/// Calls the activation module of all layers, whose cost belongs to its path in the first layer.
///
/// In training, each layer executes its own activation: backward has the order of the forward pass.
constexpr tensor call_shared_activation(const layer_context& ctx, trace& t, tensor x) {
    const activation_module act{ctx.config.hidden_act};
    if (t.is_training()) return t.call("act", act, x);
    for (loop layer_loop = t.loop_calls(ctx.config.num_hidden_layers, x); layer_loop.next();) x = t.call("act", act, x);
    return x;
}

/// Scores times a table of ones and zeros, and a low number where there are zeros.
constexpr tensor masked_attention(const layer_context& ctx, trace& t, const query_key_value& qkv) {
    const attention_pattern& pattern = ctx.inputs->pattern;
    const std::int64_t sequence = qkv.query.dim(2);
    const recorder::fused_kernel_guard fused{
        t, fused_attention_kernel(qkv.query, qkv.key.dim(1), pattern, qkv.key.dim(2))};
    const bool sparse = t.load().attention == attention_scores::causal;
    tensor scores = t.div_scalar(t.matmul(qkv.query, qkv.key.transpose(2, 3), sparse ? pattern.visible_pairs() : 0));
    if (!sparse) {
        tensor table = trace::buffer({1, 1, sequence, sequence});
        table.type = t.activation_type();  // under autocast, the float32 table makes the scores float32
        const tensor features = t.mul(scores, table);
        scores = t.add(features, t.mul_scalar(t.add_scalar(table)));
    }
    const tensor probabilities = dropout(t, "attn_dropout", t.softmax(scores), dropout_position::attention);
    return t.contiguous(t.matmul(probabilities, qkv.value).transpose(1, 2));
}

constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t width = ctx.config.hidden_size, batch = x.dim(0), sequence = x.dim(1);
    t.register_buffer({ctx.config.max_position_embeddings, ctx.config.max_position_embeddings},
                      t.activation_type());  // `bias`
    const tensor all = t.call("c_attn", conv_1d{width, 3 * width}, x);
    const tensor part = all.slice(-1, width).view({batch, sequence, -1, ctx.config.head_dim}).transpose(1, 2);
    const tensor flat = masked_attention(ctx, t, {part, part, part}).view({batch, sequence, width});
    return dropout(t, "resid_dropout", t.call("c_proj", conv_1d{width, width}, flat));
}

constexpr tensor mlp(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t width = ctx.config.hidden_size, inner = ctx.config.intermediate_size;
    tensor h = t.call("c_fc", conv_1d{width, inner}, x);
    if (ctx.layer.family_tag == has_activation)
        h = call_shared_activation(ctx, t, h);
    else if (t.is_training())
        h = activate(t, ctx.config.hidden_act, h);
    return dropout(t, "dropout", t.call("c_proj", conv_1d{inner, width}, h));
}

/// Norms follow the residual sums; classes of this family's parts have no prefix.
constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const module_info attention{.name = "attn", .class_of_module = {"", "Attention"}, .module_role = role::attn};
    const module_info block{.name = "mlp", .class_of_module = {"", "MLP"}, .module_role = role::mlp};
    t.enter(attention);
    const tensor a = t.leave(attention, openai_detail::attention(ctx, t, x));
    t.record_module_input(a);  // the variables `attn_outputs` and `a` of the layer's forward
    const tensor middle = apply_norm(ctx, t, "ln_1", t.add(x, a));
    t.enter(block);
    const tensor f = t.leave(block, mlp(ctx, t, middle));
    return apply_norm(ctx, t, "ln_2", t.add(middle, f));
}

/// Words, learned positions, and the zero of segments that there are none of; no cache, so that positions begin anew.
constexpr tensor base(const layer_context& ctx, trace& t) {
    const workload& load = t.load();
    const std::int64_t max_positions = ctx.config.max_position_embeddings;
    t.register_integer_buffer(max_positions);  // `position_ids`
    const tensor token_embeddings = embed_tokens(ctx, t);
    t.check_positions(max_positions, load.sequence);
    const tensor places =
        t.call("positions_embed", embedding{max_positions, ctx.config.hidden_size}, shape{1, load.sequence});
    // the variables `inputs_embeds` and `position_embeds` of the model's forward
    t.record_module_input(token_embeddings);
    t.record_module_input(places);
    tensor x = dropout(t, "drop", t.add_scalar(t.add(token_embeddings, places)), dropout_position::embeddings);
    attention_inputs shared{.pattern = {.query_length = load.sequence}};
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, ctx.config.layers, x); layer_loop.next();) {
        const module_info model_info{.name = "h", .index = layer_loop.index(), .class_of_module = {"", "Block"}};
        t.enter(model_info);
        x = t.leave(model_info, decoder_layer(ctx.for_layer(layer_loop, shared), t, x));
    }
    return x;
}

constexpr void parse_config(config_view json, model_config& config) {
    divide_by_heads(json, config, {"n_head", "num_attention_heads"});
    config.intermediate_size = 4 * config.hidden_size;
    const string_ref name = json.string("afn", "gelu");
    if (name == "gelu")
        config.hidden_act = activation::gelu_new;
    else if (name == "relu")
        config.hidden_act = activation::relu;
    else if (name == "silu" || name == "swish")
        config.hidden_act = activation::silu;
    else
        throw_unsupported(json, "afn", "unsupported activation function");
    set_layers(json, config,
               [](std::int64_t i) { return layer_spec{.family_tag = i == 0 ? has_activation : std::uint8_t{}}; });
}

inline constexpr dropout_key dropout_rates[]{{dropout_position::hidden, "resid_pdrop", 0.1},
                                             {dropout_position::embeddings, "embd_pdrop", 0.1},
                                             {dropout_position::attention, "attn_pdrop", 0.1}};

}  // namespace openai_detail

// transformers/models/openai: configuration_openai.py, modeling_openai.py; norms after residual sums, no KV cache
inline constexpr model_spec openai_gpt = [](model_spec spec) {
    spec.model_type = "openai-gpt";
    spec.class_prefix = "OpenAIGPT";
    spec.parse_config = openai_detail::parse_config;
    spec.base_model = openai_detail::base;
    spec.supported_layers.max_family_tag = openai_detail::has_activation;
    spec.supported_heads = {head_kind::none, head_kind::causal_lm, head_kind::sequence_classification};
    spec.norm = norm_kind::layer;
    spec.rotary = rotary_style::none;
    spec.names.base_model = "transformer";
    spec.names.causal_lm_class = "LMHeadModel";
    spec.names.embed_tokens = "tokens_embed";
    spec.config_keys.add("hidden_size", "n_embd", key_rule::standard_name_first);
    spec.config_keys.add("max_position_embeddings", "n_positions", key_rule::standard_name_first);
    spec.config_keys.add("num_attention_heads", "n_head", key_rule::standard_name_first);
    spec.config_keys.add("num_hidden_layers", "n_layer", key_rule::standard_name_first);
    spec.config_keys.add("hidden_act", key_rule::absent);
    spec.defaults.vocab_size = 40478;
    spec.defaults.hidden_size = 768;
    spec.defaults.num_hidden_layers = 12;
    spec.defaults.num_attention_heads = 12;
    spec.defaults.max_position_embeddings = 512;
    spec.defaults.tie_word_embeddings = true;
    spec.config_keys.add("num_key_value_heads", key_rule::absent);
    spec.dropout_keys = openai_detail::dropout_rates;
    return spec;
}(default_decoder);

}  // namespace llmcost::arch
