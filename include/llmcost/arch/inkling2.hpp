// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/inkling.hpp>
#include <llmcost/reading/keys.hpp>

namespace llmcost::arch {

namespace inkling2_detail {

enum own : std::uint8_t {
    local_heads,
    local_kv_heads,
    local_head_dim,
    relative_width,
    relative_extent,
    block_layers,
    asked_words,
    kernel,
    score
};
inline constexpr own_key keys[]{
    {"swa_num_attention_heads", 48, own_value::positive, splits::evenly},
    {"swa_num_key_value_heads", 8, own_value::positive, splits::evenly},
    {"swa_head_dim", 128},
    {"d_rel", 16},
    {"rel_extent", 1024},
    {"n_layers_per_attn_res_block", 6},
    {"unpadded_vocab_size", 200058},
    {.value = own_value::computed},  // of the short convolutions
    {.value = own_value::computed},  // the activation function that scores experts
};

// ---- what blocks of layers leave to those behind them: (B, S, blocks, width)

constexpr value appended(trace& t, const value& blocks, const value& x) {
    return blocks.rank == 0 ? t.cat({x.unsqueeze(-2)}, -2) : t.cat({blocks, x.unsqueeze(-2)}, -2);
}

/// Attention of learned queries to the normed blocks and x at each position: (B, S, queries, width).
struct block_residual {
    site here;
    std::int64_t queries = 1;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("BlockAttentionResidual"); }
    constexpr value describe(trace& t, const value& blocks, const value& x) const {
        const std::int64_t width = here.dims.hidden_size;
        const value query = t.param("query", queries == 1 ? extents{width} : extents{queries, width});
        const value stacked = call_norm(t, "norm", norm_kind::rms_weightless, width, here.type("UnweightedRMSNorm"),
                                        t.to(appended(t, blocks, x), dtype::float32));
        const value asked = t.to(query, dtype::float32).view({-1, width}).expand({x.dim(0), x.dim(1), queries, width});
        const value scaled = t.mul(asked);
        return t.matmul(t.softmax(t.matmul(scaled, t.mul(stacked.transpose(-2, -1)))), stacked);
    }
};

/// The only query's answer, or one of several.
constexpr value answer(const value& answers) { return answers.select(-2); }

// ---- attention

/// Vectors of heads, (B, S, heads, width), shortened to a length, perhaps behind a learned scale of each element.
struct length_clip {
    class_name named;
    bool scaled;

    static constexpr role what = role::norm;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr value describe(trace& t, const value& x) const {
        value h = t.to(x, dtype::float32);
        if (scaled) h = t.mul(h, t.to(t.param("scale", {x.dim(2), x.dim(3)}), dtype::float32));
        const value length = t.add(t.vector_norm(h, -1, true));
        const value factor = t.unary(op::compare, t.mul(t.unary(op::reciprocal, length)));
        return t.to(t.mul(h, factor), x.type);
    }
};
constexpr value clipped(const site& here, trace& t, literal name, const value& x, bool scaled = true) {
    return t.call(name, length_clip{here.type(scaled ? "ScaledL2Clip" : "L2Clip"), scaled}, x);
}

/// Each position's window of the last k along the last dimension (`Tensor.unfold`): (…, S + k − 1) -> (…, S, k).
constexpr value windows_of(trace& t, const value& x, std::int64_t k) {
    value v = x.unsqueeze(-1).expand([&] {
        extents to;
        to.rank = x.rank + 1;
        for (int i = 0; i < x.rank; ++i) to.size[i] = x.size[i];
        to.size[x.rank] = k;
        return to;
    }());
    v.stride[x.rank] = v.stride[x.rank - 1];
    v = t.cut(x, v.slice(-2, x.dim(-1) - k + 1));
    if (v.requires_grad) t.backward({.add = count(v.elements)});  // windows lie over each other
    return v;
}

/// A causal convolution whose taps are per channel and, by head, made of other states for each token.
struct dynamic_convolution {
    std::int64_t heads;
    std::int64_t kernel_size;
    class_name named;

