// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/reading/reader.hpp>
#include <llmcost/walks/decoder.hpp>

namespace llmcost::arch {

namespace gemma3n_detail {

// ---- keys and values that later layers read (Gemma 3n, 4)

/// Bits of a layer's word: others read its keys and values; it reads another's; its activations are mostly zeros.
inline constexpr std::uint8_t stores = 1, reuses = 2, sparse = 4;

/// Which layers share, from their kinds: the last `shared` ones read what the last one of their kind before them has.
///
/// Source: `kv_sharing_modes` of the configuration classes.
class sharing {
public:
    constexpr sharing(config_view config, const sizes& s, std::int64_t shared) {
        const std::int64_t layers = s.num_hidden_layers;
        if (shared >= layers) fail_value(config, "num_kv_shared_layers", "fewer than all layers");
        first_ = layers - shared;
        if (shared == 0) return;
        for (std::int64_t i = 0; i < layers; ++i) {
            std::int64_t& last = s.layers[i].mixer == mixer_kind::sliding_attention ? sliding_ : full_;
            if (i < first_) last = i;
            if (last < 0) fail_value(config, "num_kv_shared_layers", "a layer of each kind in front of those that share");
        }
    }
    [[nodiscard]] constexpr std::uint8_t word_of(std::int64_t layer) const noexcept {
        return layer >= first_ ? reuses : layer == sliding_ || layer == full_ ? stores : std::uint8_t{};
    }

private:
    std::int64_t first_ = 0, sliding_ = -1, full_ = -1;
};

/// What the layers that share have, by kind.
struct kept_keys {
    qkv full, sliding;
    [[nodiscard]] constexpr qkv& of(const layer_kind& kind) noexcept {
        return kind.mixer == mixer_kind::sliding_attention ? sliding : full;
    }
};

/// Layers from one number to another: runs of a kind are walked together, but those that store by themselves.
///
/// `call(site, x)` calls one layer.
template <class Call>
constexpr value walk_layers(const site& here, trace& t, const decoder_context& shared, value x, std::int64_t from,
                            std::int64_t to, const Call& call) {
    const layer_plan& plan = here.dims.layers;
    for (std::int64_t i = from, run = 0; i < to; i += run) {
        const layer_kind kind = plan[i];
        for (run = 1; (kind.own & stores) == 0 && i + run < to && plan[i + run] == kind;) ++run;
        if ((kind.own & stores) != 0) {  // what a repetition makes is forgotten after it
            x = call(site{here.whole, here.row, here.dims, &shared.of(kind), kind, i}, x);
            continue;
        }
        for (repetition each = t.repeat(run, x, i); each.next();)
            x = call(site{here.whole, here.row, here.dims, &shared.of(kind), kind, each.index()}, x);
    }
    return x;
}

/// x · cos + rotate_half(x) · sin for x (batch, sequence, heads, dim).
constexpr value turned(trace& t, const value& x, const value& cos, const value& sin) {
    const std::int64_t half = x.dim(-1) / 2;
    const value plain = t.mul(x, cos.unsqueeze(2)), back = t.neg(t.slice(x, -1, half));
    return t.add(plain, t.mul(t.cat({back, t.slice(x, -1, half)}, -1), sin.unsqueeze(2)));
}

constexpr value norm_without_weight(const site& here, trace& t, literal name, const value& x) {
    return t.call(name, any_norm{norm_kind::rms_power, x.dim(-1), here.type("RMSNorm"), false}, x);
}

// ---- inputs of their own for layers

/// What a table of its own gives each layer for a token: (B, S, layers, width).
constexpr value looked_up_inputs(const site& here, trace& t, std::int64_t rows, std::int64_t width) {
    const std::int64_t layers = here.dims.num_hidden_layers;
    const embedding words{rows, layers * width, true, here.type(here.row.names.embedding_type)};
    const extents ids{t.load().batch, t.load().sequence};
    const value found = t.call("embed_tokens_per_layer", words, ids);
    return t.reshape(found, {found.dim(0), found.dim(1), layers, width});
}
/// The same, and what a projection makes of the first states: what each layer is given beside those of the one before.
constexpr value projected_inputs(const site& here, trace& t, const value& x, const value& given, bool in_place) {
    const std::int64_t layers = given.dim(2), width = given.dim(3);
    value made = t.call("per_layer_model_projection", linear{here.dims.hidden_size, layers * width}, x);
    if (in_place)
        t.in_place(op::mul, made);
    else
        made = t.mul(made);
    const extents split{x.dim(0), x.dim(1), layers, width};
    const value projected = norm_of(here, t, "per_layer_projection_norm", width, t.reshape(made, split));
    return t.mul(t.add(projected, given));
}

// ---- Gemma 3n

enum own : std::uint8_t {
    shared_layers,
    input_rows,
    input_width,
    predicted_states,
    active_state,
    scales_corrected,
    laurel_rank,
    clips_coefficients
};
inline constexpr own_key keys[]{
    {"num_kv_shared_layers", 15, own_value::non_negative},
    {"vocab_size_per_layer_input", 262144},
    {"hidden_size_per_layer_input", 256},
    {"altup_num_inputs", 4},  // states that layers hand on, of which one is computed and the others are predicted
    {"altup_active_idx", 0, own_value::non_negative},
    {"altup_correct_scale", 1, own_value::boolean},
    {"laurel_rank", 64},
    {.value = own_value::computed},  // a training step clamps the weights of predictions and corrections
};

struct attention {
    site here;
    kept_keys* kept;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("TextAttention"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t heads = here.dims.num_attention_heads, d = here.dims.head_dim;
        value q = project(here, t, "q_proj", heads * d, x).view({x.dim(0), x.dim(1), heads, d});
        q = turned(t, norm_of(here, t, "q_norm", d, q), here.shared->cos, here.shared->sin).transpose(1, 2);
        if ((here.kind.own & reuses) != 0) t.cache_nothing();
        qkv of = (here.kind.own & reuses) != 0 ? kept->of(here.kind) : keys_and_values(t, x);
        if ((here.kind.own & stores) != 0) kept->of(here.kind) = of;
        of.q = q;
        return join(here, t, look_up(here, t, of));
    }

private:
    constexpr qkv keys_and_values(trace& t, const value& x) const {
        const std::int64_t groups = here.dims.num_key_value_heads, d = here.dims.head_dim;
        const extents split{x.dim(0), x.dim(1), groups, d};
        qkv of;
        of.k = norm_of(here, t, "k_norm", d, project(here, t, "k_proj", groups * d, x).view(split));
        of.k = turned(t, of.k, here.shared->cos, here.shared->sin).transpose(1, 2);
        of.v = norm_without_weight(here, t, "v_norm", project(here, t, "v_proj", groups * d, x).view(split)).transpose(1, 2);
        remember(here, t, of);
        return of;
    }
};

/// All but the largest values of a row become zero: those that are so many deviations above its mean.
///
/// Source: `_gaussian_topk`; the quantile of the normal distribution is worked out anew in each call.
constexpr value only_largest(trace& t, const value& x) {
    const value quantile = t.unary(op::erf, t.add(t.mul(trace::buffer({1}))));  // erfinv, at the same price
    const value deviations = t.to(t.add(t.mul(t.mul(quantile))), x.type);
    const value mean = t.mean(x, -1, true), cutoff = t.add(mean, t.mul(t.std(x, -1, true), deviations));
    return t.unary(op::relu, t.sub(x, cutoff));
}

struct feed_forward {
    site here;

    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("TextMLP"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size;
        const std::int64_t inner = here.kind.inner != 0 ? here.kind.inner : here.dims.intermediate_size;
        value gate = t.call("gate_proj", linear{width, inner}, x);
        if ((here.kind.own & sparse) != 0) gate = only_largest(t, gate);
        gate = t.call("act_fn", activation_module{here.dims.hidden_act}, gate);
        return t.call("down_proj", linear{inner, width}, t.mul(gate, t.call("up_proj", linear{width, inner}, x)));
    }
};

struct laurel {
    site here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("TextLaurelBlock"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, rank = here.dims.own[laurel_rank];
        const value h = t.call("linear_right", linear{rank, width}, t.call("linear_left", linear{width, rank}, x));
        return t.add(x, normed(here, t, "post_laurel_norm", h));
    }
};

/// The module whose children predict and correct: its functions are called, it is not, so that their work is the layer's.
struct altup {
    site here;

