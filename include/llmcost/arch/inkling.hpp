// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/layers/causal_convolution.hpp>
#include <llmcost/reading/experts.hpp>
#include <llmcost/reading/reader.hpp>
#include <llmcost/walks/decoder.hpp>

namespace llmcost::arch {

namespace inkling_detail {

enum own : std::uint8_t {
    local_heads,
    local_kv_heads,
    local_head_dim,
    relative_width,
    relative_extent,
    kernel,
    shared_experts,
    unpadded_words,
    scales_by_length
};
inline constexpr own_key keys[]{
    {"swa_num_attention_heads", 64, own_value::positive, splits::evenly},
    {"swa_num_key_value_heads", 16, own_value::positive, splits::evenly},
    {"swa_head_dim", 128},
    {"d_rel", 16},
    {"rel_extent", 1024},
    {.value = own_value::computed},  // of the short convolutions
    {"n_shared_experts", 2},
    {.value = own_value::computed},  // words that the head is asked for; 0: all
    {.value = own_value::computed},  // queries of layers that see everything are scaled by how much there is
};

/// A causal convolution per channel in float32, added to its input: (B, S, channels) -> the same.
struct short_convolution {
    std::int64_t channels;
    std::int64_t kernel_size;
    class_name named;
    bool tells;            ///< the cache of its state at once
    bool divides = false;  ///< the sum, by a constant

