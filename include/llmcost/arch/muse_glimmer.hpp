// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/qwen2_vl.hpp>

namespace llmcost::arch {

namespace muse_glimmer_detail {

// ---- what reads

/// The word of layers whose attention knows of no positions.
inline constexpr std::uint8_t unrotated = 1;

/// A norm of a class of its own, with a weight or without.
constexpr value scaled(const site& here, trace& t, literal name, const value& x, bool weight) {
    return t.call(name, norm<norm_kind::rms_power>{x.dim(-1), here.type("RMSNorm"), weight}, x);
}

/// Words are normed inside of their module.
constexpr value embed(const site& here, trace& t) {
    const std::int64_t width = here.dims.hidden_size;
    const module_info words{.name = "embed_tokens", .type = here.type("TextNormedEmbedding"), .what = role::embedding};
    t.enter(words);
    const value weight = t.param("weight", {here.dims.vocab_size, width});
    const value found = t.gather(weight, {t.load().batch, t.load().sequence, width});
    return t.leave(words, scaled(here, t, "embed_norm", found, false));
}

/// One norm for queries and keys, queries scaled behind it; what is found is opened by a gate.
constexpr value attend(const site& here, trace& t, const value& x) {
    qkv of = project_qkv(here, t, x);
    split_heads(here, of);
    heads_first(of);
    of.q = t.mul(scaled(here, t, "qk_norm", of.q, false));
    of.k = scaled(here, t, "qk_norm", of.k, false);
    if (here.kind.own != unrotated) turn(here, t, of);
    remember(here, t, of);
    const value found = look_up(here, t, of);
    const value gate = t.call("gate_proj", linear{here.dims.hidden_size, found.dim(-1)}, x);
    return join(here, t, t.mul(found, t.sigmoid(gate)));
}

constexpr value read_base(const site& here, trace& t) {
    const value x = here.row.embed(here, t);
    const decoder_context shared = here.row.prepare(here, t);
    return scaled(here, t, "norm", describe_layers(here, t, shared, x), true);
}

/// Logits times a constant, then a cap.
constexpr value finish(const site&, trace& t, const value& logits) {
    return t.mul(t.tanh(t.div(t.mul(logits))));
}

/// Full attention in every fourth layer, counted from the last; those rotate nothing, unless `layer_rope_theta` says more.
constexpr void read_text(config_view config, sizes& s) {
    const std::int64_t layers = s.num_hidden_layers;
    const bool listed = read_layer_types(config, s);
    const auto bases = config.optional_array("layer_rope_theta");
    if (bases && static_cast<std::int64_t>(bases->size()) != layers)
        fail_value(config, "layer_rope_theta", "a list with one base per hidden layer");
    const layer_plan given = s.layers;
    plan_layers(config, s, [&](std::int64_t i) {
        const bool fourth = (layers - 1 - i) % 4 == 0;
        const mixer_kind by_rule = fourth ? mixer_kind::full_attention : mixer_kind::sliding_attention;
        const bool turns = bases ? (*bases)[static_cast<std::uint32_t>(i)].as_real() != 0 : !fourth;
        return layer_kind{.mixer = listed ? given[i].mixer : by_rule, .own = turns ? std::uint8_t{} : unrotated};
    });
}

// ---- what sees

using qwen2_vl_detail::patch, qwen2_vl_detail::frames, qwen2_vl_detail::channels, qwen2_vl_detail::merge;
enum seen_by : std::uint8_t { side = qwen2_vl_detail::width, columns };
inline constexpr own_key keys[]{
    {"patch_size", 14},      {"patch_temporal", 2}, {.otherwise = 3, .value = own_value::computed}, {"merge_size", 2},
    {"pos_emb_height", 32}, {"pos_emb_width", 32},
};

/// What a layer's kind says of itself: it attends within windows.
constexpr std::uint8_t within_windows = 1;

struct encoder_layer {
    site here;
    const packed_context& made;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("VisionEncoderLayer"); }
    constexpr value attended(trace& t, const value& x) const {
        const std::int64_t rows = x.dim(0), width = x.dim(1);
        const linear same{width, width, true};
        const module_info attention{.name = "attn", .type = here.type("VisionAttention"), .what = role::attn};
        t.enter(attention);
        const auto heads = [&](literal name) { return t.call(name, same, x).view({rows, here.dims.num_attention_heads, -1}); };
        const auto turned = [&](const value& part) {
            return t.to(rotate(t, rotation::half, t.to(part, dtype::float32), made.cos, made.sin), part.type);
        };
        const value q = heads("q_proj"), k = heads("k_proj"), v = heads("v_proj");
        const value turned_q = turned(q), turned_k = turned(k);
        const packed_runs runs = here.kind.own == within_windows ? made.pictures.windows(1, here.dims.own[side])
                                                                 : made.pictures.whole();
        return t.leave(attention, t.call("proj", same, attend_packed(t, turned_q, turned_k, v, runs)));
    }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t in = here.dims.hidden_size;
        const norm<norm_kind::layer> layer_norm{in};
        const value middle = t.add(x, attended(t, t.call("norm1", layer_norm, x)));
        const mlp<mlp_kind::plain> feed{in,   here.dims.intermediate_size, here.dims.hidden_act, here.type("VisionMLP"),
                                        true, {.up = "fc1", .down = "fc2", .act = "act"}};
        return t.add(middle, t.call("mlp", feed, t.call("norm2", layer_norm, middle)));
    }
};

