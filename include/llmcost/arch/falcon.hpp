// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/reader.hpp>
#include <llmcost/forward/decoder.hpp>
#include <llmcost/layers/alibi.hpp>

// Falcon. Derived from the default decoder.
//
// Source: transformers/models/falcon: configuration_falcon.py, modeling_falcon.py

namespace llmcost::arch {

namespace falcon_detail {

/// Layout of the fused projection.
enum class layout : std::uint8_t {
    per_head,  ///< query, key and value of each head
    grouped,   ///< the queries of a group, then its key and its value
    one_key    ///< all queries, then one key and one value
};

enum family_config_index : std::uint8_t { qkv_layout, separate_norms, alibi };

inline constexpr family_key family_keys[]{
    {.type = family_key_type::computed},  // `layout`
    {.type = family_key_type::computed},  // parallel attention and MLP have separate norms
    {"alibi", 0, family_key_type::boolean},
};

/// A linear layer that adds the bias in a separate operation: x (…, in) -> (…, out).
struct linear_then_bias {
    std::int64_t in;
    std::int64_t out;
    bool bias;
    literal prefix;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return {prefix, "Linear"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor product = t.matmul_operator(x, t.param("weight", {out, in}).transpose(0, 1));
        return bias ? t.add(product, t.param("bias", {out})) : product;
    }
};

/// Splits the fused projection: (batch, sequence, heads, dim) each. The key of a group is copied for each query.
constexpr query_key_value split(const layer_context& ctx, trace& t, const tensor& fused) {
    const std::int64_t heads = ctx.config.num_attention_heads, groups = ctx.config.num_key_value_heads;
    const std::int64_t batch = fused.dim(0), sequence = fused.dim(1), queries = heads / groups, d = ctx.config.head_dim;
    const auto fused_layout = static_cast<layout>(ctx.config.family[qkv_layout]);
    if (fused_layout == layout::per_head) {
        const tensor all = fused.view({batch, sequence, heads, 3, d});
        return {t.select(all, 3), t.select(all, 3), t.select(all, 3)};
    }
    if (fused_layout == layout::one_key) {
        const tensor all = fused.view({batch, sequence, heads + 2, d});
        const tensor k = t.gather(all, {batch, sequence, 1, d}), v = t.gather(all, {batch, sequence, 1, d});
        return {t.slice(all, 2, heads), k, v};
    }
    const tensor all = fused.view({batch, sequence, groups, queries + 2, d});
    const tensor k = t.gather(all, {batch, sequence, groups, 1, d}), v = t.gather(all, {batch, sequence, groups, 1, d});
    const auto in_heads = [&](const tensor& part) {
        return t.reshape(part.expand({batch, sequence, groups, queries, d}), {batch, sequence, heads, d});
    };
    const tensor q = in_heads(t.slice(all, 3, queries)), spread = in_heads(k);
    return {q, spread, in_heads(v)};
}

/// Attention with ALiBi or RoPE. The scores are scaled in place. Returns (batch, heads, sequence, dim).
constexpr tensor alibi_or_rotary_attention(const layer_context& ctx, trace& t, const query_key_value& qkv) {
    const attention_inputs& s = *ctx.inputs;
    const recorder::fused_kernel_guard fused{
        t, fused_attention_kernel(qkv.query, ctx.config.num_key_value_heads, s.pattern, qkv.key.dim(2))};
    const bool sparse = t.load().attention == attention_scores::causal;
    tensor scores = t.matmul_operator(qkv.query, qkv.key.transpose(2, 3), sparse ? s.pattern.visible_pairs() : 0);
    if (ctx.config.family[alibi]) {
        scores = t.add(t.to(scores, dtype::float32), s.family_tensors[0]);
        t.mul_(scores);
    } else {
        t.div_(scores);
    }
    if (!sparse) scores = t.add(scores, s.mask);
    tensor probabilities = t.softmax(t.to(scores, qkv.query.type));
    if (ctx.config.family[alibi])
        probabilities = dropout(t, "attention_dropout", probabilities, dropout_position::attention);
    return t.matmul_operator(probabilities, qkv.value);
}

/// Self-attention from a fused projection, with RoPE or ALiBi.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const model_config& config = ctx.config;
    const std::int64_t width = config.hidden_size;
    const std::int64_t qkv_size = (config.num_attention_heads + 2 * config.num_key_value_heads) * config.head_dim;
    const linear_then_bias in{width, qkv_size, config.attention_bias, ctx.spec.class_prefix};
    query_key_value qkv = split(ctx, t, t.call("query_key_value", in, x));
    transpose_heads(qkv);
    if (!config.family[alibi]) apply_rotary(ctx, t, qkv);
    update_kv_cache(ctx, t, qkv);
    const tensor flat = t.reshape(alibi_or_rotary_attention(ctx, t, qkv).transpose(1, 2), {x.dim(0), x.dim(1), width});
    return t.call("dense", linear_then_bias{width, width, config.output_bias, ctx.spec.class_prefix}, flat);
}

struct mlp_block {
    layer_context ctx;

