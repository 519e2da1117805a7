// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/funnel_attention.hpp>
#include <llmcost/reading/encoder.hpp>
#include <llmcost/reading/reader.hpp>

namespace llmcost::arch {

namespace funnel_detail {

inline constexpr own_key keys[]{{"num_decoder_layers", 2},
                                {"separate_cls", 1, own_value::boolean},
                                {"truncate_seq", 1, own_value::boolean},
                                {"pool_q_only", 1, own_value::boolean},
                                {.value = own_value::computed},                   // `attention_type`
                                {.value = own_value::computed},                   // `pooling_type`
                                {.otherwise = 3, .value = own_value::computed}};  // the length of `block_sizes`

struct feed_forward {
    const site& here;

    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("PositionwiseFFN"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, inner = here.dims.intermediate_size;
        value h = t.call("linear_1", linear{width, inner, true}, x);
        h = t.call("activation_function", activation_module{here.dims.hidden_act}, h);
        h = t.call("linear_2", linear{inner, width, true}, dropout(t, "activation_dropout", h, dropout_of::inner));
        return t.call("layer_norm", norm<norm_kind::layer>{width}, t.add(x, dropout(t, "dropout", h)));
    }
};

struct layer {
    const site& here;
    const attention_inputs& in;
    std::int64_t block;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Layer"); }
    constexpr value describe(trace& t, const value& x, const value& from) const {
        return t.call("ffn", feed_forward{here}, t.call("attention", attention{here, in, block}, x, from));
    }
};

/// All layers of a block but the first call of the first one, which may halve tokens.
constexpr value rest_of_block(const site& here, trace& t, const attention_inputs& in, std::int64_t b, value x) {
    const auto at = static_cast<std::size_t>(b);
    const std::int64_t calls = here.dims.own[calls_of_layers + at];
    const layer each{here, in, b};
    if (calls > 1) {
        const recorder::called_again_guard called{t};
        for (repetition call = t.again(calls - 1, x); call.next();) x = t.call(module_place::item(0), each, x, x);
    }
    for (repetition other = t.repeat(here.dims.own[sizes_of_blocks + at] - 1, x, 1); other.next();)
        for (repetition call = t.again(calls, x); call.next();) x = t.call(module_place::item(other.index()), each, x, x);
    return x;
}

/// Blocks of layers, each of which halves its tokens; the first block's states beside the last one's.
constexpr two_values encode_blocks(const site& here, trace& t, value x, const value& padding) {
    const module_info encoder{.name = "encoder", .type = here.type("Encoder"), .what = role::encoder};
    two_values out;
    t.enter(encoder);
    attention_inputs in = make_inputs(here, t, padding);
    for (std::int64_t b = 0; b < here.dims.own[blocks]; ++b) {
        const module_info block{.name = "blocks", .index = b, .type = {"", "ModuleList"}};
        const bool halves = b > 0 && x.dim(1) > (here.dims.own[separate] != 0 ? 2 : 1),
                   late = here.dims.own[queries_only] != 0;
        value query = x;
        if (halves) {
            halve_queries(here, t, in);
            if (!late) halve_keys(here, t, in);
            query = pooled(here, t, x);
        }
        t.enter(block);
        x = t.call(module_place::item(0), layer{here, in, b}, query, late ? x : query);
        t.leave(block);
        if (halves && late) halve_keys(here, t, in);
        t.enter(block);
        x = rest_of_block(here, t, in, b, x);
        t.leave(block);
        if (b == 0) out.first = x;
    }
    out.second = x;
    t.leave(encoder);
    return out;
}

/// Each of the last block's states for as many tokens as it was pooled of, and the first block's added to them.
constexpr value decode(const site& here, trace& t, const two_values& states, const value& padding) {
    const std::int64_t length = t.load().sequence, stride = std::int64_t{1} << (here.dims.own[blocks] - 1);
    const module_info decoder{.name = "decoder", .type = here.type("Decoder"), .what = role::decoder};
    t.enter(decoder);
    value h = states.second;
    const bool apart = here.dims.own[separate] != 0;
    if (stride > 1) {
        value first;
        if (apart) first = cut_to(t, h, 1, 1), h = t.slice(h, 1, h.dim(1) - 1);
        h = t.repeat_interleave(h, 1, stride);
        if (apart && here.dims.own[truncates] != 0) h = t.pad(h, 1, stride - 1);
        h = cut_to(t, h, 1, apart ? length - 1 : length);
        if (apart) h = t.cat({first, h}, 1);
    }
    value x = t.add(h, states.first);
    const attention_inputs in = make_inputs(here, t, padding);
    for (repetition each = t.repeat(here.dims.own[decoder_layers], x); each.next();)
        x = t.call({"layers", each.index()}, layer{here, in, 0}, x, x);
    return t.leave(decoder, x);
}

/// Whether a head reads the last block's states, without a decoder.
[[nodiscard]] constexpr bool is_base(head_kind head) noexcept {
    return head == head_kind::encoder || head == head_kind::sequence_classification || head == head_kind::multiple_choice;
}

constexpr value embed(const site& here, trace& t) {
    const module_info embeddings{.name = "embeddings", .type = here.type("Embeddings"), .what = role::embedding};
    t.enter(embeddings);
    const value x = t.call("layer_norm", norm<norm_kind::layer>{here.dims.hidden_size}, word_embeddings(here, t));
    return t.leave(embeddings, dropout(t, "dropout", x));
}
/// Halves are whole where tokens are so many times the last block's; else they are rounded in each block.
constexpr void tell_region(const site& here, trace& t) {
    const std::int64_t chunk = std::int64_t{1} << (here.dims.own[blocks] - 1);
    if (chunk > 1) t.chunked(chunk);
    if (chunk > 2 && t.load().sequence % chunk != 0) t.formless();
}
constexpr value base(const site& here, trace& t) {
    const std::int64_t batch = t.load().batch, sequence = t.load().sequence;
    tell_region(here, t);
    const value ones = t.constant({batch, sequence});
    const value x = embed(here, t);
    const two_values states = encode_blocks(here, t, x, t.to(ones, x.type));
    return is_base(here.dims.head) ? states.second : decode(here, t, states, ones);
}

struct classifier {
    const site& here;
    std::int64_t labels;