/// Patches of several frames in the order of their windows, layers, back to their own order, several of them side by side.
constexpr value see(const site& here, trace& t) {
    const own_sizes& own = here.dims.own;
    const std::int64_t in = here.dims.hidden_size, pixels = own[channels] * own[frames] * own[patch] * own[patch];
    packed_context made{.pictures = qwen2_vl_detail::grid_of(here, t)};
    const std::int64_t rows = made.pictures.patches(), many = own[merge] * own[merge];
    const norm<norm_kind::layer> layer_norm{in};
    const module_info embedder{.name = "patch_embedder", .type = here.type("VisionPatchEmbedder"), .what = role::embedding};
    t.enter(embedder);
    value x = t.call("patch_embedding", linear{pixels, in}, qwen2_vl_detail::patches_in(here, t, made.pictures));
    const std::int64_t places = own[side] * own[columns];
    const value found = resampled_middles(t, "position_embedding_table", places, in, rows, true);
    x = t.call("ln_pre", layer_norm, t.leave(embedder, t.add(x, t.to(found, x.type))));
    x = t.gather(x, {rows, in});
    const packed_table table{in / here.dims.num_attention_heads, here.type("VisionRotaryEmbedding")};
    const two_values turns = t.call("rotary_emb", table, rows);
    made.cos = turns.first, made.sin = turns.second;
    const shared_values none{};
    for (repetition each = t.repeat(here.dims.num_hidden_layers, here.dims.layers, x); each.next();)
        x = t.call({"layers", each.index()}, encoder_layer{here.at(each, none), made}, x);
    x = t.call("ln_post", layer_norm, t.gather(x, {rows, in}));
    const value blocks = t.gather(x, {rows, in}).view({-1, many, in});
    return t.reshape(blocks.permute({0, 2, 1}), {-1, many * in});
}

/// Windows in all but every fourth layer and the last.
constexpr void read_vision(config_view config, sizes& s) {
    share_among_heads(config, s, {"num_attention_heads"});
    if (s.own[side] != s.own[columns])
        fail_unsupported(config, "pos_emb_width", "the reference resamples a square of positions");
    const auto types = config.optional_array("layer_types");
    if (types && static_cast<std::int64_t>(types->size()) != s.num_hidden_layers)
        fail_value(config, "layer_types", "a list with one kind per hidden layer");
    for (std::int64_t i = 0; i < s.num_hidden_layers; ++i) {
        const string_ref word = types ? (*types)[static_cast<std::uint32_t>(i)].as_string() : string_ref{};
        if (types && word != "full_attention" && word != "window_attention")
            fail_value(config, "layer_types", "a list of full_attention and window_attention");
        const bool all = types ? word == "full_attention" : (i + 1) % 4 == 0 || i == s.num_hidden_layers - 1;
        (void)s.layers.set(i, {.own = all ? std::uint8_t{} : within_windows});
    }
}

// ---- the whole

