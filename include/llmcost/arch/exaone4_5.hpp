// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/exaone4.hpp>
#include <llmcost/arch/qwen2_vl.hpp>

namespace llmcost::arch {

namespace exaone4_5_detail {

/// Qwen2.5-VL's attention with fewer heads of keys and values.
struct attention {
    site here;
    const packed_context& made;
    const packed_runs& runs;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("VisionAttention"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t rows = x.dim(0), width = x.dim(1), d = here.dims.head_dim;
        const std::int64_t heads = here.dims.num_attention_heads, groups = here.dims.num_key_value_heads;
        const value all = t.call("qkv", linear{width, (heads + 2 * groups) * d, true}, x);
        const auto part = [&](std::int64_t n) { return t.slice(all, -1, n * d).view({rows, n, d}); };
        const auto turned = [&](const value& of) {
            return t.to(rotate<rotation::half>(t, t.to(of, dtype::float32), made.cos, made.sin), of.type);
        };
        const value q = turned(part(heads)), k = turned(part(groups));
        return t.call("proj", linear{width, width, true}, attend_packed(t, q, k, part(groups), runs));
    }
};

struct block {
    site here;
    const packed_context& made;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("VisionBlock"); }
    constexpr value describe(trace& t, const value& x) const {
        namespace of = qwen2_vl_detail;
        const own_sizes& own = here.dims.own;
        const std::int64_t in = here.dims.hidden_size;
        const norm<norm_kind::rms> scale{in, here.type("RMSNorm")};
        const bool all = here.kind.own != of::within_windows;
        const std::int64_t side = own[of::window] / own[of::merge] / own[of::patch];
        const packed_runs runs = all ? made.pictures.whole() : made.pictures.windows(own[of::merge], side);
        const value middle = t.add(x, t.call("attn", attention{here, made, runs}, t.call("norm1", scale, x)));
        const mlp<mlp_kind::gated> feed{in, here.dims.intermediate_size, here.dims.hidden_act, here.type("MLP"), true};
        return t.add(middle, t.call("mlp", feed, t.call("norm2", scale, middle)));
    }
};

/// Merged patches sorted by windows, layers, a merger, and the order of the image again.
constexpr value see(const site& here, trace& t) {
    namespace of = qwen2_vl_detail;
    const own_sizes& own = here.dims.own;
    const std::int64_t in = here.dims.hidden_size, unit = own[of::merge] * own[of::merge];
    packed_context made{.pictures = of::grid_of(here, t)};
    const std::int64_t rows = made.pictures.patches();
    const auto ordered = [&](const value& x) {
        return t.gather(x.view({rows / unit, unit, -1}), {rows / unit, unit, x.dim(-1)}).view({rows, -1});
    };
    value x = t.call("patch_embed", of::patch_embed{here, here.type("PatchEmbed"), in}, of::patches_in(here, t, made.pictures));
    x = ordered(x);
    const packed_table table{here.dims.head_dim, here.type("VisionRotaryEmbedding")};
    const two_values turns = t.call("rotary_pos_emb", table, rows);
    made.cos = ordered(turns.first), made.sin = ordered(turns.second);
    const shared_values none{};
    for (repetition each = t.repeat(here.dims.num_hidden_layers, here.dims.layers, x); each.next();)
        x = t.call({"blocks", each.index()}, block{here.at(each, none), made}, x);
    const of::patch_merger merger{here.type("PatchMerger"), in, unit, own[of::out_width], "Exaone4_5_RMSNorm"};
    const value merged = t.call("merger", merger, x);
    return t.gather(merged, {merged.dim(0), merged.dim(1)});
}

inline constexpr architecture tower = [](architecture a) {
    a.model_type = "exaone4_5_vision", a.prefix = "Exaone4_5_", a.base = see, a.names.model_type = "VisionModel";
    a.defaults.num_key_value_heads = 8;
    return a;
}(qwen2_5_vl_vision);

constexpr value base(const site& here, trace& t) {
    return describe_text_after(here, t, "language_model", [&](const value& words) {
        return place_pictures(here, t, words, [&] { return describe_tower(here, t, 0, "visual", role::vision); });
    });
}

}  // namespace exaone4_5_detail

// transformers/models/exaone4_5: a tower like Qwen2.5-VL's in front of EXAONE 4
inline constexpr architecture exaone4_5 = [](architecture a) {
    a.model_type = "exaone4_5", a.prefix = "Exaone4_5_", a.base = exaone4_5_detail::base;
    a.own = qwen2_vl_detail::bound_keys, a.media = qwen2_vl_detail::show, a.read_processor = qwen2_vl_detail::read_processor,
    a.reads.images = true;
    a.text = {.key = "text_config", .otherwise = &exaone4, .also = "exaone4_5_text"};
    a.beside[0] = {.key = "vision_config", .otherwise = &exaone4_5_detail::tower, .always = true};
    return a;
}(shared_composite);

}  // namespace llmcost::arch
