// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/blip_2.hpp>
#include <llmcost/arch/granite.hpp>
#include <llmcost/arch/llava_next.hpp>

namespace llmcost::arch {

namespace granite4_vision_detail {

// behind LLaVA-NeXT's strategy and grids: sides of windows, projectors of layers, corners that are read, whether each
// projector has a layer of its own
enum own : std::uint8_t { query_side = 17, window_side, of_layers, of_corners, apart };
struct key_table {
    own_key of[apart + 1]{};
};
inline constexpr key_table keys = [] {
    key_table all;
    for (own_key& key : all.of) key.value = own_value::computed;
    all.of[of_corners].otherwise = 4, all.of[apart].otherwise = 1;
    return all;
}();
inline constexpr std::int64_t corners = 4, most_layers = 32;

/// Squares of a square of states, one behind the other: (B, side², width) -> (B · squares, by², width).
constexpr value cut_windows(trace& t, const value& x, std::int64_t side, std::int64_t by) {
    const std::int64_t n = side / by, batch = x.dim(0), width = x.dim(2);
    const value grid = x.view({batch, n, by, n, by, width}).transpose(2, 3);
    return t.reshape(grid, {batch * n * n, by * by, width});
}

/// Learned queries on top of fewer states look at the states of their window (`Granite4VisionWindowQFormerDownsampler`).
struct window_former {
    site here;
    bool corner;  ///< states are one of each four; else means of squares

