// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/encoder.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/encoder_model.hpp>

namespace llmcost::arch {

namespace xlm_detail {

enum family_config_index : std::uint8_t { summary, languages, sequences_have_places };

inline constexpr family_key family_keys[]{
    {.type = family_key_type::computed},  // `summary_form`
    {.type = family_key_type::computed},  // rows of a table of languages, 0: none
    {.type = family_key_type::computed},  // positions are looked up for each sequence (FlauBERT)
};

/// Layer flag: the first layer, whose activation module all layers call.
inline constexpr std::uint8_t first = 1;

/// Keys and values go through a cache that the model makes and throws away, so that they are copied.
struct attention {
    const layer_context& ctx;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "MultiHeadAttention"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, batch = x.dim(0), sequence = x.dim(1);
        tensor q, k, v;
        project_to_heads(t, x, width, ctx.config.num_attention_heads, {"q_lin", "k_lin", "v_lin"}, q, k, v);
        k = t.cat({k}, 2);
        v = t.cat({v}, 2);
        tensor mixed;
        {
            const recorder::fused_kernel_guard fused{
                t, fused_attention_kernel(q, k.dim(1), full_pattern(sequence).pattern, sequence)};
            tensor scores = t.matmul(t.div_scalar(q), k.transpose(2, 3));
            t.masked_fill_(scores);
            const tensor features = t.to(t.softmax(t.to(scores, dtype::float32)), q.type);
            mixed =
                t.contiguous(t.matmul(functional_dropout(t, features, dropout_position::attention), v).transpose(1, 2))
                    .view({batch, sequence, width});
        }
        return t.call("out_lin", linear{width, width, true}, mixed);
    }
};

struct transformer_ffn {
    const layer_context& ctx;

    static constexpr role module_role = role::mlp;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return {"", "TransformerFFN"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, inner = ctx.config.intermediate_size;
        const tensor h = activated(t, t.call("lin1", linear{width, inner, true}, x));
        return functional_dropout(t, t.call("lin2", linear{inner, width, true}, h), dropout_position::hidden);
    }

private:
    /// The GELU of activations.py is one module, which has its name from the first layer and is called by each.
    ///
    /// In training, each layer executes its own activation: backward has the order of the forward pass.
    constexpr tensor activated(trace& t, tensor x) const {
        if (ctx.config.hidden_act == activation::relu) return t.unary(torch_function::stored_relu, op::relu, x);
        if (ctx.config.hidden_act != activation::gelu) return activate(t, ctx.config.hidden_act, x);
        if (t.is_training())
            return ctx.layer.family_tag == first ? t.call("act", activation_module{activation::gelu}, x)
                                                 : activate(t, activation::gelu, x);
        if (ctx.layer.family_tag != first) {
            const recorder::not_executed_guard unused_activation{t};
            return activate(t, activation::gelu, x);
        }
        for (loop layer = t.loop_calls(ctx.config.num_hidden_layers, x); layer.next();)
            x = t.call("act", activation_module{activation::gelu}, x);
        return x;
    }
};

/// x times a mask of tokens that are no padding, in place.
constexpr void mask_padding(trace& t, tensor& x) { t.mul_(x, t.full({x.dim(0), x.dim(1), 1}, x.type)); }

constexpr tensor embed(const layer_context& ctx, trace& t) {
    const std::int64_t width = ctx.config.hidden_size, batch = t.load().batch, sequence = t.load().sequence;
    t.check_positions(ctx.config.max_position_embeddings, sequence);
    t.register_integer_buffer(ctx.config.max_position_embeddings);  // `position_ids`
    const tensor token_embeddings =
        t.call("embeddings", embedding{ctx.config.vocab_size, width}, shape{batch, sequence});
    const std::int64_t position_batch = ctx.config.family[sequences_have_places] != 0 ? batch : 1;
    const embedding table{ctx.config.max_position_embeddings, width};
    const tensor places = t.call("position_embeddings", table, shape{position_batch, sequence});
    if (ctx.config.family[languages] != 0) {
        const recorder::not_executed_guard unused_language{t};
        (void)t.call("lang_embeddings", embedding{ctx.config.family[languages], width}, shape{batch, sequence});
    }
    tensor x = t.call("layer_norm_emb", norm_module{norm_kind::layer, width}, t.add(token_embeddings, places));
    x = functional_dropout(t, x, dropout_position::hidden);
    mask_padding(t, x);
    return x;
}

/// Runs the layers, whose submodules are in one list per kind.
constexpr tensor base(const layer_context& ctx, trace& t) {
    tensor x = ctx.spec.embed_tokens(ctx, t);
    const norm_module norms{norm_kind::layer, ctx.config.hidden_size};
    for (loop layer = t.loop_modules(ctx.config.num_hidden_layers, ctx.config.layers, x); layer.next();) {
        const std::int64_t i = layer.index();
        layer_context layer_ctx = ctx;
        layer_ctx.layer = layer.layer();
        const tensor a =
            functional_dropout(t, t.call({"attentions", i}, attention{layer_ctx}, x), dropout_position::hidden);
        x = t.call({"layer_norm1", i}, norms, t.add(x, a));
        x = t.call({"layer_norm2", i}, norms, t.add(x, t.call({"ffns", i}, transformer_ffn{layer_ctx}, x)));
        mask_padding(t, x);
    }
    return x;
}

constexpr tensor lm_head_logits(const layer_context& ctx, trace& t, const tensor& x) {
    const module_info layer{
        .name = "pred_layer", .class_of_module = ctx.class_of("PredLayer"), .module_role = role::head};
    const linear lm_head{ctx.config.hidden_size, ctx.config.vocab_size, true, ctx.config.tie_word_embeddings};
    t.enter(layer);
    return t.leave(layer, t.call("proj", lm_head, x));
}

constexpr tensor score(const layer_context& ctx, trace& t, const tensor_pair& out) {
    const model_config& config = ctx.config;
    const sequence_summary sum{summary_form::unpacked(config.family[summary]), config.hidden_size, config.num_labels,
                               ctx.class_of("SequenceSummary")};
    switch (config.head) {
        case head_kind::sequence_classification: return t.call("sequence_summary", sum, out.first);
        case head_kind::multiple_choice: {
            const tensor labels = t.call("sequence_summary", sum, out.first);
            return t.call("logits_proj", head_linear{{config.num_labels, 1, true}}, labels);
        }
        case head_kind::token_classification: return classify(ctx, t, config.num_labels, out.first);
        default: return xlm_detail::lm_head_logits(ctx, t, logits_to_keep(t, out.first));
    }
}

constexpr tensor forward(const layer_context& ctx, trace& t) { return forward_encoder_model(ctx, t, {.score = score}); }

constexpr void parse_config(config_view json, model_config& config) {
    parse_encoder(json, config);
    (void)checked_size(json, "emb_dim", 4, config.hidden_size);
    config.intermediate_size = 4 * config.hidden_size;
    config.hidden_act = json.boolean("gelu_activation", true) ? activation::gelu : activation::relu;
    set_layers(json, config, [](std::int64_t i) { return layer_spec{.family_tag = i == 0 ? first : std::uint8_t{0}}; });
    if (!json.boolean("is_encoder", true))
        throw_unsupported(json, "is_encoder", "this model type is not supported as a decoder");
    if (json.boolean("asm", false) && config.head == head_kind::causal_lm)
        throw_unsupported(json, "asm", "an adaptive softmax is not supported");
    const std::int64_t n = json.positive("n_langs", 1);
    config.family[languages] = n > 1 && json.boolean("use_lang_emb", true) ? n : 0;
    config.family[summary] = parse_sequence_summary(
        json, {.kind = summary_kind::first, .projects = true, .to_labels = true, .drops_first = true});
    const summary_form summary_config = summary_form::unpacked(config.family[summary]);
    if (config.head == head_kind::multiple_choice && config.num_labels != config.hidden_size &&
        !(summary_config.projects && summary_config.to_labels))
        throw_invalid_value(json, "summary_proj_to_labels", "true with this head");
}

inline constexpr dropout_key dropout_rates[]{{dropout_position::hidden, "dropout", 0.1},
                                             {dropout_position::attention, "attention_dropout", 0.1},
                                             {dropout_position::classifier, "dropout", 0.1},
                                             {dropout_position::stochastic, "layerdrop"}};

}  // namespace xlm_detail

