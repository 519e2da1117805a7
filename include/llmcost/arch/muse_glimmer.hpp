// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/kimi_k25.hpp>
#include <llmcost/arch/llama.hpp>
#include <llmcost/reading/processor.hpp>

namespace llmcost::arch {

namespace muse_glimmer_detail {

// ---- text

inline constexpr std::uint8_t unturned = 1;  // a layer whose queries and keys know no positions

constexpr value without_scale(const site& here, trace& t, literal name, std::int64_t width, const value& x) {
    return t.call(name, any_norm{norm_kind::rms_power, width, here.type("RMSNorm"), false}, x);
}

/// Queries and keys through one norm, queries times a constant, turned in layers that know positions, and remembered.
constexpr qkv turned_qkv(const site& here, trace& t, const value& x) {
    const std::int64_t d = here.dims.head_dim;
    qkv of = project_qkv(here, t, x);
    split_heads(here, of), heads_first(of);
    of.q = t.mul(without_scale(here, t, "qk_norm", d, of.q));
    {
        const recorder::called_again_guard again{t};
        of.k = without_scale(here, t, "qk_norm", d, of.k);
    }
    if (here.kind.own != unturned) turn(here, t, of);
    remember(here, t, of);
    return of;
}

/// What attention finds is gated by the layer's input.
constexpr value attend(const site& here, trace& t, const value& x) {
    const std::int64_t wide = here.dims.num_attention_heads * here.dims.head_dim;
    const value found = look_up(here, t, turned_qkv(here, t, x));
    return join(here, t, t.mul(found, t.sigmoid(t.call("gate_proj", linear{here.dims.hidden_size, wide}, x))));
}

/// Words are normed inside of their module.
constexpr value embed(const site& here, trace& t) {
    const std::int64_t width = here.dims.hidden_size;
    const module_info words{.name = "embed_tokens", .type = here.type("TextNormedEmbedding"), .what = role::embedding};
    t.enter(words);
    const value found =
        t.gather(t.param("weight", {here.dims.vocab_size, width}), {t.load().batch, t.load().sequence, width});
    return t.leave(words, without_scale(here, t, "embed_norm", width, found));
}

/// The last norm is of another class than those of the layers.
constexpr value text_base(const site& here, trace& t) {
    const value x = here.row.embed(here, t);
    const decoder_context shared = here.row.prepare(here, t);
    const value states = describe_layers(here, t, shared, x);
    return t.call("norm", any_norm{norm_kind::rms_power, here.dims.hidden_size, here.type("RMSNorm")}, states);
}

/// Every fourth layer from the last on sees everything and knows no positions, unless the lists say otherwise.
constexpr void read_text(config_view config, sizes& s) {
    const bool listed = read_layer_types(config, s);
    const layer_plan given = s.layers;
    const auto thetas = config.optional_array("layer_rope_theta");
    if (thetas && static_cast<std::int64_t>(thetas->size()) != s.num_hidden_layers)
        fail_value(config, "layer_rope_theta", "a list with one number per hidden layer");
    plan_layers(config, s, [&](std::int64_t i) {
        const bool whole = (s.num_hidden_layers - 1 - i) % 4 == 0;
        layer_kind kind{.mixer = whole ? mixer_kind::full_attention : mixer_kind::sliding_attention};
        if (listed) kind.mixer = given[i].mixer;
        const bool turns = thetas ? (*thetas)[static_cast<std::uint32_t>(i)].as_real() != 0 : !whole;
        kind.own = turns ? std::uint8_t{} : unturned;
        return kind;
    });
    s.logits_soft_cap = true;
}

// ---- tower

enum tower_own : std::uint8_t { table_rows, table_columns, merged, frames };
inline constexpr own_key tower_keys[]{
    {"pos_emb_height", 32}, {"pos_emb_width", 32}, {"merge_size", 2}, {"patch_temporal", 2}};

inline constexpr std::uint8_t windowed = 1;

/// Each image by itself, in some layers each window of it.
constexpr value attend_patches(const site& here, trace& t, const value& x) {
    const std::int64_t n = x.dim(0), width = here.dims.hidden_size, heads = here.dims.num_attention_heads, d = width / heads;
    const auto split = [&](literal name) { return t.call(name, linear{width, width, true}, x).view({n, heads, d}); };
    const value q = split("q_proj"), k = split("k_proj"), v = split("v_proj");
    const auto widened = [&](const value& from) { return t.to(from, dtype::float32); };
    const value cos = widened(here.shared->cos), sin = widened(here.shared->sin);
    const auto turned = [&](const value& from) {
        return t.to(rotate<rotation::half>(t, widened(from), cos, sin), from.type);
    };
    const value first = turned(q);
    const packed_pictures grid = packed_images(t.load(), here.dims.vision.patch_size);
    const packed_runs runs = here.kind.own == windowed ? grid.windows(1, here.dims.own[table_rows]) : grid.whole();
    return t.call("proj", linear{width, width, true}, attend_packed(t, first, turned(k), v, runs));
}

constexpr value tower_base(const site& here, trace& t) {
    const std::int64_t patch = here.dims.vision.patch_size, width = here.dims.hidden_size, m = here.dims.own[merged];
    const std::int64_t n = packed_images(t.load(), patch).patches(), values = here.dims.own[frames] * 3 * patch * patch;
    const module_info embedder{.name = "patch_embedder", .type = here.type("VisionPatchEmbedder"), .what = role::embedding};
    t.enter(embedder);
    value x = t.call("patch_embedding", linear{values, width}, t.input({n, values}));
    value weights;
    {
        const recorder::no_grad_guard constants{t};
        const value rows = weights_of_axis(t, n, place_taps::two, false);
        const value columns = weights_of_axis(t, n, place_taps::two, false);
        weights = t.mul(t.mul(rows.unsqueeze(2), columns.unsqueeze(1)).view({n, 4}));  // nothing outside of the table
    }
    const embedding table{here.dims.own[table_rows] * here.dims.own[table_columns], width};
    const value found = t.call("position_embedding_table", table, extents{n, 4});
    x = t.leave(embedder, t.add(x, t.to(t.sum(t.mul(found, weights.view({n, 4, 1})), 1), x.type)));
    x = t.gather(t.call("ln_pre", norm<norm_kind::layer>{width}, x), {n, width});  // in the order of windows
    shared_values made;
    const packed_table angles{width / here.dims.num_attention_heads, here.type("VisionRotaryEmbedding")};
    const two_values tables = t.call("rotary_emb", angles, n);
    made.cos = t.to(tables.first, x.type), made.sin = t.to(tables.second, x.type);
    for (repetition each = t.repeat(here.dims.num_hidden_layers, here.dims.layers, x); each.next();)
        x = t.call({"layers", each.index()}, kimi_k25_detail::layer{here.at(each, made)}, x);
    x = t.call("ln_post", norm<norm_kind::layer>{width}, t.gather(x, {n, width}));
    const value squares = t.gather(x, {n, width}).view({-1, m * m, width});
    return t.reshape(squares.permute({0, 2, 1}), {n / (m * m), width * m * m});
}

/// Every fourth layer and the last one see everything.
constexpr void read_tower(config_view config, sizes& s) {
    s.vision.patch_size = config.positive("patch_size", 14);
    share_among_heads(config, s, {"num_attention_heads"});
    if (s.hidden_size / s.num_attention_heads % 4 != 0)
        fail_value(config, "num_attention_heads", "heads of a multiple of 4 features");
    const auto types = config.optional_array("layer_types");
    if (types && static_cast<std::int64_t>(types->size()) != s.num_hidden_layers)
        fail_value(config, "layer_types", "a list with one kind per hidden layer");
    plan_layers(config, s, [&](std::int64_t i) {
        bool whole = (i + 1) % 4 == 0 || i + 1 == s.num_hidden_layers;
        if (types) {
            const string_ref word = (*types)[static_cast<std::uint32_t>(i)].as_string();
            whole = word == "full_attention";
            if (!whole && word != "window_attention")
                fail_unsupported(config, "layer_types", "no layer describes one of these kinds");
        }
        return layer_kind{.own = whole ? std::uint8_t{} : windowed};
    });
}

inline constexpr architecture tower = [](architecture a) {
    a.model_type = "muse_glimmer_vision", a.prefix = "MuseGlimmer", a.base = tower_base, a.read = read_tower;
    a.own = tower_keys, a.heads = {}, a.attend = attend_patches, a.kinds.own = windowed;
    a.names.attention_type = "VisionAttention";
    a.defaults.hidden_size = 1536, a.defaults.intermediate_size = 8960, a.defaults.num_hidden_layers = 50;
    a.defaults.num_attention_heads = 16, a.defaults.hidden_act = activation::gelu;
    return a;
}(shared_tower);

// ---- images

/// A grid of squares of patches.
struct grid {
    std::int64_t rows;
    std::int64_t columns;

