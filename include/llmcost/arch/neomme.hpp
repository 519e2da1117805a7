// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/walks/encoder_model.hpp>
#include <llmcost/walks/idle.hpp>

namespace llmcost::arch {

namespace neomme_detail {

inline constexpr std::int64_t most_windows = 8;
enum own : std::uint8_t { rank, patch_size, full_rotary_dim, sliding_rotary_dim, windows };
inline constexpr own_key keys[]{
    {"embedding_rank", 256},
    {"patch_size", 32},
    {.value = own_value::computed},
    {.value = own_value::computed},
    // from here on, the windows that layers have
    {.value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},
};

/// A layer's word: whether values of its own are added for each word, and which window it has, counted from 1.
inline constexpr std::uint8_t adds_values = 1, window_step = 2;
constexpr std::int64_t window_of(const sizes& dims, const layer_kind& kind) {
    const std::size_t number = kind.own / window_step;
    return number == 0 ? 0 : dims.own[windows + number - 1];
}

constexpr value norm_without_weight(const site& here, trace& t, literal name, const value& x) {
    return t.call(name, any_norm{norm_kind::rms_power, x.dim(-1), here.type("RMSNorm"), false}, x);
}

/// Rows and columns as positions, which alternate: (batch, sequence, dim) twice; of a text both are its places.
struct table_of_rows_and_columns {
    site here;
    std::int64_t dim;
    bool slides;

    static constexpr role what = role::rotary;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return here.type("RotaryEmbedding"); }
    constexpr two_values describe(trace& t, std::int64_t sequence) const {
        const recorder::no_grad_guard constants{t};
        rotary_frequencies{here.dims, slides}.update(t, dim);
        const std::int64_t batch = t.load().batch;
        const value angles = t.mul(t.constant({2, batch, sequence, 1}), trace::buffer({dim / 2}));
        const auto table = [&](const value& x) {
            const value half = dense({batch, sequence, dim / 4, 1}, x.type);  // every second frequency of an axis
            const value both = t.cat({half, half}, -1).view({batch, sequence, dim / 2});
            return t.to(t.cat({both, both}, -1), t.activation_type());
        };
        const value cos = t.mul(t.unary(op::cos, angles)), sin = t.mul(t.unary(op::sin, angles));
        return {table(cos), table(sin)};
    }
};

/// What a head found, less its part along the head's own value.
struct exclusive_attention {
    site here;

    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return here.type("ExclusiveSelfAttention"); }
    constexpr value describe(trace& t, const value& found, const value& values) const {
        const value alpha = t.param("alpha", {here.dims.num_attention_heads});
        const std::int64_t groups = here.dims.num_attention_heads / here.dims.num_key_value_heads;
        const value own = t.to(repeat_kv(t, values, groups).transpose(1, 2), dtype::float32);
        const value length = t.unary(op::compare, t.vector_norm(own, -1, true));  // at least the smallest difference
        const value unit = t.to(t.div(own, length.expand({own.dim(0), own.dim(1), own.dim(2), own.dim(3)})), found.type);
        const value along = t.sum(t.mul(found, unit), -1, true);
        const value scale = t.tanh(alpha).view({1, 1, here.dims.num_attention_heads, 1});
        return t.sub(found, t.mul(t.mul(scale, along), unit));
    }
};

struct gated_projection {
    site here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("SigmoidGatedProjection"); }
    constexpr value describe(trace& t, const value& found, const value& x) const {
        const value gate = t.sigmoid(t.call("gate_proj", linear{x.dim(-1), found.dim(-1)}, x));
        return join(here, t, t.mul(found, gate));
    }
};

constexpr value attend(const site& here, trace& t, const value& x) {
    const shared_values& s = *here.shared;
    qkv of = project_qkv(here, t, x);
    split_heads(here, of), heads_first(of);
    of.q = norm_without_weight(here, t, "q_norm", of.q), of.k = norm_without_weight(here, t, "k_norm", of.k);
    for (value* const each : {&of.q, &of.k})
        *each = rotate_part(t, rotation::half, *each, s.cos.dim(-1), s.cos, s.sin, true);
    if ((here.kind.own & adds_values) != 0) {
        const extents split{x.dim(0), x.dim(1), here.dims.num_key_value_heads, here.dims.head_dim};
        of.v = t.add(of.v, s.own[1].view(split).transpose(1, 2));
    }
    const value* const mask = s.mask.rank != 0 ? &s.mask : nullptr;
    const value mixed = eager_attention(t, of.q, of.k, of.v, s.where, {.mask = mask});
    const value found = t.call("exclusive_self_attention", exclusive_attention{here}, mixed, of.v);
    const value flat = t.reshape(found, {x.dim(0), x.dim(1), -1});
    return t.call("output_projection", gated_projection{here}, flat, x);
}