    static constexpr role what = role::mixer;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr value describe(trace& t, const value& x, const value& from) const {
        const std::int64_t batch = x.dim(0), sequence = x.dim(1), channels = x.dim(2), k = kernel_size;
        const value weight = t.to(t.param("static_weight", {k, channels}), dtype::float32);
        const value made = t.to(t.call("weight_proj", linear{from.dim(-1), heads * k}, from), dtype::float32);
        const value taps = t.add(weight.transpose(0, 1).view({heads, -1, k}), made.view({batch, sequence, heads, 1, k}));
        const value h = t.to(x, dtype::float32);
        const extents state{batch, channels, k};
        const bool follows = has_recurrent_state(t);
        cache_recurrent_state(t, state, false);
        if (!t.training() && !follows) t.edge(axis::sequence, k);  // shorter ones are padded
        value all = h.transpose(1, 2);
        if (follows)
            all = t.cat({trace::buffer(state), all}, -1);
        else if (!t.training() && sequence < k)
            all = t.pad(all, -1, k - sequence);
        const value seen = t.slice(t.pad(all, -1, k - 1), -1, sequence + k - 1);
        const value turned = t.clone(windows_of(t, seen, k)).transpose(1, 2);  // `flip`
        const value windows = t.reshape(turned, {batch, sequence, heads, -1, k});
        const value mixed = t.reshape(t.sum(t.mul(windows, taps), -1), {batch, sequence, channels});
        return t.to(t.div(t.add(mixed, h)), x.type);
    }
};

/// Scores with biases of distance, and for each query one logit more, (B, heads, S, 1), which takes part in the softmax
/// only.
constexpr value look_up(const site& here, trace& t, const qkv& of, const value& bias, const value& sinks) {
    const context& where = here.shared->where;
    const recorder::fused_guard fused{t, fused_attention(of.q, of.k.dim(1), where, of.k.dim(2))};
    const std::int64_t groups = of.q.dim(1) / of.k.dim(1);
    const value keys = repeat_kv(t, of.k, groups), values = repeat_kv(t, of.v, groups);
    const bool sparse = t.load().attention == attention_scores::causal;
    const std::int64_t pairs = sparse ? where.visible_pairs() : 0;
    value scores = t.add(t.mul(t.matmul(of.q, keys.transpose(2, 3), pairs)), bias);
    if (!sparse) scores = t.add(scores, here.shared->mask);
    const value all = t.softmax(t.to(t.cat({scores, sinks}, -1), dtype::float32));
    value weights = t.slice(all, -1, where.length());
    if (sparse) trace::see(weights, pairs);
    weights = drop(t, t.to(weights, of.q.type), dropout_of::attention);
    const value mixed = t.contiguous(t.matmul(weights, values).transpose(1, 2));
    return t.reshape(mixed, {mixed.dim(0), mixed.dim(1), -1});
}

/// Attention whose queries, keys and values may read states of their own; those that see everything scale by how much.
struct attention_layer {
    site here;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr bool slides() const { return here.kind.mixer == mixer_kind::sliding_attention; }
    [[nodiscard]] constexpr class_name type() const { return here.type(slides() ? "SlidingAttention" : "FullAttention"); }
    constexpr value convolved(trace& t, literal name, const value& x, const value& from, std::int64_t groups) const {
        const std::int64_t k = here.dims.own[kernel];
        if (!slides()) return t.call(name, dynamic_convolution{groups, k, here.type("DynamicShortConvolution")}, x, from);
        return t.call(name, inkling_detail::short_convolution{x.dim(-1), k, here.type("ShortConvolution"), false, true}, x);
    }
    constexpr value describe(trace& t, const value& x, const value& for_keys, const value& for_values) const {
        const sizes& dims = here.dims;
        const std::int64_t batch = x.dim(0), sequence = x.dim(1);
        const std::int64_t heads = slides() ? dims.own[local_heads] : dims.num_attention_heads;
        const std::int64_t groups = slides() ? dims.own[local_kv_heads] : dims.num_key_value_heads;
        const std::int64_t d = slides() ? dims.own[local_head_dim] : dims.head_dim;
        qkv of;
        of.q = project(here, t, "q_proj", heads * d, x);
        of.k = convolved(t, "k_sconv", project(here, t, "k_proj", groups * d, for_keys), for_keys, groups);
        of.v = convolved(t, "v_sconv", project(here, t, "v_proj", groups * d, for_values), for_values, groups);
        value states = project(here, t, "r_proj", heads * dims.own[relative_width], x);
        const value gate = project(here, t, "gate_proj", heads * d, x);
        const value sinks = project(here, t, "sink_proj", heads, x).transpose(1, 2).unsqueeze(-1);
        const value tau = slides() ? value{} : inkling_detail::temperatures(t, sequence).view({1, sequence, 1, 1});
        const auto warmed = [&](const value& h) { return slides() ? h : t.to(t.mul(t.to(h, dtype::float32), tau), h.type); };
        for (value* const each : {&of.q, &of.k, &of.v}) *each = each->view({batch, sequence, -1, d});
        of.q = warmed(clipped(here, t, "q_l2_clip", of.q));
        of.k = clipped(here, t, "k_l2_clip", of.k, false);
        of.v = t.to(
            call_norm(t, "v_norm", norm_kind::rms_weightless, d, here.type("UnweightedRMSNorm"), t.to(of.v, dtype::float32)),
            of.v.type);
        heads_first(of);
        states = warmed(clipped(here, t, "rel_l2_clip", states.view({batch, sequence, heads, -1})));
        remember(here, t, of);
        for (int i = 0; i < 2 && !t.training(); ++i) t.cache(trace::buffer({batch, groups * d, dims.own[kernel]}));
        const std::int64_t extent = slides() ? dims.sliding_window : dims.own[relative_extent];
        const inkling_detail::relative_logits by_distance{extent, here.type("RelativeLogits")};
        const value bias = t.call("rel_logits_proj", by_distance, states, of.k.dim(2));
        const value found = look_up(here, t, of, bias, sinks);
        const value opened = t.mul(t.to(found, dtype::float32), t.sigmoid(t.to(gate, dtype::float32)));
        return join(here, t, t.to(opened, found.type));
    }
};

// ---- experts

/// tanh(x / cap) · cap.
struct soft_cap {
    class_name named;

    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr value describe(trace& t, const value& x) const { return t.mul(t.tanh(t.div(x))); }
};

/// SwiGLU whose factors are capped outside of the sigmoid.
struct capped_swiglu {
    literal prefix;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {prefix, "SoftcappedSwiGLU"}; }
    constexpr value describe(trace& t, const value& gate, const value& up) const {
        const soft_cap cap{{prefix, "Softcap"}};
        const value g = t.to(gate, dtype::float32), u = t.to(up, dtype::float32);
        const value opened = t.mul(t.call("gate_softcap", cap, g), t.sigmoid(g));
        return t.to(t.mul(opened, t.call("up_softcap", cap, u)), gate.type);
    }
};
struct capped_experts : routed_rows {
    static constexpr bool leaf = false;
    constexpr value describe(trace& t, const value& x, const value& weights) const {
        const recorder::fused_guard fused{t, part(x.dim(0))};
        const value rows = picked(t, x), up = param(t, "gate_up_proj", {num_experts, 2 * inner, width}),
                    down = param(t, "down_proj", {num_experts, width, inner});
        const value half = t.linear(rows, t.select(up, 0)).slice(-1, inner);
        const value h = t.call("act_fn", capped_swiglu{named.prefix}, half, half);
        return summed(t, x, weights, t.linear(h, t.select(down, 0)));
    }
};