    static constexpr role what = role::projector;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("WindowQFormerDownsampler"); }
    constexpr value describe(trace& t, const value& x) const {
        const site former = here.component(1);
        const std::int64_t width = x.dim(2), tiles = x.dim(0), side = llava_next_detail::patches_along(here.whole);
        const std::int64_t by = here.whole.own[window_side], asks = here.whole.own[query_side], n = side / by;
        const value query = t.param("query", {1, asks * asks, width}),
                    places = t.param("image_positions", {1, by * by, width});
        const value states = t.call("norm", norm<norm_kind::layer>{width}, x);
        const value windows = cut_windows(t, states, side, by);
        const value asked = t.add(query, cut_windows(t, fewer(t, states, side, n * asks), n * asks, asks));
        const value seen = dropout(t, "dropout", t.add(windows, places));
        const module_info model{.name = "qformer", .type = former.type("QFormerModel")};
        t.enter(model);
        const value first = dropout(t, "dropout", t.call("layernorm", norm<norm_kind::layer>{width}, asked));
        const value found = t.leave(model, blip_2_detail::ask(former, t, first, seen, asks * asks));
        const value back = t.contiguous(found.view({tiles, n, n, asks, asks, width}).transpose(2, 3));
        const value out = dropout(t, "dropout", back.view({tiles, n * n * asks * asks, width}));
        return t.call("out_linear", linear{width, here.dims.hidden_size, true}, out);
    }
    /// Means of squares, or one corner of each square of four.
    [[nodiscard]] constexpr value fewer(trace& t, const value& x, std::int64_t side, std::int64_t to) const {
        const std::int64_t tiles = x.dim(0), width = x.dim(2);
        if (corner) {
            const value squares = x.view({tiles, side / 2, 2, side / 2, 2, width});
            return t.reshape(t.select(t.select(squares, 2), 3), {tiles, side / 2 * (side / 2), width});
        }
        const value grid = x.view({tiles, side, side, width}).permute({0, 3, 1, 2});
        value means = t.pool_to(op::average_pool, grid, {to, to});
        means.make_channels_last_strides();  // as ATen's pools do
        return means.permute({0, 2, 3, 1}).view({tiles, to * to, width});
    }
};

/// Features of all projectors, one sequence for all images each: of layers first, then of corners.
struct all_features {
    value of[most_layers + corners];
};
constexpr void see(const site& here, trace& t, const value& newline, all_features& out) {
    const own_sizes& own = here.whole.own;
    const bool all = own[llava_detail::all_states] != 0;
    const std::int64_t patches = llava_next_detail::patches_along(here.whole);
    const std::int64_t side = patches * own[query_side] / own[window_side];
    const states_read states = llava_next_detail::states_of_tiles(here, t);
    if (t.training() && !t.idle() && own[apart] == 0)
        report_description("deepstack_layer_map: a step back through a layer that several projectors read is not described");
    value some;
    const auto look = [&](module_place projector, bool corner) {
        if (some.dim(1) != patches * patches) {
            if (!t.idle()) report_description("vision_feature_select_strategy leaves no square of patches");
            some = trace::buffer({some.dim(0), patches * patches, some.dim(2)});
        }
        return llava_next_detail::pack(here, t, t.call(projector, window_former{here, corner}, some), newline, side);
    };
    const auto read = [&](std::int64_t i) {
        return llava_detail::side_by_side(here, t, {.states = {states.states[i < states.count ? i : 0]}, .count = 1}, all);
    };
    for (std::int64_t i = 0; i < own[of_layers]; ++i) {
        some = read(i);
        out.of[i] = look({"layerwise_projectors", i}, false);
    }
    some = read(states.count - 1);
    for (std::int64_t i = 0; i < corners; ++i) {
        const recorder::idle_guard unread{t, i >= own[of_corners]};
        out.of[own[of_layers] + i] = look({"spatial_projectors", i}, true);
    }
}

/// The reference's text model makes no cache by itself: a first pass appends to none, later ones to what they are handed.
constexpr value attend(const site& here, trace& t, const value& x) {
    qkv of = project_qkv(here, t, x);
    split_heads(here, of), heads_first(of);
    turn(here, t, of);
    if (t.load().past > 0 || t.training())
        remember(here, t, of);
    else
        t.cache(of.k), t.cache(of.v);
    return join(here, t, look_up(here, t, of));
}

/// Words without those that stand for images, which layers add the features of.
constexpr value base(const site& here, trace& t) {
    const bool shown = sees_images(t);
    const value newline = t.param("image_newline", {here.dims.hidden_size});
    all_features features;
    const auto place = [&](const value& words) {
        const recorder::idle_guard no_pixels{t, !shown};
        see(here, t, newline, features);
        return shown ? t.where(words) : words;
    };
    return granite_detail::describe_around(here, t, "language_model", place, [&](const site& inside, value x) {
        if (const std::uint8_t i = inside.kind.own; shown && i > 0) {  // the last of the features that names this layer
            const value some = t.gather(x, {features.of[i - 1].dim(0), features.of[i - 1].dim(1)});
            x = t.masked_scatter(x, t.add(some, features.of[i - 1]));
        }
        return t.call({"layers", inside.layer}, decoder_layer{inside}, x);
    });
}

constexpr media_shapes show(const model& m, const workload& load) {
    return llava_next_detail::show_grid(m, load,
                                        llava_next_detail::patches_along(m) * m.own[query_side] / m.own[window_side]);
}

/// `downsample_rate`: "4/8", sides of a window's queries and of its states.
constexpr void read_rate(config_view config, own_sizes& own) {
    const string_ref rate = config.string("downsample_rate");
    std::int64_t parts[2]{}, n = 0;
    for (const char c : rate) {
        if (c == '/' && n == 0 && parts[0] > 0)
            ++n;
        else if (c >= '0' && c <= '9' && parts[n] < 1000)
            parts[n] = 10 * parts[n] + (c - '0');
        else
            fail_value(config, "downsample_rate", "two numbers with a slash between them");
    }
    if (n == 0 || parts[1] == 0) fail_value(config, "downsample_rate", "two numbers with a slash between them");
    if (2 * parts[0] != parts[1])
        fail_unsupported(config, "downsample_rate", "corners of squares halve the sides: one half");
    own[query_side] = parts[0], own[window_side] = parts[1];
}

/// Which feature, from 1, each layer of the text adds, the last that names it; none: 0.
class feature_plan {
public:
    constexpr void add(std::int64_t layer, std::int64_t feature) {
        layers_[count_] = layer, features_[count_++] = static_cast<std::uint8_t>(feature);
    }
    constexpr void mark(config_view config, model& m) const {
        const layer_plan given = m.dims.layers;
        for (std::int64_t i = 0; i < m.dims.num_hidden_layers; ++i) {
            layer_kind kind = given[i];
            for (int k = 0; k < count_; ++k)
                if (layers_[k] == i) kind.own = features_[k];
            if (!m.dims.layers.set(i, kind))
                fail_unsupported(config, "deepstack_layer_map", "no row describes so many layers that add features");
        }
    }

private:
    std::int64_t layers_[most_layers + corners]{};
    std::uint8_t features_[most_layers + corners]{};
    int count_ = 0;
};

constexpr void read(config_view config, model& m) {
    const string_ref strategy = config.string("vision_feature_select_strategy", "default");
    if (strategy != "default" && strategy != "full") fail_value(config, "vision_feature_select_strategy", "default or full");
    m.own[llava_detail::all_states] = strategy == "full" ? 1 : 0;
    m.own[llava_detail::feature_layers] = 1;
    const sizes& tower = m.beside[0].dims;
    llava_next_detail::read_grids(config, m.own, tower.vision.image_height, 0);
    read_rate(config, m.own);
    if (llava_next_detail::patches_along(m) % m.own[window_side] != 0)
        fail_value(config, "downsample_rate", "windows that divide the patches along a side");
    const auto layer_of_tower = [&](config_view at) {
        const std::int64_t i = at.as_integer(), n = tower.num_hidden_layers;
        if (i < -n - 1 || i > n) fail_value(at, "a layer of vision_config, 0 for what it embeds");
        return std::int64_t{1} << (i < 0 ? i + n + 1 : i);
    };
    std::int64_t& picked = m.own[llava_detail::layers_read];
    if (tower.num_hidden_layers > 62) fail_unsupported(config, "vision_config", "no row describes so many layers");
    feature_plan plan;
    const config_view pairs = config.array("deepstack_layer_map");
    if (pairs.size() > static_cast<std::size_t>(most_layers)) fail_value(config, "deepstack_layer_map", "at most 32 pairs");
    for (const config_view pair : pairs) {
        if (!pair.is_array() || pair.size() != 2) fail_value(pair, "a layer of vision_config and one of text_config");
        const std::int64_t layer = layer_of_tower(pair[0]);
        if ((picked & layer) != 0) m.own[apart] = 0;
        picked |= layer;
        plan.add(pair[1].as_integer(), ++m.own[of_layers]);
    }
    const auto last = config.find("spatial_vision_layer");
    const std::int64_t of_all =
        last && !last->is_null() ? layer_of_tower(*last) : std::int64_t{1} << tower.num_hidden_layers;
    if (const auto listed = config.optional_array("spatial_target_layers")) {
        if (listed->size() > static_cast<std::size_t>(corners))
            fail_value(config, "spatial_target_layers", "at most four layers");
        m.own[of_corners] = 0;
        for (const config_view layer : *listed) {
            const std::int64_t n = ++m.own[of_corners];
            plan.add(layer.as_integer(), m.own[of_layers] + n);
        }
    } else {
        for (std::int64_t i = 0; i < corners; ++i) plan.add(12 + 3 * i, m.own[of_layers] + i + 1);
    }
    plan.mark(config, m);
    if (m.own[of_corners] > 0) picked |= of_all;
    sizes& former = m.beside[1].dims;
    if (tower.hidden_size % 64 != 0) fail_value(config, "vision_config", "a hidden_size of multiples of 64");
    former.hidden_size = tower.hidden_size, former.num_attention_heads = tower.hidden_size / 64;
}

inline constexpr architecture text = [](architecture a) {
    a.model_type = "granite4_vision_text", a.prefix = "Granite4VisionText", a.attend = attend;
    a.names.model_type = "Model", a.heads = {}, a.kinds.own = most_layers + corners, a.defaults.head = head_kind::none;
    return a;
}(granite);

/// Where no `qformer_config` is given.
inline constexpr architecture former_of_windows = [](architecture a) {
    a.defaults.num_hidden_layers = 1, a.defaults.intermediate_size = 3072;
    a.read = [](config_view config, sizes& s) {
        s.own[blip_2_detail::crosses_every] = 1, s.own[blip_2_detail::positions] = 2048;
        blip_2_detail::plan_former(config, s);
    };
    return a;
}(blip_2_detail::former);

}  // namespace granite4_vision_detail

// transformers/models/granite4_vision: LLaVA-NeXT's tiles through queries in windows, which layers of Granite add
inline constexpr architecture granite4_vision = [](architecture a) {
    a.model_type = "granite4_vision", a.prefix = "Granite4Vision", a.base = granite4_vision_detail::base;
    a.read_whole = granite4_vision_detail::read, a.own = granite4_vision_detail::keys.of, a.finish = divide_logits;
    a.media = granite4_vision_detail::show, a.reads.images = true;
    a.text = {.key = "text_config", .otherwise = &granite4_vision_detail::text, .always = true};
    a.beside[0] = {.key = "vision_config", .otherwise = &clip_vision_model};
    a.beside[1] = {.key = "qformer_config",
                   .otherwise = &blip_2_detail::former,
                   .always = true,
                   .missing = &granite4_vision_detail::former_of_windows};
    return a;
}(shared_composite);

}  // namespace llmcost::arch