/// The states and those in front of all layers, mixed; norms in front of blocks, whose outputs are scaled.
constexpr value layer(const site& here, trace& t, const value& x) {
    const value lambdas = t.param("lambdas", {2});
    const value kept = t.mul(t.select(lambdas, 0), x);
    const value mixed = t.add(kept, t.mul(t.select(lambdas, 0), here.shared->own[0]));
    const value h = mix_by_attention(here, t, norm_without_weight(here, t, "input_layernorm", mixed));
    const value middle = t.add(x, t.mul(h));
    return t.add(middle, t.mul(here.row.feed(here, t, norm_without_weight(here, t, "post_attention_layernorm", middle))));
}

struct narrow_words {
    site here;

    static constexpr role what = role::embedding;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Embeddings"); }
    constexpr value describe(trace& t) const {
        const std::int64_t narrow = here.dims.own[rank];
        const extents ids{t.load().batch, t.load().sequence};
        const value words = t.call("word_embeddings", embedding{here.dims.vocab_size, narrow}, ids);
        return t.call("embedding_projection", linear{narrow, here.dims.hidden_size}, words);
    }
};

constexpr void declare_patches(const site& here, trace& t) {
    idle_modules m{t};
    const std::int64_t side = here.dims.own[patch_size], in = 3 * side * side, width = here.dims.hidden_size;
    m.within({"patch_embeddings"}, here.type("PatchEmbeddings"), [&] {
        m.layer_norm({"norm"}, in);
        m.linear({"up_proj"}, in, 2 * width, false);
        m.plain({"act_fn"}, {"", "GELU"});
        m.linear({"down_proj"}, 2 * width, width);
    });
}

/// Masks are made for each layer by itself, and only where a text is as long as its window.
constexpr value base(const site& here, trace& t) {
    const sizes& dims = here.dims;
    const std::int64_t sequence = t.load().sequence;
    const value words = t.call("embed_tokens", narrow_words{here});
    declare_patches(here, t);
    value x = norm_without_weight(here, t, "embedding_norm", words);
    shared_values made;
    made.where = all_positions(sequence).where, made.own[0] = x;
    value masks[most_windows + 1];
    for (std::int64_t i = 0; i < dims.num_hidden_layers; ++i) {
        const std::int64_t window = window_of(dims, dims.layers[i]);
        if (window != 0) t.edge(axis::sequence, window);
        if (window != 0 && sequence >= window)
            masks[dims.layers[i].own / window_step] = eager_mask(t, made.where, t.load().batch);
    }
    two_values tables[2];
    const auto make = [&](mixer_kind kind, bool slides) {
        if (!dims.layers.has(kind, dims.num_hidden_layers)) return;
        const std::int64_t dim = dims.own[slides ? sliding_rotary_dim : full_rotary_dim];
        tables[slides ? 1 : 0] = t.call("rotary_emb", table_of_rows_and_columns{here, dim, slides}, sequence);
    };
    make(mixer_kind::full_attention, false), make(mixer_kind::sliding_attention, true);
    const embedding values{dims.vocab_size, dims.num_key_value_heads * dims.head_dim};
    made.own[1] = t.call("value_embeddings", values, extents{t.load().batch, sequence});
    const auto call = [&](const layer_kind& kind, std::int64_t number, const value& h) {
        const two_values& table = tables[kind.mixer == mixer_kind::sliding_attention ? 1 : 0];
        made.mask = masks[kind.own / window_step], made.cos = table.first, made.sin = table.second;
        return t.call({"layers", number}, decoder_layer{{here.whole, here.row, dims, &made, kind, number}}, h);
    };
    // the first layer's states are those that all mix in, kept once
    x = call(dims.layers[0], 0, x);
    layer_plan rest;
    for (std::int64_t i = 1; i < dims.num_hidden_layers; ++i) (void)rest.set(i - 1, dims.layers[i]);
    for (repetition each = t.repeat(dims.num_hidden_layers - 1, rest, x); each.next();)
        x = call(each.kind(), each.index() + 1, x);
    return norm_without_weight(here, t, "final_norm", x);
}

/// Words by the two matrices that embed them, the first one the other way round.
constexpr value score(const site& here, trace& t, const two_values& out) {
    const std::int64_t narrow = here.dims.own[rank], width = here.dims.hidden_size;
    const bool tied = here.dims.tie_word_embeddings;
    const module_info projection{.name = "unembedding_projection", .type = {"", "Linear"}, .leaf = true};
    t.enter(projection);
    const value weight = tied ? t.tied("weight", {width, narrow}) : t.param("weight", {width, narrow});
    t.leave(projection);
    const value h = t.matmul_operator(kept_positions(t, out.first), weight);
    return t.call("lm_head", head_linear{{narrow, here.dims.vocab_size, false, tied}}, h);
}
constexpr value describe(const site& here, trace& t) { return describe_encoder(here, t, {.score = score}); }

// ---- a configuration

