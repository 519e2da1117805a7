// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/funnel_attention.hpp>
#include <llmcost/config/encoder.hpp>
#include <llmcost/config/reader.hpp>

// Funnel Transformer. Derived from the shared encoder; each block halves the tokens.
//
// Source: transformers/models/funnel: configuration_funnel.py, modeling_funnel.py

namespace llmcost::arch {

namespace funnel_detail {

inline constexpr family_key family_keys[]{
    {"num_decoder_layers", 2},
    {"separate_cls", 1, family_key_type::boolean},
    {"truncate_seq", 1, family_key_type::boolean},
    {"pool_q_only", 1, family_key_type::boolean},
    {.type = family_key_type::computed},                       // `attention_type`
    {.type = family_key_type::computed},                       // `pooling_type`
    {.default_value = 3, .type = family_key_type::computed}};  // the length of `block_sizes`

struct positionwise_ffn {
    const layer_context& ctx;

    static constexpr role module_role = role::mlp;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("PositionwiseFFN"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, inner = ctx.config.intermediate_size;
        tensor h = t.call("linear_1", linear{width, inner, true}, x);
        h = t.call("activation_function", activation_module{ctx.config.hidden_act}, h);
        h = t.call("linear_2", linear{inner, width, true}, dropout(t, "activation_dropout", h, dropout_position::mlp));
        return t.call("layer_norm", norm_module{norm_kind::layer, width}, t.add(x, dropout(t, "dropout", h)));
    }
};

struct layer {
    const layer_context& ctx;
    const attention_inputs& in;
    std::int64_t block;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Layer"); }
    constexpr tensor forward(trace& t, const tensor& x, const tensor& source_states) const {
        return t.call("ffn", positionwise_ffn{ctx}, t.call("attention", attention{ctx, in, block}, x, source_states));
    }
};

/// All layers of a block, except the first call of the first layer, which can halve the tokens.
constexpr tensor rest_of_block(const layer_context& ctx, trace& t, const attention_inputs& in, std::int64_t b,
                               tensor x) {
    const auto index = static_cast<std::size_t>(b);
    const std::int64_t calls = ctx.config.family[calls_of_layers + index];
    const layer block_layer{ctx, in, b};
    if (calls > 1) {
        const recorder::shared_parameters_guard called{t};
        for (loop call = t.loop_calls(calls - 1, x); call.next();)
            x = t.call(child_name::indexed(0), block_layer, x, x);
    }
    for (loop other_loop = t.loop_modules(ctx.config.family[sizes_of_blocks + index] - 1, x, 1); other_loop.next();)
        for (loop call = t.loop_calls(calls, x); call.next();)
            x = t.call(child_name::indexed(other_loop.index()), block_layer, x, x);
    return x;
}

/// Blocks of layers; each block after the first halves the tokens. Returns the states of the first and the last block.
constexpr tensor_pair encode_blocks(const layer_context& ctx, trace& t, tensor x, const tensor& padding) {
    const module_info encoder{
        .name = "encoder", .class_of_module = ctx.class_of("Encoder"), .module_role = role::encoder};
    tensor_pair out;
    t.enter(encoder);
    attention_inputs in = make_inputs(ctx, t, padding);
    for (std::int64_t b = 0; b < ctx.config.family[blocks]; ++b) {
        const module_info block{.name = "blocks", .index = b, .class_of_module = {"", "ModuleList"}};
        const bool halves = b > 0 && x.dim(1) > (ctx.config.family[separate] != 0 ? 2 : 1),
                   late = ctx.config.family[queries_only] != 0;
        tensor query = x;
        if (halves) {
            halve_queries(ctx, t, in);
            if (!late) halve_keys(ctx, t, in);
            query = pooled(ctx, t, x);
        }
        t.enter(block);
        x = t.call(child_name::indexed(0), layer{ctx, in, b}, query, late ? x : query);
        t.leave(block);
        if (halves && late) halve_keys(ctx, t, in);
        t.enter(block);
        x = rest_of_block(ctx, t, in, b, x);
        t.leave(block);
        if (b == 0) out.first = x;
    }
    out.second = x;
    t.leave(encoder);
    return out;
}

/// Decoder: upsamples the last block's states to all tokens and adds the first block's states.
constexpr tensor decode(const layer_context& ctx, trace& t, const tensor_pair& states, const tensor& padding) {
    const std::int64_t length = t.load().sequence, stride = std::int64_t{1} << (ctx.config.family[blocks] - 1);
    const module_info decoder{
        .name = "decoder", .class_of_module = ctx.class_of("Decoder"), .module_role = role::decoder};
    t.enter(decoder);
    tensor h = states.second;
    const bool has_separate_cls = ctx.config.family[separate] != 0;
    if (stride > 1) {
        tensor first;
        if (has_separate_cls) {
            first = cut_to(t, h, 1, 1);
            h = t.slice(h, 1, h.dim(1) - 1);
        }
        h = t.repeat_interleave(h, 1, stride);
        if (has_separate_cls && ctx.config.family[truncates] != 0) h = t.pad(h, 1, stride - 1);
        h = cut_to(t, h, 1, has_separate_cls ? length - 1 : length);
        if (has_separate_cls) h = t.cat({first, h}, 1);
    }
    tensor x = t.add(h, states.first);
    const attention_inputs in = make_inputs(ctx, t, padding);
    for (loop layer_loop = t.loop_modules(ctx.config.family[decoder_layers], x); layer_loop.next();)
        x = t.call({"layers", layer_loop.index()}, layer{ctx, in, 0}, x, x);
    return t.leave(decoder, x);
}

/// Returns true if a head reads the last block's states, without a decoder.
[[nodiscard]] constexpr bool is_base(head_kind head) noexcept {
    return head == head_kind::encoder || head == head_kind::sequence_classification ||
           head == head_kind::multiple_choice;
}

constexpr tensor embed(const layer_context& ctx, trace& t) {
    const module_info embeddings{
        .name = "embeddings", .class_of_module = ctx.class_of("Embeddings"), .module_role = role::embedding};
    t.enter(embeddings);
    const tensor x =
        t.call("layer_norm", norm_module{norm_kind::layer, ctx.config.hidden_size}, word_embeddings(ctx, t));
    return t.leave(embeddings, dropout(t, "dropout", x));
}
/// Declares the chunk size of the sequence. For other lengths, every block rounds.
constexpr void declare_sequence_chunks(const layer_context& ctx, trace& t) {
    const std::int64_t chunk = std::int64_t{1} << (ctx.config.family[blocks] - 1);
    if (chunk > 1) t.set_chunk_size(chunk);
    if (chunk > 2 && t.load().sequence % chunk != 0) t.disable_closed_form();
}
constexpr tensor base(const layer_context& ctx, trace& t) {
    const std::int64_t batch = t.load().batch, sequence = t.load().sequence;
    declare_sequence_chunks(ctx, t);
    const tensor ones = t.full({batch, sequence});
    const tensor x = embed(ctx, t);
    const tensor_pair states = encode_blocks(ctx, t, x, t.to(ones, x.type));
    return is_base(ctx.config.head) ? states.second : decode(ctx, t, states, ones);
}

struct classifier {
    const layer_context& ctx;
    std::int64_t labels;

