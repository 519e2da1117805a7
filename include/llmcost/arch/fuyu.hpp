// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/persimmon.hpp>
#include <llmcost/walks/composite.hpp>

namespace llmcost::arch {

namespace fuyu_detail {

enum own : std::uint8_t { patch_size, num_channels };
inline constexpr own_key keys[]{{"patch_size", 30}, {"num_channels", 3}};

/// Patches are projected as they are, without a tower.
constexpr value base(const site& here, trace& t) {
    const value x = describe_text(here, t, "language_model");
    const recorder::idle_guard no_pixels{t};
    const std::int64_t side = here.whole.own[patch_size], values = side * side * here.whole.own[num_channels];
    (void)t.call("vision_embed_tokens", linear{values, here.dims.hidden_size, true},
                 t.constant({t.load().batch, 1, values}));
    return x;
}

/// A flat file hands on the keys of `init_kwargs` and a rotated half of each head, whatever it says of that.
constexpr void read(config_view config, model& m) {
    (void)checked_width(config, "patch_size", m.own[patch_size] * m.own[patch_size], m.own[num_channels]);
    if (config.optional_object("text_config")) return;
    if (const auto rope = config.find("rope_parameters"); rope && !rope->is_null())
        fail_unsupported(config, "rope_parameters", "the reference hands it on in text_config only");
    m.dims.rotary_dim = m.dims.head_dim / 2;
}

}  // namespace fuyu_detail

// transformers/models/fuyu: Persimmon with patches as tokens
inline constexpr architecture fuyu = [](architecture a) {
    a.model_type = "fuyu", a.prefix = "Fuyu", a.base = fuyu_detail::base, a.read_whole = fuyu_detail::read;
    a.own = fuyu_detail::keys, a.heads = language_heads, a.defaults.head = head_kind::causal_lm;
    a.text = {.key = "text_config", .otherwise = &persimmon, .flat = true};
    return a;
}(shared_composite);

}  // namespace llmcost::arch