    [[nodiscard]] constexpr bool operator==(const grid&) const noexcept = default;
    /// What CPython 3 makes of a tuple of two small integers, of 64 bits (Objects/tupleobject.c, `tuplehash`).
    [[nodiscard]] constexpr std::uint64_t hash() const noexcept {
        constexpr std::uint64_t p1 = 11400714785074694791ULL, p2 = 14029467366897019727ULL, p5 = 2870177450012600261ULL;
        std::uint64_t out = p5;
        for (const std::int64_t n : {rows, columns}) {
            out += static_cast<std::uint64_t>(n) * p2;
            out = (out << 31) | (out >> 33);
            out *= p1;
        }
        return out + (2 ^ (p5 ^ 3527539ULL));
    }
};

/// At most four different grids in the order in which a set of them is walked (Objects/setobject.c): of two that are as
/// good, the first one is taken.
class grid_set {
public:
    constexpr void insert(const grid& one) noexcept {
        std::uint64_t perturb = one.hash(), at = perturb % places;
        while (taken_[at] && !(all_[at] == one)) perturb >>= 5, at = (at * 5 + 1 + perturb) % places;
        taken_[at] = true, all_[at] = one;
    }
    template <class Visit>
    constexpr void each(const Visit& visit) const {
        for (std::uint64_t i = 0; i < places; ++i)
            if (taken_[i]) visit(all_[i]);
    }

private:
    static constexpr std::uint64_t places = 8;
    grid all_[places]{};
    bool taken_[places]{};
};

/// The grid whose aspect is nearest to the image's, of at most so many squares.
///
/// Source: transformers/models/muse_glimmer/image_processing_muse_glimmer.py, `smart_resize`.
[[nodiscard]] constexpr grid fitted(image_sides shown, std::int64_t step, std::int64_t most) {
    const auto real = [](std::int64_t n) { return static_cast<double>(n); };
    const auto floor = [](double x) { return static_cast<std::int64_t>(x); };
    const auto ceil = [&](double x) { return floor(x) + (real(floor(x)) < x ? 1 : 0); };
    double rows = real(shown.height) / real(step), columns = real(shown.width) / real(step);
    const double ratio = columns / rows;
    if (rows * columns > real(most)) rows = __builtin_sqrt(real(most) / ratio), columns = rows * ratio;
    grid_set candidates;
    for (const std::int64_t down : {floor(rows), ceil(rows)})
        for (const std::int64_t across : {floor(columns), ceil(columns)}) candidates.insert({down, across});
    const double aspect = real(shown.height) / real(shown.width);
    grid best{};
    double least = -1;
    candidates.each([&](const grid& one) {
        if (one.rows < 1 || one.columns < 1 || one.rows * one.columns > most) return;
        const double off = real(one.rows) / real(one.columns) - aspect, distance = off < 0 ? -off : off;
        if (least < 0 || distance < least) least = distance, best = one;
    });
    const auto rounded = [&](double x) {  // halves to even, and at least one
        const std::int64_t below = floor(x);
        const double rest = x - real(below);
        const std::int64_t n = below + (rest > 0.5 || (rest == 0.5 && below % 2 != 0) ? 1 : 0);
        return n < 1 ? 1 : n;
    };
    return least < 0 ? grid{rounded(rows), rounded(columns)} : best;
}

enum own : std::uint8_t { seen_width, inner, act, most_tokens };
inline constexpr own_key keys[]{{"out_hidden_size", 6144},
                                {"projector_hidden_size", 4096},
                                {.otherwise = static_cast<std::int64_t>(activation::gelu), .value = own_value::computed},
                                {.otherwise = 4096, .value = own_value::computed}};

constexpr media_shapes show(const model& m, const workload& load) {
    if (load.images == 0) return {};
    if (load.image_height == 0) report_description("this model reads images of any size: say --image WIDTHxHEIGHT");
    const sizes& vision = m.beside[0].dims;
    const std::int64_t step = vision.vision.patch_size * vision.own[merged];
    const grid to = fitted({load.image_height, load.image_width}, step, m.own[most_tokens]);
    return {.image = {.tokens = to.rows * to.columns, .height = to.rows * step, .width = to.columns * step}};
}

constexpr void read_processor(config_view told, model& m) {
    expect_patches(told, m.beside[0].dims.vision.patch_size, m.beside[0].dims.own[merged]);
    m.own[most_tokens] = told.positive("max_image_tokens", m.own[most_tokens]);
}

// ---- the whole

/// Two projections, the activation module behind each.
struct adapter {
    site here;