    static constexpr role module_role = role::mlp;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("MLP"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, inner = ctx.config.intermediate_size;
        const bool bias = ctx.config.mlp_bias;
        tensor h = t.call("dense_h_to_4h", linear_then_bias{width, inner, bias, ctx.spec.class_prefix}, x);
        h = t.call("act", activation_module{ctx.config.hidden_act}, h);
        return t.call("dense_4h_to_h", linear_then_bias{inner, width, bias, ctx.spec.class_prefix}, h);
    }
};

/// Decoder layer: attention and MLP in parallel after one or two norms, or in sequence.
constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const bool has_separate_norms = ctx.config.family[separate_norms] != 0;
    tensor h = apply_norm(ctx, t, has_separate_norms ? "ln_attn" : "input_layernorm", x);
    const tensor mlp_input = has_separate_norms ? apply_norm(ctx, t, "ln_mlp", x) : h;
    const tensor a = mix_tokens(ctx, t, h);
    if (!ctx.config.parallel_residual) {
        const tensor middle = t.add(x, functional_dropout(t, a, dropout_position::attention));
        h = apply_norm(ctx, t, "post_attention_layernorm", middle);
        return t.add(middle, functional_dropout(t, t.call("mlp", mlp_block{ctx}, h), dropout_position::hidden));
    }
    h = t.call("mlp", mlp_block{ctx}, mlp_input);
    t.add_(h, a);
    return t.add(x, functional_dropout(t, h, dropout_position::hidden));
}

/// Prepares the mask and the rotary tables. With ALiBi, the biases are merged into the mask: (batch, heads, 1, length).
constexpr decoder_inputs prepare_inputs(const layer_context& ctx, trace& t) {
    const std::int64_t batch = t.load().batch, heads = ctx.config.num_attention_heads;
    decoder_inputs c;
    c.full.pattern = attention_pattern_of(t, ctx.config.sliding_window);
    const std::int64_t length = c.full.pattern.key_length();
    if (ctx.config.family[alibi])
        c.full.family_tensors[0] = alibi_per_token(t, batch, heads, length).view({batch, heads, 1, length});
    c.full.mask = eager_mask(t, c.full.pattern, batch);
    if (ctx.config.family[alibi])
        c.full.mask = t.masked_fill(
            t.div_scalar(c.full.family_tensors[0]).expand({batch, heads, c.full.pattern.query_length, length}));
    compute_rotary_embeddings(ctx, t, c.full);
    c.sliding = c.full;
    return c;
}

/// Parses `config.json`. The old architecture has one key/value head and sequential blocks; the new one has groups and
/// parallel blocks.
constexpr void parse_config(config_view json, model_config& config) {
    set_single_mask(json, config);
    divide_by_heads(json, config, {"num_attention_heads"});
    config.rotary_dim = config.head_dim;
    if (config.intermediate_size == 0) config.intermediate_size = 4 * config.hidden_size;
    config.attention_bias = config.output_bias = config.mlp_bias = json.boolean("bias", false);
    config.parallel_residual = json.boolean("parallel_attn", true);
    const bool grouped = json.boolean("new_decoder_architecture", false), one_key = json.boolean("multi_query", true);
    const layout fused_layout = grouped ? layout::grouped : one_key ? layout::one_key : layout::per_head;
    config.family[qkv_layout] = static_cast<std::int64_t>(fused_layout);
    config.num_key_value_heads =
        fused_layout == layout::one_key ? 1 : json.positive("num_kv_heads", config.num_attention_heads);
    if (grouped && config.num_attention_heads % config.num_key_value_heads != 0)
        throw_invalid_value(json, "num_kv_heads", "a divisor of num_attention_heads");
    if (fused_layout == layout::per_head && config.num_key_value_heads != config.num_attention_heads)
        throw_invalid_value(json, "num_kv_heads",
                            "num_attention_heads unless multi_query or new_decoder_architecture is true");
    if (grouped && !config.parallel_residual)
        throw_invalid_value(json, "parallel_attn", "true with new_decoder_architecture");
    const std::int64_t norms = json.positive("num_ln_in_parallel_attn", grouped ? 2 : 1);
    if (norms > 2 || (norms == 2 && !grouped && config.parallel_residual))
        throw_invalid_value(json, "num_ln_in_parallel_attn", "1, or 2 with new_decoder_architecture");
    config.family[separate_norms] = grouped && norms == 2;
}

}  // namespace falcon_detail

inline constexpr model_spec falcon = [](model_spec spec) {
    spec.model_type = "falcon";
    spec.class_prefix = "Falcon";
    spec.parse_config = falcon_detail::parse_config;
    spec.family_keys = falcon_detail::family_keys;
    spec.prepare_inputs = falcon_detail::prepare_inputs;
    spec.decoder_layer = falcon_detail::decoder_layer;
    spec.attention = falcon_detail::attention;
    spec.norm = norm_kind::layer;
    spec.supported_heads = answering_decoder_heads;
    spec.names.base_model = spec.names.base_model_for_question_answering = "transformer";
    spec.names.token_classifier = "classifier";
    spec.names.embed_tokens = "word_embeddings";
    spec.names.layers = "h";
    spec.names.norm = "ln_f";
    spec.names.attention = "self_attention";
    spec.config_keys.add("hidden_size", "n_embed", key_rule::family_name_first);
    spec.config_keys.add("intermediate_size", "ffn_hidden_size", key_rule::family_name_only);
    spec.config_keys.add("hidden_act", "activation", key_rule::family_name_only);
    spec.config_keys.add("num_key_value_heads", key_rule::absent);
    spec.defaults.vocab_size = 65024;
    spec.defaults.hidden_size = 4544;
    spec.defaults.num_hidden_layers = 32;
    spec.defaults.num_attention_heads = 71;
    spec.defaults.max_position_embeddings = 2048;
    spec.defaults.hidden_act = activation::gelu;
    spec.defaults.tie_word_embeddings = true;
    spec.dropout_keys = hidden_and_attention_dropout;
    return spec;
}(default_decoder);

}  // namespace llmcost::arch