struct router {
    site here;

    static constexpr role what = role::router;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("TopKRouter"); }
    constexpr value describe(trace& t, const value& tokens) const {
        const moe_sizes& m = here.dims.moe;
        const value weight = t.param("weight", {m.num_experts, here.dims.hidden_size});
        const value logits = t.linear(t.to(tokens, dtype::float32), weight);
        const value scores = t.call("score_fn", activation_module{static_cast<activation>(here.dims.own[score])}, logits);
        {
            const recorder::off_loss_guard indices{t};
            (void)t.top_k(t.add(scores, trace::buffer({m.num_experts})), m.num_experts_per_tok);
        }
        const value picked = t.gather_along(scores, {tokens.dim(0), m.num_experts_per_tok});
        return t.mul(t.div(picked, t.add(t.sum(picked, -1, true))));
    }
};

constexpr value mixture(const site& here, trace& t, const value& x) {
    const moe_sizes& m = here.dims.moe;
    const value tokens = x.view({-1, here.dims.hidden_size});
    // experts are declared in front of the router, and called behind it
    const value weights = t.call("gate", router{here}, tokens);
    const capped_experts experts{{here.dims.hidden_size, m.intermediate_size, m.num_experts, m.num_experts_per_tok,
                                  here.dims.hidden_act, here.type("Experts")}};
    return t.call("experts", experts, tokens, weights).view({x.dim(0), x.dim(1), here.dims.hidden_size});
}

// ---- layers

struct decoder_block {
    site here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr bool slides() const { return here.kind.mixer == mixer_kind::sliding_attention; }
    [[nodiscard]] constexpr class_name type() const {
        return here.type(slides() ? "SlidingDecoderLayer" : "FullDecoderLayer");
    }
    constexpr value attended(trace& t, const value& blocks, const value& x) const {
        const value all =
            here.layer > 0 ? t.call("attention_input", block_residual{here, slides() ? 1 : 3}, blocks, x) : value{};
        const value h = here.layer > 0 ? answer(all) : x;
        const auto in = [&](literal name) { return t.to(normed(here, t, name, h), x.type); };
        if (slides()) {
            const value alike = in("input_layernorm");
            return t.call("self_attn", attention_layer{here}, alike, alike, alike);
        }
        const value q = in("q_input_layernorm"), k = in("k_input_layernorm"), v = in("v_input_layernorm");
        return t.call("self_attn", attention_layer{here}, q, k, v);
    }
    constexpr value convolved(trace& t, literal name, const value& x) const {
        const class_name named = here.type("ShortConvolution");
        return t.call(name, inkling_detail::short_convolution{x.dim(-1), here.dims.own[kernel], named, true, true}, x);
    }
    constexpr value describe(trace& t, const value& blocks, const value& x) const {
        const bool begins = here.layer % here.dims.own[block_layers] == 0;
        value h = t.to(convolved(t, "post_attention_convolution", attended(t, blocks, x)), dtype::float32);
        if (!begins) h = t.add(t.to(x, dtype::float32), h);
        const value seen = begins ? appended(t, blocks, x) : blocks;
        const value in = answer(t.call("mlp_input", block_residual{here}, seen, h));
        const value mixed =
            t.call("mlp", mixture_module{here, mixture}, t.to(normed(here, t, "post_attention_layernorm", in), x.type));
        return t.to(t.add(h, convolved(t, "post_mlp_convolution", mixed)), x.type);
    }
};

