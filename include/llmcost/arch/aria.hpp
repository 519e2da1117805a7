// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/idefics3.hpp>
#include <llmcost/arch/llama.hpp>
#include <llmcost/layers/multihead_attention.hpp>

namespace llmcost::arch {

namespace aria_detail {

/// Experts whose weights are transposed, gated by SiLU whatever the configuration says.
struct experts : routed_rows {
    static constexpr bool leaf = false;
    constexpr value describe(trace& t, const value& x, const value& weights) const {
        const recorder::fused_guard fused{t, part(x.dim(0))};
        const value rows = picked(t, x), up = param(t, "gate_up_proj", {num_experts, width, 2 * inner}),
                    down = param(t, "down_proj", {num_experts, inner, width});
        const value half = t.matmul_operator(rows, t.select(up, 0)).slice(-1, inner);
        const value h = t.mul(t.call("act_fn", activation_module{act}, half), half);
        return summed(t, x, weights, t.matmul_operator(h, t.select(down, 0)));
    }
};

struct mixture {
    site here;

    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("MoELayer"); }
    constexpr value describe(trace& t, const value& x) const {
        const sizes& dims = here.dims;
        const moe_sizes& m = dims.moe;
        const value tokens = x.view({-1, dims.hidden_size});
        const router_sizes r{dims.hidden_size, m.num_experts, m.num_experts_per_tok};
        const any_router picks{router_kind::top_k_softmax, r, here.type("TopKRouter")};
        const value weights = t.call("router", picks, tokens).second;
        const routed_rows all{dims.hidden_size,      m.intermediate_size, m.num_experts,
                              m.num_experts_per_tok, activation::silu,    {"Aria", "Experts"}};
        const value routed = t.call("experts", experts{all}, tokens, weights).view({x.dim(0), x.dim(1), dims.hidden_size});
        return t.add(routed, call_mlp(here, t, "shared_experts", m.shared_intermediate_size, x));
    }
};

constexpr value feed(const site& here, trace& t, const value& x) { return t.call("mlp", mixture{here}, x); }

constexpr void read(config_view config, sizes& s) {
    plan_one_mask(config, s);
    s.moe.num_experts = config.positive("moe_num_experts", s.moe.num_experts);
    s.moe.num_experts_per_tok = config.positive("moe_topk", s.moe.num_experts_per_tok);
    if (s.moe.num_experts_per_tok > s.moe.num_experts) fail_value(config, "moe_topk", "at most the number of experts");
    s.moe.intermediate_size = s.intermediate_size;
    s.moe.shared_intermediate_size =
        checked_width(config, "moe_num_shared_experts", config.positive("moe_num_shared_experts", 2), s.intermediate_size);
}

}  // namespace aria_detail

// transformers/models/aria, AriaTextModel: experts beside shared ones in every layer
inline constexpr architecture aria_text = [](architecture a) {
    a.heads = language_heads;
    a.model_type = "aria_text", a.prefix = "AriaText", a.read = aria_detail::read, a.feed = aria_detail::feed;
    a.names.mlp_prefix = "Aria", a.names.mlp_type = "SharedExpertsMLP";
    a.defaults.intermediate_size = 4096;
    a.defaults.moe = {.num_experts = 8, .num_experts_per_tok = 2};
    return a;
}(llama);

namespace aria_detail {

enum own : std::uint8_t { side, queries, most_queries };
inline constexpr own_key keys[]{
    {.otherwise = 980, .value = own_value::computed},  // pixels along each side, behind what fills up
    {.otherwise = 256, .value = own_value::computed},  // that read as many patches
    {.otherwise = 256, .value = own_value::computed},
};

/// Whether an image is filled up by patches without a pixel of it: its longest side is scaled to `side`, none is smaller than
/// 336 pixels (image_processing_aria.py).
[[nodiscard]] constexpr bool is_filled_up(const model& m, const workload& load) {
    const std::int64_t whole = m.own[side], patch = m.beside[0].dims.vision.patch_size;
    const std::int64_t height = load.image_height > 0 ? load.image_height : whole;
    const std::int64_t width = load.image_width > 0 ? load.image_width : whole;
    const std::int64_t longer = height > width ? height : width, shorter = height > width ? width : height;
    const double scale = static_cast<double>(whole) / static_cast<double>(longer);
    const std::int64_t scaled = static_cast<std::int64_t>(static_cast<double>(shorter) * scale);
    return (scaled < 336 ? 336 : scaled) <= whole - patch;
}

constexpr media_shapes show(const model& m, const workload&) {
    if (m.own[queries] == 0) report_description("projector_patch_to_query_dict does not say how many queries read an image");
    return {.image = {.tokens = m.own[queries], .height = m.own[side], .width = m.own[side]}};
}

/// Learned queries attend to an image's states behind projections of their own (`AriaCrossAttention`).
struct cross_attention {
    const site& here;

