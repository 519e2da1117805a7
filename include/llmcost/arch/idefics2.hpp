// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/idefics3.hpp>
#include <llmcost/arch/mistral.hpp>
#include <llmcost/reading/processor.hpp>
#include <llmcost/walks/pairs.hpp>

namespace llmcost::arch {

namespace idefics2_detail {

enum resampler_own : std::uint8_t { latents };
inline constexpr own_key resampler_keys[]{{"resampler_n_latents", 64}};

/// A gated block (`Idefics2MLP`).
[[nodiscard]] constexpr mlp<mlp_kind::gated> gated_block(std::int64_t in, std::int64_t inner, activation act) {
    return {in, inner, act, {"Idefics2", "MLP"}};
}

/// Latents attend to an image's states and to themselves: (images, latents, width) -> the same.
struct perceiver_attention {
    const site& here;
    const value& mask;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {"Idefics2", "PerceiverAttention"}; }
    constexpr value describe(trace& t, const value& x, const value& states) const {
        const std::int64_t width = here.dims.hidden_size, heads = here.dims.num_attention_heads;
        const std::int64_t few = here.dims.num_key_value_heads, d = here.dims.head_dim;
        const value all = t.cat({states, x}, 1);
        const auto split = [&](literal name, std::int64_t n, const value& of) {
            return t.call(name, linear{width, n * d}, of).view({of.dim(0), of.dim(1), n, d}).transpose(1, 2);
        };
        const value q = split("q_proj", heads, x), k = split("k_proj", few, all), v = split("v_proj", few, all);
        const context where{.sequence = x.dim(1), .past = states.dim(1), .causal = false};
        const value* const hidden = mask.rank > 0 ? &mask : nullptr;
        const value mixed = eager_attention(t, q, k, v, where, {.mask = hidden}).view({x.dim(0), x.dim(1), heads * d});
        return t.call("o_proj", linear{heads * d, width}, mixed);
    }
};

struct perceiver_layer {
    const site& here;
    const value& mask;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {"Idefics2", "PerceiverLayer"}; }
    constexpr value describe(trace& t, const value& x, const value& states) const {
        const std::int64_t width = here.dims.hidden_size;
        const norm<norm_kind::rms> rms_norm{width, {"Idefics2", "RMSNorm"}};
        const value queries = t.call("input_latents_norm", rms_norm, x);
        const value keys = t.call("input_context_norm", rms_norm, states);
        const value middle = t.add(x, t.call("self_attn", perceiver_attention{here, mask}, queries, keys));
        const value normed = t.call("post_attention_layernorm", rms_norm, middle);
        return t.add(middle, t.call("mlp", gated_block(width, 4 * width, here.dims.hidden_act), normed));
    }
};

/// Learned latents read an image's states in some layers; a mask hides those of padding.
constexpr value resample(const site& here, trace& t, const value& states, bool padded) {
    const std::int64_t width = here.dims.hidden_size, n = here.dims.own[latents];
    value mask;
    if (padded) mask = eager_mask(t, {.sequence = n, .past = states.dim(1), .causal = false}, states.dim(0));
    value x = t.param("latents", {n, width}).unsqueeze(0).expand({states.dim(0), n, width});
    for (repetition each = t.repeat(here.dims.num_hidden_layers, x); each.next();)
        x = t.call({"layers", each.index()}, perceiver_layer{here, mask}, x, states);
    return t.call("norm", norm<norm_kind::rms>{width, {"Idefics2", "RMSNorm"}}, x);
}

