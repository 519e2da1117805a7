// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

namespace exaone4_detail {

/// The word of full layers beside sliding ones, whose attention knows of no positions.
inline constexpr std::uint8_t unrotated = 1;

constexpr value attend(const site& here, trace& t, const value& x) {
    qkv of = project_qkv(here, t, x);
    split_heads(here, of);
    heads_first(of);
    norm_queries_and_keys(here, t, of, here.dims.head_dim, here.dims.head_dim);
    if (here.kind.own != unrotated) turn(here, t, of);
    remember(here, t, of);
    return join(here, t, look_up(here, t, of));
}

/// Full layers rotate nothing where the configuration has a window; by default every fourth is full.
constexpr void read(config_view config, sizes& s) {
    const auto window = config.find("sliding_window");
    const bool has_window = !window || !window->is_null();
    const bool listed = read_layer_types(config, s);
    if (!listed && !has_window) fail_missing(config, "layer_types", "a list with one kind per hidden layer");
    const std::int64_t pattern = listed ? 1 : config.positive("sliding_window_pattern", 4);
    const layer_plan given = s.layers;
    plan_layers(config, s, [&](std::int64_t i) {
        const mixer_kind by_rule = (i + 1) % pattern != 0 ? mixer_kind::sliding_attention : mixer_kind::full_attention;
        const mixer_kind mixer = listed ? given[i].mixer : by_rule;
        const bool turns = !has_window || mixer == mixer_kind::sliding_attention;
        return layer_kind{.mixer = mixer, .own = turns ? std::uint8_t{} : unrotated};
    });
}

}  // namespace exaone4_detail

// transformers/models/exaone4: norms on the blocks' outputs and of each head, full layers without positions
inline constexpr architecture exaone4 = [](architecture a) {
    a.model_type = "exaone4", a.prefix = "Exaone4", a.read = exaone4_detail::read, a.attend = exaone4_detail::attend;
    a.layer = layer_normed_after, a.masks = mask_rule::full_and_present, a.kinds.own = exaone4_detail::unrotated;
    a.defaults.vocab_size = 102400, a.defaults.intermediate_size = 16384, a.defaults.num_key_value_heads = 32;
    a.defaults.sliding_window = 4096;
    a.keys[0] = no_attention_bias, a.keys[1] = no_mlp_bias;
    return a;
}(llama);

}  // namespace llmcost::arch