    static constexpr role what = role::projector;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("VisionAdapter"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t in = here.whole.own[seen_width], wide = here.whole.own[inner];
        const activation_module between{static_cast<activation>(here.whole.own[act])};
        const value h = t.call("act", between, t.call("fc1", linear{in, wide}, x));
        const value out = t.call("fc2", linear{wide, wide}, h);
        const recorder::called_again_guard again{t};
        return t.call("act", between, out);
    }
};

/// Images in the places of the words that stand for them.
constexpr value place_images(const site& here, trace& t, const value& words) {
    const bool sees = sees_images(t);
    const recorder::idle_guard no_pixels{t, !sees};
    const sizes& vision = here.whole.beside[0].dims;
    const media_shape each = sees ? here.whole.kind->media(here.whole, t.load()).image : media_shape{};
    const recorder::workload_guard shown{t, packed_workload(t, each, vision.vision.patch_size * vision.own[merged])};
    const std::int64_t width = here.dims.hidden_size;
    const value seen = t.call("vision_adapter", adapter{here}, describe_tower(here, t, 0, "vision_tower", role::vision));
    const value features = t.call("vision_projection", projector_linear{here.whole.own[inner], width}, seen);
    const value normed = without_scale(here, t, "perception_emb_norm", width, features);
    return sees ? t.masked_scatter(words, t.cat({normed}, 0)) : words;
}

constexpr value base(const site& here, trace& t) {
    return describe_text_after(here, t, "language_model", [&](const value& words) { return place_images(here, t, words); });
}

constexpr void read(config_view config, model& m) {
    const sizes& vision = m.beside[0].dims;
    if (vision.hidden_size * vision.own[merged] * vision.own[merged] != m.own[seen_width])
        fail_value(config, "out_hidden_size", "the width of a square of patches");
    m.dims.logits_soft_cap = true;
    if (const auto name = config.find("projector_hidden_act"))
        m.own[act] = static_cast<std::int64_t>(activation_named(config, "projector_hidden_act", name->as_string()));
}

}  // namespace muse_glimmer_detail

// transformers/models/muse_glimmer: norms around blocks, gated attention, positions in layers with windows alone
inline constexpr architecture muse_glimmer_text = [](architecture a) {
    a.drops = {}, a.model_type = "muse_glimmer_text", a.prefix = "MuseGlimmer", a.read = muse_glimmer_detail::read_text,
    a.heads = {};
    a.base = muse_glimmer_detail::text_base, a.embed = muse_glimmer_detail::embed, a.layer = layer_normed_around;
    a.attend = muse_glimmer_detail::attend, a.norm = norm_kind::rms_plus_one, a.masks = mask_rule::full_and_sliding;
    a.kinds.own = muse_glimmer_detail::unturned, a.finish = multiply_logits;
    a.names.norm_before_feed_forward = "pre_feedforward_layernorm";
    a.names.model_type = "TextModel", a.names.layer_type = "TextDecoderLayer", a.names.attention_type = "TextAttention";
    a.names.norm_type = "TextCenteredRMSNorm", a.names.mlp_type = "TextMLP", a.names.rotary_type = "TextRotaryEmbedding";
    a.keys[1] = {"hidden_act", "hidden_activation", key_rule::written_only}, a.keys[0] = no_mlp_bias;
    a.defaults.vocab_size = 202048, a.defaults.hidden_size = 6656, a.defaults.intermediate_size = 19968;
    a.defaults.num_hidden_layers = 52, a.defaults.num_attention_heads = 32, a.defaults.num_key_value_heads = 2;
    a.defaults.head_dim = 128, a.defaults.max_position_embeddings = 131072, a.defaults.sliding_window = 2048;
    return a;
}(llama);

// transformers/models/muse_glimmer: patches of images of any shape in front of it
inline constexpr architecture muse_glimmer = [](architecture a) {
    a.model_type = "muse_glimmer", a.prefix = "MuseGlimmer", a.base = muse_glimmer_detail::base;
    a.own = muse_glimmer_detail::keys, a.read_whole = muse_glimmer_detail::read, a.finish = multiply_logits;
    a.media = muse_glimmer_detail::show, a.read_processor = muse_glimmer_detail::read_processor, a.reads.images = true;
    a.text = {.key = "text_config", .otherwise = &muse_glimmer_text};
    a.beside[0] = {.key = "vision_config", .otherwise = &muse_glimmer_detail::tower, .always = true};
    return a;
}(shared_composite);

}  // namespace llmcost::arch