enum whole : std::uint8_t { tower_width, inner, act, most_tokens };
inline constexpr own_key whole_keys[]{
    {"out_hidden_size", 6144},
    {"projector_hidden_size", 4096},
    {.otherwise = static_cast<std::int64_t>(activation::gelu), .value = own_value::computed},
    {.otherwise = 4096, .value = own_value::computed},
};

/// Grids in the order in which a set of CPython hands them out, by which the processor picks one of two that are as near.
///
/// Source: CPython's Objects/tupleobject.c, `tuple_hash`, and Objects/setobject.c, `set_add_entry` (8 slots).
struct grid_set {
    resized slots[8]{};
    bool taken[8]{};

    constexpr void add(const resized& grid) noexcept {
        std::uint64_t hash = 2870177450012600261U;
        for (const std::int64_t lane : {grid.height, grid.width}) {
            hash += static_cast<std::uint64_t>(lane) * 14029467366897019727U;
            hash = (hash << 31 | hash >> 33) * 11400714785074694791U;
        }
        hash += 2U ^ 2870177450012600261U ^ 3527539U;
        std::uint64_t i = hash & 7U;
        for (std::uint64_t perturb = hash; taken[i]; i = (i * 5 + 1 + perturb) & 7U) {
            if (slots[i].height == grid.height && slots[i].width == grid.width) return;
            perturb >>= 5;
        }
        slots[i] = grid, taken[i] = true;
    }
};

/// The grid of merged patches nearest to an image's shape, of at most so many: rounded down or up along each side.
///
/// Source: transformers/models/muse_glimmer/image_processing_muse_glimmer.py, `smart_resize`.
constexpr resized nearest_grid(std::int64_t height, std::int64_t width, std::int64_t patch, std::int64_t most) {
    double rows = static_cast<double>(height) / static_cast<double>(patch);
    double columns = static_cast<double>(width) / static_cast<double>(patch);
    const double shape = static_cast<double>(height) / static_cast<double>(width), ratio = columns / rows;
    if (rows * columns > static_cast<double>(most)) {
        rows = __builtin_sqrt(static_cast<double>(most) / ratio);
        columns = rows * ratio;
    }
    const auto down = [](double n) { return static_cast<std::int64_t>(n); };
    const auto up = [&](double n) { return static_cast<double>(down(n)) < n ? down(n) + 1 : down(n); };
    grid_set candidates;
    for (const std::int64_t r : {down(rows), up(rows)})
        for (const std::int64_t c : {down(columns), up(columns)}) candidates.add({r, c});
    resized best{0, 0};
    double nearest = 0;
    for (const resized& grid : candidates.slots) {
        if (grid.height < 1 || grid.width < 1 || grid.height * grid.width > most) continue;
        const double away = static_cast<double>(grid.height) / static_cast<double>(grid.width) - shape;
        const double distance = away < 0 ? -away : away;
        if (best.height == 0 || distance < nearest) best = grid, nearest = distance;
    }
    const auto rounded = [&](double n) {  // Python's: halves to even
        const double part = n - static_cast<double>(down(n));
        const std::int64_t whole = part > 0.5 || (part == 0.5 && down(n) % 2 != 0) ? down(n) + 1 : down(n);
        return whole > 1 ? whole : 1;
    };
    if (best.height == 0) best = {rounded(rows), rounded(columns)};
    return {best.height * patch, best.width * patch};
}

constexpr media_shapes show(const model& m, const workload& load) {
    if (load.images == 0) return {};
    if (load.image_height == 0) report_description("this model reads images of any size: say --image WIDTHxHEIGHT");
    const own_sizes& tower = m.beside[0].dims.own;
    const std::int64_t factor = tower[patch] * tower[merge];
    const resized size = nearest_grid(load.image_height, load.image_width, factor, m.own[most_tokens]);
    return {.image = {.tokens = size.height / factor * (size.width / factor), .height = size.height, .width = size.width}};
}

/// Features of pictures through two layers, a projection and a norm without a weight: (S, in) -> (S, hidden).
constexpr value adapt(const site& here, trace& t, const value& x) {
    const own_sizes& own = here.whole.own;
    const std::int64_t wide = own[inner];
    const activation_module kind{static_cast<activation>(own[act])};
    const module_info adapter{.name = "vision_adapter", .type = here.type("VisionAdapter"), .what = role::projector};
    t.enter(adapter);
    value h = t.call("act", kind, t.call("fc1", linear{own[tower_width], wide}, x));
    h = t.leave(adapter, t.call("act", kind, t.call("fc2", linear{wide, wide}, h)));
    return scaled(here, t, "perception_emb_norm", t.call("vision_projection", linear{wide, here.dims.hidden_size}, h), false);
}