// transformers/models/xlm: configuration_xlm.py, modeling_xlm.py
inline constexpr model_spec xlm = [](model_spec spec) {
    spec.model_type = "xlm";
    spec.class_prefix = "XLM";
    spec.forward = xlm_detail::forward;
    spec.parse_config = xlm_detail::parse_config;
    spec.supported_layers.max_family_tag = xlm_detail::first;
    spec.family_keys = xlm_detail::family_keys;
    spec.base_model = xlm_detail::base;
    spec.embed_tokens = xlm_detail::embed;
    spec.supported_heads = {head_kind::none, head_kind::causal_lm, head_kind::sequence_classification,
                            head_kind::token_classification, head_kind::multiple_choice};
    spec.names.base_model = "transformer";
    spec.names.causal_lm_class = "WithLMHeadModel";
    spec.config_keys.add("hidden_size", "emb_dim", key_rule::standard_name_first);
    spec.config_keys.add("num_attention_heads", "n_heads", key_rule::standard_name_first);
    spec.config_keys.add("num_hidden_layers", "n_layers", key_rule::standard_name_first);
    spec.config_keys.add("vocab_size", "n_words", key_rule::standard_name_first);
    spec.config_keys.add("hidden_act", key_rule::absent);
    spec.defaults.vocab_size = 30145;
    spec.defaults.hidden_size = 2048;
    spec.defaults.num_hidden_layers = 12;
    spec.defaults.num_attention_heads = 16;
    spec.defaults.max_position_embeddings = 512;
    spec.defaults.tie_word_embeddings = true;
    spec.config_keys.add("num_key_value_heads", key_rule::absent);
    spec.dropout_keys = xlm_detail::dropout_rates;
    return spec;
}(shared_encoder);

}  // namespace llmcost::arch