    static constexpr role what = role::head;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("ClassificationHead"); }
    constexpr value describe(trace& t, const value& x) const {
        const value h = t.tanh(t.call("linear_hidden", linear{x.dim(-1), x.dim(-1), true}, x));
        return t.call("linear_out", linear{x.dim(-1), labels, true}, dropout(t, "dropout", h));
    }
};

constexpr value score(const site& here, trace& t, const value& x) {
    const sizes& dims = here.dims;
    const std::int64_t width = dims.hidden_size;
    switch (dims.head) {
        case head_kind::sequence_classification:
            return t.call("classifier", classifier{here, dims.num_labels}, t.select(x, 1));
        case head_kind::multiple_choice: return t.call("classifier", classifier{here, 1}, t.select(x, 1));
        case head_kind::token_classification: return classify(here, t, dims.num_labels, x);
        case head_kind::question_answering: return answer_scores(t, x);
        case head_kind::pretraining: {
            const module_info head{
                .name = "discriminator_predictions", .type = here.type("DiscriminatorPredictions"), .what = role::head};
            t.enter(head);
            const value h = activate(t, dims.hidden_act, t.call("dense", linear{width, width, true}, x));
            return t.leave(head, t.call("dense_prediction", linear{width, 1, true}, h).squeeze(-1));
        }
        default: break;
    }
    const linear words{width, dims.vocab_size, true, dims.tie_word_embeddings};
    return t.call("lm_head", head_linear{words}, kept_positions(t, x));
}

constexpr value describe(const site& here, trace& t) {
    const head_kind head = here.dims.head;
    const bool bare = head == head_kind::none || head == head_kind::encoder;
    const module_info inside{.name = bare ? "" : "funnel", .type = here.type(is_base(head) ? "BaseModel" : "Model")};
    if (bare) return describe_within(inside, base, here, t);
    const module_info whole{.type = here.type(name_of(head))};
    t.enter(whole);
    const value x = describe_within(inside, base, here, t);
    const recorder::idle_guard unused{t, t.load().head == logits::none};
    return t.leave(whole, t.returns(x, score(here, t, x)));
}

/// One of two words, the second of which is true.
constexpr bool is_second(config_view config, literal key, literal first, literal second) {
    const string_ref word = config.string(key, first);
    if (word != first && word != second) fail_unsupported(config, key, "no row describes this one");
    return word == second;
}

constexpr void read_blocks(config_view config, sizes& s) {
    for (std::size_t b = 0; b < most_blocks; ++b) s.own[sizes_of_blocks + b] = 4, s.own[calls_of_layers + b] = 1;
    if (const auto list = config.optional_array("block_sizes")) {
        if (list->size() < 1 || list->size() > most_blocks)
            fail_value(config, "block_sizes", "sizes of one to eight blocks");
        s.own[blocks] = static_cast<std::int64_t>(list->size());
        for (std::size_t b = 0; b < list->size(); ++b) s.own[sizes_of_blocks + b] = (*list)[b].as_positive();
    }
    s.num_hidden_layers = 0;
    for (std::size_t b = 0; b < static_cast<std::size_t>(s.own[blocks]); ++b)
        s.num_hidden_layers += s.own[sizes_of_blocks + b];
    const auto repeats = config.optional_array("block_repeats");
    if (!repeats) return;
    if (static_cast<std::int64_t>(repeats->size()) != s.own[blocks])
        fail_value(config, "block_repeats", "as many numbers as block_sizes has");
    for (std::size_t b = 0; b < repeats->size(); ++b) s.own[calls_of_layers + b] = (*repeats)[b].as_positive();
    if (s.own[calls_of_layers] != 1)
        fail_unsupported(config, "block_repeats", "the decoder would read states from within the first block");
}

constexpr void read(config_view config, sizes& s) {
    read_encoder_of_heads(config, s);
    if (s.hidden_size % 2 != 0) fail_unsupported(config, "d_model", "an odd width has no sine for each cosine");
    read_blocks(config, s);
    s.own[factorized] = is_second(config, "attention_type", "relative_shift", "factorized");
    s.own[takes_largest] = is_second(config, "pooling_type", "mean", "max");
}

inline constexpr dropout_key dropout_rates[]{{dropout_of::hidden, "hidden_dropout", 0.1},
                                             {dropout_of::attention, "attention_dropout", 0.1},
                                             {dropout_of::inner, "activation_dropout"},
                                             {dropout_of::classifier, "hidden_dropout", 0.1}};

}  // namespace funnel_detail