constexpr value see_and_read(const site& here, trace& t) {
    return describe_text_after(here, t, "language_model", [&](const value& words) {
        return place_pictures(here, t, words, [&] {
            return adapt(here, t, describe_tower(here, t, 0, "vision_tower", role::vision));
        });
    });
}

constexpr void read_whole(config_view config, model& m) {
    if (const auto name = config.optional_string("projector_hidden_act"))
        m.own[act] = static_cast<std::int64_t>(activation_named(config, "projector_hidden_act", *name));
    const sizes& tower = m.beside[0].dims;
    if (m.own[tower_width] != tower.hidden_size * tower.own[merge] * tower.own[merge])
        fail_value(config, "out_hidden_size", "hidden_size * merge_size² of the tower");
}

}  // namespace muse_glimmer_detail

// transformers/models/muse_glimmer, MuseGlimmerTextConfig
inline constexpr architecture muse_glimmer_text = [](architecture a) {
    a.model_type = "muse_glimmer_text", a.prefix = "MuseGlimmer", a.read = muse_glimmer_detail::read_text;
    a.heads = {head_kind::none}, a.base = muse_glimmer_detail::read_base, a.embed = muse_glimmer_detail::embed;
    a.layer = layer_normed_around, a.attend = muse_glimmer_detail::attend, a.norm = norm_kind::rms_plus_one;
    a.masks = mask_rule::full_and_sliding, a.kinds.own = muse_glimmer_detail::unrotated;
    a.names.model_type = "TextModel", a.names.layer_type = "TextDecoderLayer", a.names.attention_type = "TextAttention";
    a.names.mlp_type = "TextMLP", a.names.norm_type = "TextCenteredRMSNorm", a.names.rotary_type = "TextRotaryEmbedding";
    a.names.norm_before_feed_forward = "pre_feedforward_layernorm";
    a.keys[0] = {"hidden_act", "hidden_activation", key_rule::written_only}, a.keys[1] = no_mlp_bias;
    a.defaults = {.vocab_size = 202048,
                  .hidden_size = 6656,
                  .intermediate_size = 19968,
                  .num_hidden_layers = 52,
                  .num_attention_heads = 32,
                  .num_key_value_heads = 2,
                  .head_dim = 128,
                  .max_position_embeddings = 131072,
                  .sliding_window = 2048,
                  .head = head_kind::none};
    return a;
}(shared_decoder);

// transformers/models/muse_glimmer, MuseGlimmerVisionConfig
inline constexpr architecture muse_glimmer_vision{
    .model_type = "muse_glimmer_vision",
    .prefix = "MuseGlimmer",
    .base = muse_glimmer_detail::see,
    .read = muse_glimmer_detail::read_vision,
    .own = muse_glimmer_detail::keys,
    .kinds = {.own = muse_glimmer_detail::within_windows},
    .rotated = rotation::none,
    .names = {.model_type = "VisionModel"},
    .defaults = {.hidden_size = 1536,
                 .intermediate_size = 8960,
                 .num_hidden_layers = 50,
                 .num_attention_heads = 16,
                 .hidden_act = activation::gelu},
};

// transformers/models/muse_glimmer
inline constexpr architecture muse_glimmer = [](architecture a) {
    a.model_type = "muse_glimmer", a.prefix = "MuseGlimmer", a.base = muse_glimmer_detail::see_and_read;
    a.own = muse_glimmer_detail::whole_keys, a.read_whole = muse_glimmer_detail::read_whole;
    a.media = muse_glimmer_detail::show, a.reads.images = true, a.finish = muse_glimmer_detail::finish;
    a.text = {.key = "text_config", .otherwise = &muse_glimmer_text, .always = true};
    a.beside[0] = {.key = "vision_config", .otherwise = &muse_glimmer_vision, .always = true};
    return a;
}(shared_composite);

}  // namespace llmcost::arch