    template <class Do>
    constexpr auto within(trace& t, const Do& what) const {
        const module_info m{.name = "altup", .type = here.type("TextAltUp")};
        t.enter(m);
        const auto out = what();
        t.leave(m);
        return out;
    }
    /// tanh of what a router makes of a state: (B, S, states); called twice in a layer.
    constexpr value modalities(trace& t, const value& x, bool again) const {
        const recorder::called_again_guard counted{t, again};
        const value in = t.mul(within(t, [&] { return normed(here, t, "router_norm", x); }));
        const linear route{here.dims.hidden_size, here.dims.own[predicted_states]};
        return t.to(t.tanh(t.to(within(t, [&] { return t.call("modality_router", route, in); }), dtype::float32)), x.type);
    }
    /// Whether the modules are in training mode, which clamps coefficients.
    [[nodiscard]] constexpr bool clips(const trace& t) const {
        return t.load().training && t.load().keeps_dropout && here.dims.own[clips_coefficients] != 0;
    }
    /// States (n, B, S, width), each plus a mixture of all.
    constexpr value predict(trace& t, const value& states) const {
        const std::int64_t n = here.dims.own[predicted_states];
        const value routed = modalities(t, t.select(states, 0), false);
        if (clips(t)) {  // the weight's own data, which autograd does not see
            value weight = trace::buffer({n * n, n});
            t.in_place(op::clamp, weight);
        }
        const value all = within(t, [&] { return t.call("prediction_coefs", linear{n, n * n}, routed); });
        const value coefs = t.reshape(all, {routed.dim(0), routed.dim(1), n, n}).permute({0, 1, 3, 2});
        value out = t.matmul(states.permute({1, 2, 3, 0}), coefs).permute({3, 0, 1, 2});
        t.in_place(op::add, out, states);
        return t.contiguous(out);
    }
    /// Predictions, each moved by what the computed state differs from its own.
    constexpr value correct(trace& t, const value& predictions, const value& computed) const {
        const std::int64_t n = here.dims.own[predicted_states];
        const value routed = modalities(t, computed, true);
        const value difference = t.sub(computed, t.select(predictions, 0));
        const value repeated =
            t.copy(difference.unsqueeze(0).expand({n, difference.dim(0), difference.dim(1), difference.dim(2)}));
        const value coefs = t.add(within(t, [&] {
            if (!clips(t)) return t.call("correction_coefs", linear{n, n}, routed);
            const module_info m{.name = "correction_coefs", .type = {"", "Linear"}, .leaf = true};
            t.enter(m);
            const value weight = t.leave(m, t.param("weight", {n, n}));
            return t.linear(routed, t.unary(op::clamp, weight));
        }));
        value out = t.mul_function(repeated, coefs.permute({2, 0, 1}).unsqueeze(-1));
        t.in_place(op::add, out, predictions);
        return t.contiguous(out);
    }
    constexpr value scale(trace& t, const value& x) const {
        const bool scales = here.dims.own[scales_corrected] != 0;
        const recorder::idle_guard unread{t, !scales};
        const value by = within(t, [&] { return t.param("correct_output_scale", {here.dims.hidden_size}); });
        return scales ? t.mul(x, by) : x;
    }
};

/// states[1:] += x, in place.
constexpr void add_to_the_others(trace& t, value& states, const value& x) {
    value rest = t.slice(states, 0, states.dim(0) - 1);
    t.in_place(op::add, rest, x);
    t.copy_into(states, rest);
}

struct layer {
    site here;
    const value& inputs;  ///< of all layers
    kept_keys* kept;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("TextDecoderLayer"); }
    constexpr value describe(trace& t, const value& states) const {
        const std::int64_t width = here.dims.hidden_size, narrow = here.dims.own[input_width];
        const altup mixes{here};
        const value predictions = mixes.predict(t, states), active = t.select(predictions, 0);
        const value in = normed(here, t, "input_layernorm", active), low = t.call("laurel", laurel{here}, in);
        value h = normed(here, t, "post_attention_layernorm", t.call("self_attn", attention{here, kept}, in));
        const value middle = t.div(t.add(t.add(active, h), low));
        h = t.call("mlp", feed_forward{here}, normed(here, t, "pre_feedforward_layernorm", middle));
        const value computed = t.add(middle, normed(here, t, "post_feedforward_layernorm", h));
        value out = mixes.correct(t, predictions, computed);
        h = mixes.scale(t, t.clone(t.select(out, 0)));
        h = t.call("act_fn", activation_module{here.dims.hidden_act},
                   t.call("per_layer_input_gate", linear{width, narrow}, h));
        h = t.call("per_layer_projection", linear{narrow, width}, t.mul(h, t.select(inputs, 2)));
        add_to_the_others(t, out, normed(here, t, "post_per_layer_input_norm", h));
        return out;
    }
};

/// A projection of x, as long as another state.
constexpr value as_long_as(trace& t, const value& x, const value& length) {
    const value own = t.unary(op::sqrt, t.unary(op::compare, t.mean(t.pow(x, 2), -1, true)));
    return t.div(t.mul(x, length), own);
}
constexpr value length_of(trace& t, const value& x) { return t.unary(op::root_power, t.mean(t.pow(x, 2), -1, true)); }

/// A tensor of n states: the first of `state`, and projections of the others, as long as it.
template <class State>
constexpr value stacked(const site& here, trace& t, literal name, const State& state) {
    const std::int64_t n = here.dims.own[predicted_states];
    const value length = length_of(t, state(0)), first = state(0);
    const linear same{here.dims.hidden_size, here.dims.hidden_size};
    value all = dense({n, first.dim(0), first.dim(1), first.dim(2)}, first.type);
    const value* in[8]{&first};
    value made[8];
    for (std::int64_t i = 1; i < n; ++i) {
        made[i] = as_long_as(t, t.call({name, i - 1}, same, state(i)), length);
        in[i] = &made[i];
    }
    t.record(op::cat, {}, {}, all, in, static_cast<int>(n));
    return all;
}

/// All behind embeddings: `words`, and what the table gives each layer.
constexpr value walk(const site& here, trace& t, const value& words, const value& given) {
    const std::int64_t layers = here.dims.num_hidden_layers;
    const value inputs = projected_inputs(here, t, words, given, true);
    decoder_context shared = masks(here, t);
    value x = stacked(here, t, "altup_projections", [&](std::int64_t) -> const value& { return words; });
    if (here.dims.layers.has(mixer_kind::full_attention, layers)) make_rotary_tables(here, t, shared.full);
    if (here.dims.layers.has(mixer_kind::sliding_attention, layers)) make_rotary_tables(here, t, shared.sliding, true);
    kept_keys kept;
    x = walk_layers(here, t, shared, x, 0, layers, [&](const site& place, const value& h) {
        return t.call({"layers", place.layer}, layer{place, inputs, &kept}, h);
    });
    const value all = stacked(here, t, "altup_unembed_projections", [&](std::int64_t) { return t.select(x, 0); });
    return normed(here, t, "norm", t.mean(all, 0));
}
constexpr value inputs_of_words(const site& here, trace& t) {
    return looked_up_inputs(here, t, here.dims.own[input_rows], here.dims.own[input_width]);
}
constexpr value base(const site& here, trace& t) {
    const value words = here.row.embed(here, t);
    return walk(here, t, words, inputs_of_words(here, t));
}

/// Logits are capped unless the configuration says null.
constexpr bool caps_logits(config_view config) {
    const literal cap = "final_logit_softcapping";
    return !config.contains(cap) || config.optional_real(cap).has_value();
}

/// Every fifth layer is full; feed-forward blocks have widths of their own, and the first ten are sparse.
constexpr void read(config_view config, sizes& s) {
    check_window_is_given(config);
    s.logits_soft_cap = caps_logits(config);
    detail::scale_full_layers_alone(config, s);
    if (s.own[predicted_states] < 2 || s.own[predicted_states] > 8) fail_value(config, "altup_num_inputs", "from 2 to 8");
    if (s.own[active_state] >= s.own[predicted_states]) fail_value(config, "altup_active_idx", "one of altup_num_inputs");
    (void)checked_width(config, "hidden_size_per_layer_input", s.num_hidden_layers, s.own[input_width]);
    const std::int64_t layers = s.num_hidden_layers;
    if (!read_layer_types(config, s))
        plan_layers(config, s, [](std::int64_t i) {
            return layer_kind{(i + 1) % 5 == 0 ? mixer_kind::full_attention : mixer_kind::sliding_attention};
        });
    s.own[clips_coefficients] = !config.contains("altup_coef_clip") || config.optional_real("altup_coef_clip");
    const sharing shares(config, s, s.own[shared_layers]);
    const auto inner = config.find("intermediate_size");
    const bool many = inner && inner->is_array();
    if (many && static_cast<std::int64_t>(inner->size()) != layers)
        fail_value(config, "intermediate_size", "a number, or a list with one per hidden layer");
    if (inner && !many) s.intermediate_size = inner->as_positive();
    const auto sparsity = config.optional_array("activation_sparsity_pattern");
    if (sparsity && static_cast<std::int64_t>(sparsity->size()) != layers)
        fail_value(config, "activation_sparsity_pattern", "a list with one number per hidden layer");
    const layer_plan given = s.layers;
    plan_layers(config, s, [&](std::int64_t i) {
        const auto at = static_cast<std::size_t>(i);
        const bool zeros = sparsity ? (*sparsity)[at].as_real() > 0 : layers > 10 && i < 10;
        const auto word = static_cast<std::uint8_t>(shares.word_of(i) | (zeros ? sparse : 0));
        const std::int64_t wide = many ? (*inner)[at].as_positive() : 0;
        return layer_kind{.mixer = given[i].mixer, .own = word, .inner = static_cast<std::int32_t>(wide)};
    });
}

}  // namespace gemma3n_detail