    static constexpr role module_role = role::head;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("ClassificationHead"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor h = t.tanh(t.call("linear_hidden", linear{x.dim(-1), x.dim(-1), true}, x));
        return t.call("linear_out", linear{x.dim(-1), labels, true}, dropout(t, "dropout", h));
    }
};

constexpr tensor score(const layer_context& ctx, trace& t, const tensor& x) {
    const model_config& config = ctx.config;
    const std::int64_t width = config.hidden_size;
    switch (config.head) {
        case head_kind::sequence_classification:
            return t.call("classifier", classifier{ctx, config.num_labels}, t.select(x, 1));
        case head_kind::multiple_choice: return t.call("classifier", classifier{ctx, 1}, t.select(x, 1));
        case head_kind::token_classification: return classify(ctx, t, config.num_labels, x);
        case head_kind::question_answering: return question_answering_logits(t, x);
        case head_kind::pretraining: {
            const module_info head{.name = "discriminator_predictions",
                                   .class_of_module = ctx.class_of("DiscriminatorPredictions"),
                                   .module_role = role::head};
            t.enter(head);
            const tensor h = activate(t, config.hidden_act, t.call("dense", linear{width, width, true}, x));
            return t.leave(head, t.call("dense_prediction", linear{width, 1, true}, h).squeeze(-1));
        }
        default: break;
    }
    const linear lm_head{width, config.vocab_size, true, config.tie_word_embeddings};
    return t.call("lm_head", head_linear{lm_head}, logits_to_keep(t, x));
}

constexpr tensor forward(const layer_context& ctx, trace& t) {
    const head_kind head = ctx.config.head;
    const bool bare = head == head_kind::none || head == head_kind::encoder;
    const module_info base_module{.name = bare ? "" : "funnel",
                                  .class_of_module = ctx.class_of(is_base(head) ? "BaseModel" : "Model")};
    if (bare) return forward_in_module(base_module, base, ctx, t);
    const module_info model_info{.class_of_module = ctx.class_of(name_of(head))};
    t.enter(model_info);
    const tensor x = forward_in_module(base_module, base, ctx, t);
    const recorder::not_executed_guard unused{t, t.load().head == logits::none};
    return t.leave(model_info, t.select_model_output(x, score(ctx, t, x)));
}

/// Returns true if `key` has the value `second`, false for `first`, which is the default.
constexpr bool is_second(config_view json, literal key, literal first, literal second) {
    const string_ref name = json.string(key, first);
    if (name != first && name != second) throw_unsupported(json, key, "unsupported value");
    return name == second;
}

constexpr void parse_blocks(config_view json, model_config& config) {
    for (std::size_t b = 0; b < max_blocks; ++b) {
        config.family[sizes_of_blocks + b] = 4;
        config.family[calls_of_layers + b] = 1;
    }
    if (const auto list = json.optional_array("block_sizes")) {
        if (list->size() < 1 || list->size() > max_blocks)
            throw_invalid_value(json, "block_sizes", "sizes of one to eight blocks");
        config.family[blocks] = static_cast<std::int64_t>(list->size());
        for (std::size_t b = 0; b < list->size(); ++b) config.family[sizes_of_blocks + b] = (*list)[b].as_positive();
    }
    config.num_hidden_layers = 0;
    for (std::size_t b = 0; b < static_cast<std::size_t>(config.family[blocks]); ++b)
        config.num_hidden_layers += config.family[sizes_of_blocks + b];
    const auto repeats = json.optional_array("block_repeats");
    if (!repeats) return;
    if (static_cast<std::int64_t>(repeats->size()) != config.family[blocks])
        throw_invalid_value(json, "block_repeats", "the length of block_sizes");
    for (std::size_t b = 0; b < repeats->size(); ++b) config.family[calls_of_layers + b] = (*repeats)[b].as_positive();
    if (config.family[calls_of_layers] != 1)
        throw_unsupported(json, "block_repeats", "a first block with more than one repeat is not supported");
}

constexpr void parse_config(config_view json, model_config& config) {
    parse_encoder_heads(json, config);
    if (config.hidden_size % 2 != 0) throw_unsupported(json, "d_model", "an odd d_model is not supported");
    parse_blocks(json, config);
    config.family[factorized] = is_second(json, "attention_type", "relative_shift", "factorized");
    config.family[uses_max_pooling] = is_second(json, "pooling_type", "mean", "max");
}

inline constexpr dropout_key dropout_rates[]{{dropout_position::hidden, "hidden_dropout", 0.1},
                                             {dropout_position::attention, "attention_dropout", 0.1},
                                             {dropout_position::mlp, "activation_dropout"},
                                             {dropout_position::classifier, "hidden_dropout", 0.1}};

}  // namespace funnel_detail

inline constexpr model_spec funnel = [](model_spec spec) {
    spec.model_type = "funnel";
    spec.class_prefix = "Funnel";
    spec.forward = funnel_detail::forward;
    spec.parse_config = funnel_detail::parse_config;
    spec.family_keys = funnel_detail::family_keys;
    spec.supported_heads = {head_kind::none,
                            head_kind::encoder,
                            head_kind::pretraining,
                            head_kind::masked_lm,
                            head_kind::sequence_classification,
                            head_kind::multiple_choice,
                            head_kind::token_classification,
                            head_kind::question_answering};
    spec.config_keys.add("hidden_size", "d_model", key_rule::standard_name_first);
    spec.config_keys.add("num_attention_heads", "n_head", key_rule::standard_name_first);
    spec.config_keys.add("head_dim", "d_head", key_rule::family_name_only);
    spec.config_keys.add("intermediate_size", "d_inner", key_rule::family_name_only);
    spec.config_keys.add("num_key_value_heads", key_rule::absent);
    spec.defaults.vocab_size = 30522;
    spec.defaults.hidden_size = 768;
    spec.defaults.intermediate_size = 3072;
    spec.defaults.num_hidden_layers = 12;
    spec.defaults.num_attention_heads = 12;
    spec.defaults.head_dim = 64;
    spec.defaults.hidden_act = activation::gelu_new;
    spec.defaults.head = head_kind::none;
    spec.defaults.tie_word_embeddings = true;
    spec.dropout_keys = funnel_detail::dropout_rates;
    return spec;
}(shared_encoder);

}  // namespace llmcost::arch
