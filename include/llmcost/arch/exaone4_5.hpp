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

constexpr value see(const site& here, trace& t) {
    constexpr qwen2_vl_detail::window_names names{{"Exaone4_5_", "PatchEmbed"}, "Exaone4_5_", "Exaone4_5_RMSNorm"};
    return qwen2_vl_detail::see_in_windows(here, t, names, here.dims.head_dim,
                                           [](const site& at, const packed_context& made, const packed_runs& runs) {
                                               return attention{at, made, runs};
                                           });
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