/// States brought to the width of the text, then resampled.
constexpr value connect(const site& here, trace& t, const value& states, bool padded) {
    const module_info connector{.name = "connector", .type = here.type("Connector"), .what = role::projector};
    const module_info resampler{.name = "perceiver_resampler", .type = here.type("PerceiverResampler")};
    const sizes& text = here.whole.dims;
    t.enter(connector);
    const module_info block{.name = "modality_projection", .type = here.type("MLP"), .what = role::mlp};
    const std::int64_t in = states.dim(2), inner = text.intermediate_size;
    t.enter(block);
    const value gate = t.call("act_fn", activation_module{text.hidden_act}, t.call("gate_proj", linear{in, inner}, states));
    const value up = t.mul(gate, t.call("up_proj", linear{in, inner}, states));
    const value wide = t.leave(block, t.call("down_proj", linear{inner, text.hidden_size}, up));
    t.enter(resampler);
    return t.leave(connector, t.leave(resampler, resample(here.component(1), t, wide, padded)));
}

enum own : std::uint8_t { shortest_side, longest_side, quarters };
inline constexpr own_key keys[]{
    {.otherwise = 378, .value = own_value::computed},
    {.otherwise = 980, .value = own_value::computed},
    {.value = own_value::computed},  // an image is cut in four beside the whole
};

/// Sides within bounds, 378 and 980 pixels where nobody says others, the longest made no longer.
///
/// Source: transformers/models/idefics2/image_processing_idefics2.py, `get_resize_output_image_size`.
[[nodiscard]] constexpr image_sides resized(const own_sizes& own, std::int64_t height, std::int64_t width) {
    const std::int64_t least = own[shortest_side], most = own[longest_side];
    const double ratio = static_cast<double>(width) / static_cast<double>(height);
    if (width >= height && width > most)
        width = most, height = static_cast<std::int64_t>(static_cast<double>(width) / ratio);
    else if (height > width && height > most)
        height = most, width = static_cast<std::int64_t>(static_cast<double>(height) * ratio);
    return {height < least ? least : height, width < least ? least : width};
}

/// An image, or its quarters and itself.
struct parts {
    image_sides each[5]{};
    int n = 1;

    constexpr parts(const model& m, const workload& load) {
        const image_sides given = sides_of_images(load, m.beside[0].dims.vision);
        each[0] = resized(m.own, given.height, given.width);
        if (m.own[quarters] == 0) return;
        if (given.height < 2 || given.width < 2) report_description("an image of these sides has no quarters");
        for (const std::int64_t high : {given.height / 2, given.height - given.height / 2})
            for (const std::int64_t wide : {given.width / 2, given.width - given.width / 2})
                each[n++] = resized(m.own, high, wide);
    }
    /// The sides that all are padded to.
    [[nodiscard]] constexpr image_sides largest() const noexcept {
        image_sides to = each[0];
        for (int i = 1; i < n; ++i)
            to = {each[i].height > to.height ? each[i].height : to.height,
                  each[i].width > to.width ? each[i].width : to.width};
        return to;
    }
    /// Whether some have fewer whole patches than others, which a mask hides.
    [[nodiscard]] constexpr bool padded(std::int64_t patch) const noexcept {
        const image_sides to = largest();
        for (int i = 0; i < n; ++i)
            if (each[i].height / patch < to.height / patch || each[i].width / patch < to.width / patch) return true;
        return false;
    }
};

/// All parts are padded to the largest of them (`split_images`, `pad`).
constexpr media_shapes show(const model& m, const workload& load) {
    const parts shown(m, load);
    const image_sides to = shown.largest();
    const std::int64_t latent = m.beside[1].dims.own[latents];
    return {.image = {.tokens = shown.n * latent, .tiles = shown.n, .height = to.height, .width = to.width}};
}

/// Embedded patches, layers, a norm; a mask hides padding (transformers/masking_utils.py, `create_bidirectional_mask`).
constexpr value see(const site& here, trace& t, bool padded) {
    value x = idefics3_detail::embed(here, t, images_of(here, t));
    shared_values made{.where = all_positions(x.dim(1)).where};
    if (padded) made.mask = eager_mask(t, made.where, x.dim(0));
    x = encode(here, t, x, "Encoder", made);
    return t.call("post_layernorm", norm<norm_kind::layer>{here.dims.hidden_size}, x);
}
constexpr value see_alone(const site& here, trace& t) { return see(here, t, false); }