/// The window of each layer, 0 for none: those that slide have short ones and long ones in turn, unless the file says so.
constexpr std::int64_t read_window(config_view config, const sizes& s, std::int64_t layer, bool slides,
                                   std::int64_t before) {
    const std::int64_t usual = s.sliding_window;
    const auto layers = config.optional_object("per_layer_config");
    if (!layers) return !slides ? 0 : before % 2 != 0 ? 1024 : usual;
    std::int64_t window = usual;
    for (const config_view entry : *layers) {
        std::int64_t number = 0;
        for (const char c : entry.key()) {
            if (c < '0' || c > '9' || number > largest_input / 10)
                fail_unsupported(config, "per_layer_config", "its keys are numbers of layers");
            number = number * 10 + (c - '0');
        }
        if (number != layer) continue;
        for (const config_view changed : entry.as_object()) {
            if (changed.key() != "sliding_window") fail_unsupported(entry, "changes what no row describes by layer");
            window = changed.is_null() ? 0 : changed.as_positive();
        }
    }
    return window;
}

constexpr std::int64_t read_rotary_dim(config_view config, const sizes& s, literal kind, double otherwise) {
    const auto all = config.optional_object("rope_parameters");
    if (all && !all->contains(kind)) return static_cast<std::int64_t>(static_cast<double>(s.head_dim) * otherwise);
    const auto own = all ? all->optional_object(kind) : all;
    const double part = own ? detail::rotated_part_in(*own, otherwise) : otherwise;
    return static_cast<std::int64_t>(static_cast<double>(s.head_dim) * part);
}

constexpr void read(config_view config, sizes& s) {
    if (s.hidden_act != activation::relu2) fail_value(config, "hidden_act", "\"relu2\"");
    (void)checked_width(config, "patch_size", 3 * s.own[patch_size], s.own[patch_size]);
    const std::int64_t layers = s.num_hidden_layers;
    const bool listed = read_layer_types(config, s);
    const layer_plan given = s.layers;
    const auto is_full = [&](std::int64_t i) {
        return listed ? given[i].mixer == mixer_kind::full_attention : (i + 1) % 6 == 0 || i == layers - 1;
    };
    check_planned(config, s);
    std::int64_t first = layers, last = -1;
    for (std::int64_t i = 0; i < layers; ++i)
        if (is_full(i)) first = first < i ? first : i, last = i;
    if (last < 0) fail_value(config, "layer_types", "at least one full_attention layer");
    std::int64_t slid = 0, known = 0, longest = 0;
    plan_layers(config, s, [&](std::int64_t i) {
        const bool slides = !is_full(i);
        const std::int64_t window = read_window(config, s, i, slides, slid);
        slid += slides ? 1 : 0, longest = longest > window ? longest : window;
        if (slides && window == 0) fail_value(config, "sliding_window", "a number of tokens, as layers slide");
        std::int64_t number = 0;
        while (window != 0 && number < known && s.own[windows + static_cast<std::size_t>(number)] != window) ++number;
        if (number == most_windows) fail_unsupported(config, "per_layer_config", "no row describes so many windows");
        if (window != 0 && number == known) s.own[windows + static_cast<std::size_t>(known++)] = window;
        const std::int64_t word =
            (window != 0 ? (number + 1) * window_step : 0) + (i == first || i == last ? adds_values : 0);
        return layer_kind{.mixer = slides ? mixer_kind::sliding_attention : mixer_kind::full_attention,
                          .own = static_cast<std::uint8_t>(word)};
    });
    s.sliding_window = longest;
    s.frequencies = detail::read_frequency_rule(config, "full_attention");
    s.sliding_frequencies = detail::read_frequency_rule(config, "sliding_attention");
    s.own[full_rotary_dim] = read_rotary_dim(config, s, "full_attention", 0.25);
    s.own[sliding_rotary_dim] = slid > 0 ? read_rotary_dim(config, s, "sliding_attention", 1.0) : 4;
    for (const std::int64_t dim : {s.own[full_rotary_dim], s.own[sliding_rotary_dim]})
        if (dim < 4 || dim % 4 != 0) fail_unsupported(config, "head_dim", "rotates no multiple of 4 elements of a head");
}

}  // namespace neomme_detail

// transformers/models/neomme: an encoder whose layers mix in what went into the first one, and look past their own values
inline constexpr architecture neomme = [](architecture a) {
    a.model_type = "neomme", a.prefix = "NeoMME", a.describe = neomme_detail::describe, a.base = neomme_detail::base;
    a.read = neomme_detail::read, a.own = neomme_detail::keys, a.layer = neomme_detail::layer;
    a.attend = neomme_detail::attend, a.feed_forward = mlp_kind::plain, a.rotated = rotation::none;
    a.kinds.own = neomme_detail::most_windows * neomme_detail::window_step + neomme_detail::adds_values;
    a.heads = {head_kind::none, head_kind::masked_lm};
    a.names.layer_type = "EncoderLayer", a.names.mlp = {.up = "up_proj", .down = "down_proj", .act = "act_fn"};
    a.defaults = sizes{.vocab_size = 131072,
                       .hidden_size = 1024,
                       .intermediate_size = 3584,
                       .num_hidden_layers = 17,
                       .num_attention_heads = 16,
                       .num_key_value_heads = 4,
                       .head_dim = 64,
                       .max_position_embeddings = 16384,
                       .sliding_window = 256,
                       .hidden_act = activation::relu2,
                       .head = head_kind::masked_lm,
                       .tie_word_embeddings = true};
    return a;
}(llama);

}  // namespace llmcost::arch