    static constexpr role what = role::mixer;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr value describe(trace& t, const value& x) const {
        const convolution_weights kernel = declare_convolution(t, "conv1d", channels, kernel_size, false);
        const value in_float = t.to(x, dtype::float32);
        const value mixed = causal_convolution(t, t.to(in_float.transpose(1, 2), kernel.weight.type), kernel, {}, tells);
        const value both = t.add(t.to(mixed, dtype::float32).transpose(1, 2), in_float);
        return t.to(divides ? t.div(both) : both, x.type);
    }
};
constexpr value convolve(const site& here, trace& t, literal name, const value& x, bool tells = true) {
    return t.call(name, short_convolution{x.dim(-1), here.dims.own[kernel], here.type("ShortConvolution"), tells}, x);
}

/// Biases of distances that each token makes for itself, (B, heads, S, T), from states (B, S, heads, width).
struct relative_logits {
    std::int64_t extent;
    class_name named;

    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr value describe(trace& t, const value& states, std::int64_t length) const {
        const value all = t.matmul_operator(states, t.param("proj", {states.dim(-1), extent})).transpose(1, 2);
        return t.where(t.gather_along(all, {all.dim(0), all.dim(1), all.dim(2), length}));
    }
};

/// 1 + α log(max((position + 1) / floor, 1)), (1, 1, S, 1).
constexpr value temperatures(trace& t, std::int64_t sequence) {
    const value ratio = t.unary(op::compare, t.div(t.constant({sequence})));
    return t.add(t.mul(t.unary(op::log, ratio))).view({1, 1, sequence, 1});
}

/// Keys and values through short convolutions, positions as biases of distance; windows have heads of their own.
constexpr value attend(const site& here, trace& t, const value& x) {
    const sizes& dims = here.dims;
    const bool slides = here.kind.mixer == mixer_kind::sliding_attention;
    const std::int64_t batch = x.dim(0), sequence = x.dim(1);
    const std::int64_t heads = slides ? dims.own[local_heads] : dims.num_attention_heads;
    const std::int64_t groups = slides ? dims.own[local_kv_heads] : dims.num_key_value_heads;
    const std::int64_t d = slides ? dims.own[local_head_dim] : dims.head_dim;
    qkv of;
    of.q = project(here, t, "q_proj", heads * d, x);
    of.k = convolve(here, t, "k_sconv", project(here, t, "k_proj", groups * d, x), false);
    of.v = convolve(here, t, "v_sconv", project(here, t, "v_proj", groups * d, x), false);
    const value states = project(here, t, "r_proj", heads * dims.own[relative_width], x);
    for (value* const each : {&of.q, &of.k, &of.v}) *each = each->view({batch, sequence, -1, d});
    norm_queries_and_keys(here, t, of, d, d);
    heads_first(of);
    remember(here, t, of);
    for (int i = 0; i < 2 && !t.training(); ++i) t.cache(trace::buffer({batch, groups * d, dims.own[kernel]}));
    const relative_logits by_distance{slides ? dims.sliding_window : dims.own[relative_extent], here.type("RelativeLogits")};
    value bias = t.call("rel_logits_proj", by_distance, states.view({batch, sequence, heads, -1}), of.k.dim(2));
    if (!slides && dims.own[scales_by_length]) {
        const value tau = temperatures(t, sequence);
        of.q = t.to(t.mul(t.to(of.q, dtype::float32), tau), of.q.type);
        bias = t.to(t.mul(t.to(bias, dtype::float32), tau), bias.type);
    }
    return join(here, t, look_up(here, t, of, {.bias = &bias}));
}

/// Weights of the picked experts (n, k) and of the shared ones (n, shared), from one softmax over the logs of their
/// sigmoids.
constexpr two_values route(const site& here, trace& t, const value& tokens) {
    const moe_sizes& m = here.dims.moe;
    const std::int64_t shared = here.dims.own[shared_experts], k = m.num_experts_per_tok, n = tokens.dim(0);
    const module_info gate{.name = "gate", .type = here.type("TopkRouter"), .what = role::router, .leaf = true};
    t.enter(gate);
    const value weight = t.param("weight", {m.num_experts + shared, here.dims.hidden_size});
    const value scale = t.param("global_scale", {1});
    const value logits = t.linear(t.to(tokens, dtype::float32), t.to(weight, dtype::float32));
    {
        const recorder::off_loss_guard indices{t};
        const value scores = t.sigmoid(logits).slice(-1, m.num_experts);
        (void)t.top_k(t.add(scores, trace::buffer({m.num_experts})), k);
    }
    const value routed = t.slice(logits, -1, m.num_experts);
    const value picked = t.cat({t.gather_along(routed, {n, k}), t.slice(logits, -1, shared)}, -1);
    const value logs = t.log_sigmoid(picked);
    value weights = t.exp(t.sub(logs, t.logsumexp(logs, -1, true)));
    weights = t.to(t.mul(t.mul(weights), t.to(scale, dtype::float32)), tokens.type);
    const two_values out{t.contiguous(t.slice(weights, -1, k)), t.contiguous(t.slice(weights, -1, shared))};
    t.returned(routed), t.returned(out);
    t.leave(gate);
    return out;
}

/// The shared experts in one batch over all tokens, each weighed by its gammas (n, shared).
struct shared_block {
    site here;

    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("SharedExperts"); }
    constexpr value describe(trace& t, const value& x, const value& gammas) const {
        const std::int64_t n = here.dims.own[shared_experts], width = here.dims.hidden_size;
        const std::int64_t inner = here.dims.moe.intermediate_size, tokens = x.dim(0) * x.dim(1);
        const value gate = t.param("gate_proj", {n, inner, width}), up = t.param("up_proj", {n, inner, width});
        const value down = t.param("down_proj", {n, width, inner});
        const value all = t.reshape(x, {1, -1, width}).expand({n, tokens, width});
        const value g = t.bmm(all, gate.transpose(1, 2)), u = t.bmm(all, up.transpose(1, 2));
        const value gated = t.mul(t.call("act_fn", activation_module{here.dims.hidden_act}, g), u);
        const value weighed = t.mul(gated, gammas.view({tokens, n, 1}).transpose(0, 1));
        const value out = t.bmm(weighed, down.transpose(1, 2));
        return t.to(t.sum(t.to(out, dtype::float32), 0), x.type).view({x.dim(0), x.dim(1), width});
    }
};

constexpr value mixture(const site& here, trace& t, const value& x) {
    const value tokens = x.view({-1, here.dims.hidden_size});
    const two_values weights = route(here, t, tokens);
    const value routed = call_experts(here, t, tokens, weights.first).view({x.dim(0), x.dim(1), here.dims.hidden_size});
    return t.add(routed, t.call("shared_experts", shared_block{here}, x, weights.second));
}

/// A dense block is scaled by a number that is learned.
struct dense_block {
    site here;

    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("MLP"); }
    constexpr value describe(trace& t, const value& x) const {
        const sizes& dims = here.dims;
        const value scale = t.param("global_scale", {1});
        const any_mlp block{mlp_kind::gated, dims.hidden_size, dims.intermediate_size, dims.hidden_act, type()};
        return t.mul(block.describe(t, x), scale);
    }
};

constexpr value feed(const site& here, trace& t, const value& x) {
    return here.kind.experts ? t.call("mlp", mixture_module{here, mixture}, x) : t.call("mlp", dense_block{here}, x);
}

/// Each block's output passes a short convolution.
constexpr value layer(const site& here, trace& t, const value& x) {
    value h = mixed(here, t, normed(here, t, "input_layernorm", x));
    const value middle = t.add(x, convolve(here, t, "attn_sconv", h));
    h = here.row.feed(here, t, normed(here, t, "post_attention_layernorm", middle));
    return t.add(middle, convolve(here, t, "mlp_sconv", h));
}

/// Words are normed inside of their module.
constexpr value embed(const site& here, trace& t) {
    const std::int64_t width = here.dims.hidden_size;
    const module_info words{.name = "embed_tokens", .type = here.type("NormedEmbedding"), .what = role::embedding};
    t.enter(words);
    const value found =
        t.gather(t.param("weight", {here.dims.vocab_size, width}), {t.load().batch, t.load().sequence, width});
    return t.leave(words, normed(here, t, "embed_norm", found));
}