constexpr void read_processor(config_view told, model& m) {
    expect_resized(told);
    if (const auto size = told.optional_object("size")) {
        m.own[shortest_side] = size->positive("shortest_edge");
        m.own[longest_side] = size->positive("longest_edge");
    }
    m.own[quarters] = told.boolean("do_image_splitting", false) ? 1 : 0;
}

constexpr value base(const site& here, trace& t) {
    return describe_text_after(here, t, "text_model", [&](const value& words) {
        const recorder::idle_guard no_pixels{t, !sees_images(t)};
        const parts shown(here.whole, t.load());
        const image_sides shape = shown.largest();
        const site tower = here.component(0);
        const bool padded = shown.padded(tower.dims.vision.patch_size);
        const std::int64_t images = images_in(t) * shown.n;
        const extents pixels{images, tower.dims.vision.num_channels, shape.height, shape.width};
        (void)t.gather(t.input(pixels), pixels);  // `pixel_values[real_images_inds]`
        const recorder::workload_guard pictured{t, pictures(t.load(), images, shape.height, shape.width)};
        const module_info m{.name = "vision_model", .type = tower.type(tower.row.names.model_type), .what = role::vision};
        t.enter(m);
        const value states = t.leave(m, see(tower, t, padded));
        const value features = connect(here, t, states, padded);
        return t.masked_scatter(words, t.cat({features.view({-1, here.dims.hidden_size})}, 0));
    });
}

inline constexpr architecture tower = [](architecture a) {
    a.prefix = "Idefics2", a.defaults.hidden_size = 768, a.defaults.num_attention_heads = 12;
    a.base = idefics2_detail::see_alone, a.attend = attend_words;
    return a;
}(idefics3_detail::tower);

inline constexpr architecture resampler = [](architecture a) {
    a.model_type = "idefics2_perceiver", a.prefix = "Idefics2", a.own = resampler_keys, a.rotated = rotation::none;
    a.read = [](config_view config, sizes& s) {
        s.num_key_value_heads = config.positive("num_key_value_heads", 4);
        s.head_dim = config.positive("resampler_head_dim", 96);
        if (s.num_attention_heads % s.num_key_value_heads != 0)
            fail_value(config, "num_key_value_heads", "a divisor of resampler_n_heads");
    };
    a.keys[0] = {"num_hidden_layers", "resampler_depth", key_rule::written_only};
    a.keys[1] = {"num_attention_heads", "resampler_n_heads", key_rule::written_only};
    a.keys[2] = {"head_dim", "", key_rule::absent};
    a.heads = {};
    a.defaults.hidden_size = 4096, a.defaults.num_hidden_layers = 3, a.defaults.num_attention_heads = 16;
    a.defaults.intermediate_size = 16384;
    return a;
}(architecture{});

constexpr void read(config_view config, model& m) {
    if (m.beside[1].dims.hidden_size != m.dims.hidden_size)
        fail_value(config, "perceiver_config", "a hidden_size as large as the text model's");
}

}  // namespace idefics2_detail

// transformers/models/idefics2: Idefics 3's tower over images of any shape, resampled by latents in front of Mistral
inline constexpr architecture idefics2 = [](architecture a) {
    a.model_type = "idefics2", a.prefix = "Idefics2", a.base = idefics2_detail::base, a.read_whole = idefics2_detail::read;
    a.media = idefics2_detail::show, a.own = idefics2_detail::keys, a.read_processor = idefics2_detail::read_processor,
    a.reads.images = true;
    a.text = {.key = "text_config", .otherwise = &mistral};
    a.beside[0] = {.key = "vision_config", .otherwise = &idefics2_detail::tower, .always = true};
    a.beside[1] = {.key = "perceiver_config", .otherwise = &idefics2_detail::resampler, .always = true};
    return a;
}(shared_composite);

}  // namespace llmcost::arch