    static constexpr role what = role::cross_attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {"Aria", "CrossAttention"}; }
    constexpr value describe(trace& t, const value& x, const value& states) const {
        const std::int64_t width = here.dims.hidden_size;
        const linear projection{width, width}, out{width, width, true};
        const norm<norm_kind::layer> layer_norm{width};
        const value q = t.call("q_proj", projection, t.call("layer_norm", layer_norm, x));
        const value of = t.call("layer_norm_kv", layer_norm, states);
        const value k = t.call("k_proj", projection, of), v = t.call("v_proj", projection, of);
        const multihead_attention over{width, here.dims.num_attention_heads};
        return dropout(t, "dropout", t.call("linear", out, t.call("multihead_attn", over, q, k, v)));
    }
};

/// The features of images that queries find, brought to the width of the text (`AriaProjector`).
constexpr value find(const site& here, trace& t, const value& states) {
    const site tower = here.component(0);
    const std::int64_t width = tower.dims.hidden_size, n = here.whole.own[queries], images = states.dim(0);
    const module_info projector{.name = "multi_modal_projector", .type = here.type("Projector"), .what = role::projector};
    const module_info block{.name = "feed_forward", .type = here.type("ProjectorMLP"), .what = role::mlp};
    t.enter(projector);
    const value all = t.param("query", {here.whole.own[most_queries], width});
    const value asked = t.copy(t.slice(all, 0, n).unsqueeze(0).expand({images, n, width}));
    const value found = t.call("cross_attn", cross_attention{tower}, asked, states);
    const value normed = t.call("layer_norm", norm<norm_kind::layer>{width}, found);
    t.enter(block);
    const value h = t.call("act", activation_module{activation::gelu_new},
                           t.call("linear_in", linear{width, here.dims.hidden_size}, normed));
    return t.leave(projector, t.leave(block, t.call("linear_out", linear{here.dims.hidden_size, here.dims.hidden_size}, h)));
}

/// Idefics 3's tower behind a mask of patches that fill up; the last layer's states are read in front of the norm.
constexpr value states_of(const site& here, trace& t, bool filled_up) {
    const std::int64_t width = here.dims.hidden_size;
    const value pixels = images_of(here, t);
    const value embedded = idefics3_detail::embed(here, t, pixels);
    shared_values made{.where = all_positions(embedded.dim(1)).where};
    if (filled_up) made.mask = eager_mask(t, made.where, embedded.dim(0));
    value x = encode(here, t, embedded, "Encoder", made);
    {
        const recorder::off_loss_guard unread{t};
        (void)t.call("post_layernorm", norm<norm_kind::layer>{width}, x);
    }
    return x;
}

constexpr value base(const site& here, trace& t) {
    return describe_text_after(here, t, "language_model", [&](const value& words) {
        const recorder::idle_guard no_pixels{t, !sees_images(t)};
        const site tower = here.component(0);
        const bool filled_up = is_filled_up(here.whole, t.load());
        const std::int64_t whole = here.whole.own[side];
        const module_info m{.name = "vision_tower", .type = tower.type(tower.row.names.model_type), .what = role::vision};
        value states;
        {
            const recorder::workload_guard shown{t, pictures(t.load(), images_in(t), whole, whole)};
            t.enter(m);
            states = t.leave(m, states_of(tower, t, filled_up));
        }
        return t.masked_scatter(words, find(here, t, states));
    });
}

/// Queries by numbers of patches.
constexpr void read_queries(config_view config, model& m) {
    const vision_sizes& image = m.beside[0].dims.vision;
    m.own[side] = image.image_height == 490 ? 490 : 980;
    const std::int64_t along = m.own[side] / image.patch_size, patches = along * along;
    const auto table = config.find("projector_patch_to_query_dict");
    if (!table || table->is_null()) {
        m.own[queries] = patches == 1225 ? 128 : patches == 4900 ? 256 : 0;
        return;
    }
    if (!table->is_object() || table->size() == 0)
        fail_value(config, "projector_patch_to_query_dict", "numbers of queries by numbers of patches");
    m.own[queries] = m.own[most_queries] = 0;
    for (const config_view entry : *table) {
        const string_ref key = entry.key();
        std::int64_t n = 0;
        for (const char c : key) n = c >= '0' && c <= '9' && n < largest_input ? n * 10 + (c - '0') : largest_input;
        const std::int64_t asked = entry.as_positive();
        if (n == patches) m.own[queries] = asked;
        if (asked > m.own[most_queries]) m.own[most_queries] = asked;
    }
}

inline constexpr architecture tower = [](architecture a) {
    a.attend = attend_turned_patches;  // none is turned, but behind a mask
    a.defaults.hidden_size = 1152;
    return a;
}(idefics3_detail::tower);

}  // namespace aria_detail

// transformers/models/aria: Idefics 3's tower, read by learned queries in front of experts
inline constexpr architecture aria = [](architecture a) {
    a.model_type = "aria", a.prefix = "Aria", a.base = aria_detail::base, a.own = aria_detail::keys;
    a.read_whole = aria_detail::read_queries, a.media = aria_detail::show, a.reads.images = true;
    a.text = {.key = "text_config", .otherwise = &aria_text};
    a.beside[0] = {.key = "vision_config", .otherwise = &aria_detail::tower, .always = true};
    return a;
}(shared_composite);

}  // namespace llmcost::arch