/// The first layer of each block is walked by itself: what it reads goes to all behind it.
constexpr value base(const site& here, trace& t) {
    const sizes& dims = here.dims;
    value x = here.row.embed(here, t), blocks;
    const decoder_context shared = here.row.prepare(here, t);
    const dtype type = x.type;
    const auto begins = [&](std::int64_t layer) { return layer % dims.own[block_layers] == 0; };
    for (std::int64_t layer = 0, end = 0; layer < dims.num_hidden_layers; layer = end) {
        const layer_kind kind = dims.layers[layer];
        for (end = layer + 1; end < dims.num_hidden_layers && !begins(layer) && !begins(end) && dims.layers[end] == kind;)
            ++end;
        const value before = x;
        for (repetition each = t.repeat(end - layer, x, layer); each.next();) {
            const site place{here.whole, here.row, dims, &shared.of(kind), kind, each.index()};
            x = t.call({"layers", each.index()}, decoder_block{place}, blocks, x);
        }
        if (begins(layer)) blocks = appended(t, blocks, before);
    }
    x = answer(t.call("final_input", block_residual{here}, blocks, x));
    return t.to(normed(here, t, "norm", x), type);
}

constexpr value finish(const site& here, trace& t, const value& scores) {
    const std::int64_t asked = here.dims.own[asked_words];
    const value capped = t.call("logit_softcap", soft_cap{here.type("Softcap")}, t.to(scores, dtype::float32));
    return asked < capped.dim(-1) ? t.slice(capped, -1, asked) : capped;
}

constexpr void read(config_view config, sizes& s) {
    s.tie_word_embeddings = false;  // the reference ties none
    read_experts(config, s, config.contains("num_local_experts") ? "num_local_experts" : "n_routed_experts");
    check_experts(config, s);
    s.moe.intermediate_size = s.intermediate_size;
    s.own[kernel] = config.positive(config.contains("sconv_kernel_size") ? "sconv_kernel_size" : "conv_kernel_size", 4);
    const auto scored = config.find("scoring_func");
    s.own[score] = static_cast<std::int64_t>(scored ? activation_named(config, "scoring_func", scored->as_string())
                                                    : activation::sigmoid);
    const auto types = config.optional_array("layer_types");
    if (types && static_cast<std::int64_t>(types->size()) != s.num_hidden_layers)
        fail_value(config, "layer_types", "a list with one kind per hidden layer");
    plan_layers(config, s, [&](std::int64_t i) {
        const string_ref word = types ? (*types)[static_cast<std::uint32_t>(i)].as_string() : string_ref{};
        if (types && word != "hybrid_sliding" && word != "hybrid")
            fail_unsupported(config, "layer_types", "no layer describes one of these kinds");
        const bool slides = types ? word == "hybrid_sliding" : (i + 1) % 6 != 0;
        return layer_kind{slides ? mixer_kind::sliding_attention : mixer_kind::full_attention, true};
    });
    inkling_detail::check_local_heads(config, s, s.own[local_heads], s.own[local_kv_heads], s.own[local_head_dim],
                                      s.own[relative_width]);
}

}  // namespace inkling2_detail

// transformers/models/inkling2: the text model; layers read what blocks of layers left by an attention of learned queries
inline constexpr architecture inkling2_text = [](architecture a) {
    a.model_type = "inkling2_text", a.prefix = "Inkling2", a.read = inkling2_detail::read, a.own = inkling2_detail::keys;
    a.describe = describe_decoder, a.base = inkling2_detail::base, a.finish = inkling2_detail::finish;
    a.norm = norm_kind::rms_cast_last, a.names.moe_type = "SparseMoeBlock";
    a.keys[4] = {"intermediate_size", "moe_intermediate_size", key_rule::standard_first};
    a.defaults.hidden_size = 4608, a.defaults.intermediate_size = 2304, a.defaults.num_hidden_layers = 48;
    a.defaults.num_attention_heads = 48, a.defaults.max_position_embeddings = 1048576, a.defaults.sliding_window = 1024;
    a.defaults.moe = {.num_experts = 384, .num_experts_per_tok = 8};
    return a;
}(inkling_text);

}  // namespace llmcost::arch