// transformers/models/gemma3n: several states between layers, late layers that read others' keys, inputs for each layer
inline constexpr architecture gemma3n_text = [](architecture a) {
    a.heads = language_heads;
    a.rotary_per_mixer = true;
    a.model_type = "gemma3n_text", a.prefix = "Gemma3n", a.read = gemma3n_detail::read, a.own = gemma3n_detail::keys;
    a.base = gemma3n_detail::base, a.embed = embed_words_scaling_by_buffer;
    a.norm = norm_kind::rms_power, a.masks = mask_rule::full_and_sliding;
    a.kinds.own = gemma3n_detail::stores | gemma3n_detail::reuses | gemma3n_detail::sparse;
    a.names.model_type = "TextModel", a.names.embedding_type = "TextScaledWordEmbedding";
    a.keys[0] = no_mlp_bias, a.keys[1] = {"hidden_act", "hidden_activation", key_rule::written_only};
    a.keys[2] = {"intermediate_size", "", key_rule::absent};
    a.defaults.vocab_size = 262400, a.defaults.hidden_size = 2048, a.defaults.intermediate_size = 16384;
    a.defaults.num_hidden_layers = 35, a.defaults.num_attention_heads = 8, a.defaults.num_key_value_heads = 2;
    a.defaults.head_dim = 256, a.defaults.max_position_embeddings = 32768, a.defaults.sliding_window = 512;
    a.defaults.hidden_act = activation::gelu_pytorch_tanh, a.defaults.tie_word_embeddings = true;
    return a;
}(shared_decoder);

}  // namespace llmcost::arch
