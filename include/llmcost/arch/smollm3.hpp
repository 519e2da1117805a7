// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

namespace smollm3_detail {

/// The word of layers whose attention knows of no positions.
inline constexpr std::uint8_t unrotated = 1;

constexpr value attend(const site& here, trace& t, const value& x) {
    qkv of = project_qkv(here, t, x);
    split_heads(here, of);
    heads_first(of);
    if (here.kind.own != unrotated) turn(here, t, of);
    remember(here, t, of);
    return join(here, t, look_up(here, t, of));
}

/// Every so many-th layer rotates nothing, or those that a list has as 0; these slide where the configuration says so.
constexpr void read(config_view config, sizes& s) {
    const std::int64_t interval = config.positive("no_rope_layer_interval", 4);
    const auto list = config.optional_array("no_rope_layers");
    if (list && static_cast<std::int64_t>(list->size()) < s.num_hidden_layers)
        fail_value(config, "no_rope_layers", "a list with one number per hidden layer");
    const bool windows = config.boolean("use_sliding_window", false) && s.sliding_window > 0;
    const bool listed = read_layer_types(config, s);
    const layer_plan given = s.layers;
    plan_layers(config, s, [&](std::int64_t i) {
        const bool turns = list ? (*list)[static_cast<std::size_t>(i)].as_integer() != 0 : (i + 1) % interval != 0;
        const mixer_kind by_rule = windows && !turns ? mixer_kind::sliding_attention : mixer_kind::full_attention;
        return layer_kind{.mixer = listed ? given[i].mixer : by_rule, .own = turns ? std::uint8_t{} : unrotated};
    });
}

}  // namespace smollm3_detail

// transformers/models/smollm3: layers without positions between the others
inline constexpr architecture smollm3 = [](architecture a) {
    a.model_type = "smollm3", a.prefix = "SmolLM3", a.read = smollm3_detail::read, a.attend = smollm3_detail::attend;
    a.masks = mask_rule::full_and_present, a.kinds.own = smollm3_detail::unrotated;
    a.defaults.vocab_size = 128256, a.defaults.hidden_size = 2048, a.defaults.num_hidden_layers = 36;
    a.defaults.num_attention_heads = 16, a.defaults.num_key_value_heads = 4;
    a.defaults.max_position_embeddings = 32768, a.defaults.tie_word_embeddings = true;
    return a;
}(llama);

}  // namespace llmcost::arch