/// Hidden states are divided by a constant in front of the language model's head.
constexpr value describe(const site& here, trace& t) {
    if (here.dims.head == head_kind::none) return describe_decoder(here, t);
    const module_info whole{.type = here.type("ForCausalLM")};
    t.enter(whole);
    const value x = describe_within({.name = "model", .type = here.type(here.row.names.model_type)}, here.row.base, here, t);
    const recorder::idle_guard unused{t, t.load().head == logits::none};
    return t.leave(whole, t.returns(x, describe_head(here, t, t.div(x))));
}

constexpr value finish(const site& here, trace& t, const value& scores) {
    const std::int64_t asked = here.dims.own[unpadded_words];
    return asked == 0 ? scores : t.slice(scores, -1, asked);
}

/// Layers with windows by a list of their numbers, else all but every sixth.
constexpr void plan(config_view config, sizes& s, const sparse_places& experts) {
    const auto types = config.optional_array("layer_types");
    if (types && static_cast<std::int64_t>(types->size()) != s.num_hidden_layers)
        fail_value(config, "layer_types", "a list with one kind per hidden layer");
    const auto list = config.optional_array("local_layer_ids");
    const layer_set local = list ? layer_set(*list) : layer_set{};
    plan_layers(config, s, [&](std::int64_t i) {
        bool slides = list ? local.has(i) : (i + 1) % 6 != 0;
        if (types) {
            const string_ref word = (*types)[static_cast<std::uint32_t>(i)].as_string();
            slides = word == "hybrid_sliding";
            if (!slides && word != "hybrid")
                fail_unsupported(config, "layer_types", "no layer describes one of these kinds");
        }
        return layer_kind{slides ? mixer_kind::sliding_attention : mixer_kind::full_attention, experts.has(i)};
    });
}

constexpr void check_local_heads(config_view config, const sizes& s, std::int64_t heads, std::int64_t kv_heads,
                                 std::int64_t head_width, std::int64_t relative) {
    if (heads % kv_heads != 0) fail_value(config, "swa_num_key_value_heads", "a divisor of swa_num_attention_heads");
    (void)checked_width(config, "swa_head_dim", heads, head_width);
    (void)checked_width(config, "d_rel", s.num_attention_heads, relative);
    (void)checked_width(config, "d_rel", heads, relative);
}

constexpr void read(config_view config, sizes& s) {
    s.tie_word_embeddings = false;  // the reference ties none
    read_experts(config, s, config.contains("num_local_experts") ? "num_local_experts" : "n_routed_experts");
    check_experts(config, s);
    if (const auto dense = config.optional_positive("dense_intermediate_size"))
        s.moe.intermediate_size = s.intermediate_size, s.intermediate_size = *dense;
    s.own[kernel] = config.positive(config.contains("sconv_kernel_size") ? "sconv_kernel_size" : "conv_kernel_size", 4);
    const std::int64_t asked = config.optional_positive("unpadded_vocab_size").value_or(0);
    s.own[unpadded_words] = asked < s.vocab_size ? asked : 0;
    s.own[scales_by_length] = config.optional_positive("log_scaling_n_floor").has_value();
    plan(config, s, sparse_places(config, s, config.non_negative("dense_mlp_idx", 0)));
    check_local_heads(config, s, s.own[local_heads], s.own[local_kv_heads], s.own[local_head_dim], s.own[relative_width]);
}

}  // namespace inkling_detail

// transformers/models/inkling: the text model; biases of distance, short convolutions, shared experts that are routed too
inline constexpr architecture inkling_text = [](architecture a) {
    a.model_type = "inkling_text", a.prefix = "Inkling", a.read = inkling_detail::read, a.own = inkling_detail::keys;
    a.describe = inkling_detail::describe, a.embed = inkling_detail::embed, a.layer = inkling_detail::layer;
    a.attend = inkling_detail::attend, a.feed = inkling_detail::feed, a.finish = inkling_detail::finish;
    a.rotated = rotation::none, a.masks = mask_rule::full_and_sliding, a.heads = language_heads;
    a.names.model_type = "TextModel", a.names.moe_type = "MoE";
    a.keys[0] = no_attention_bias, a.keys[1] = no_mlp_bias;
    a.keys[2] = {"sliding_window", "sliding_window_size", key_rule::standard_first};
    a.keys[3] = {"max_position_embeddings", "model_max_length", key_rule::standard_first};
    a.defaults.vocab_size = 201024, a.defaults.hidden_size = 6144, a.defaults.intermediate_size = 24576;
    a.defaults.num_hidden_layers = 66, a.defaults.num_attention_heads = 64, a.defaults.num_key_value_heads = 8;
    a.defaults.head_dim = 128, a.defaults.max_position_embeddings = 131072, a.defaults.sliding_window = 512;
    a.defaults.moe = {.num_experts = 256, .num_experts_per_tok = 6, .intermediate_size = 3072};
    return a;
}(shared_decoder);

}  // namespace llmcost::arch
