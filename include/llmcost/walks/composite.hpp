// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/walks/decoder.hpp>

// Models that hold others: towers that read images or sound beside a text model.
namespace llmcost {

/// The text model under a path of its own, as its row describes it without a head.
constexpr value describe_text(const site& here, trace& t, literal name) {
    const site text = here.text();
    return describe_within({.name = name, .type = text.type(text.row.names.model_type)}, text.row.base, text, t);
}

/// A tower under a path of its own.
constexpr value describe_tower(const site& here, trace& t, std::size_t which, literal name, role what) {
    const site tower = here.component(which);
    const module_info m{.name = name, .type = tower.type(tower.row.names.model_type), .what = what};
    return describe_within(m, tower.row.base, tower, t);
}

/// The classes that most models with towers have: bare, and under the head of a language model.
inline constexpr head_set composite_heads{head_kind::none, head_kind::conditional_generation};

/// Where rows of models begin that hold a text model and towers.
inline constexpr architecture shared_composite = [](architecture a) {
    a.describe = describe_decoder, a.heads = composite_heads;
    a.defaults.head = head_kind::conditional_generation;
    return a;
}(architecture{});

}  // namespace llmcost