// transformers/models/funnel: configuration_funnel.py, modeling_funnel.py; each block halves its tokens
inline constexpr architecture funnel = [](architecture a) {
    a.model_type = "funnel", a.prefix = "Funnel", a.describe = funnel_detail::describe, a.read = funnel_detail::read;
    a.own = funnel_detail::keys;
    a.heads = {head_kind::none,
               head_kind::encoder,
               head_kind::pretraining,
               head_kind::masked_lm,
               head_kind::sequence_classification,
               head_kind::multiple_choice,
               head_kind::token_classification,
               head_kind::question_answering};
    a.keys[0] = {"hidden_size", "d_model", key_rule::standard_first};
    a.keys[1] = {"num_attention_heads", "n_head", key_rule::standard_first};
    a.keys[2] = {"head_dim", "d_head", key_rule::written_only};
    a.keys[3] = {"intermediate_size", "d_inner", key_rule::written_only};
    a.keys[4] = no_key_value_heads;
    a.defaults.vocab_size = 30522, a.defaults.hidden_size = 768, a.defaults.intermediate_size = 3072;
    a.defaults.num_hidden_layers = 12, a.defaults.num_attention_heads = 12, a.defaults.head_dim = 64;
    a.defaults.hidden_act = activation::gelu_new, a.defaults.head = head_kind::none;
    a.defaults.tie_word_embeddings = true;
    a.drops = funnel_detail::dropout_rates;
    return a;
}(shared_encoder);

}  // namespace llmcost::arch
