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

/// The same where the whole makes the masks (modeling_gemma3.py, `create_masks_for_generate` in `Gemma3Model`).
constexpr value describe_masked_text(const site& here, trace& t, literal name) {
    const site text = here.text();
    const decoder_context made = masks(text, t);
    const module_info m{.name = name, .type = text.type(text.row.names.model_type)};
    t.enter(m);
    const value x = text.row.embed(text, t);
    const decoder_context shared = with_tables(text, t, made);
    return t.leave(m, normed(text, t, text.row.names.norm, describe_layers(text, t, shared, x)));
}

/// A tower under a path of its own.
constexpr value describe_tower(const site& here, trace& t, std::size_t which, literal name, role what) {
    const site tower = here.component(which);
    const module_info m{.name = name, .type = tower.type(tower.row.names.model_type), .what = what};
    return describe_within(m, tower.row.base, tower, t);
}

/// What brings a tower's features to the width of the text: two projections with an activation between them.
struct projector {
    class_name named;
    std::int64_t in;
    std::int64_t inner;
    std::int64_t out;
    bool bias;
    activation act;

    static constexpr role what = role::projector;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr value describe(trace& t, const value& x) const {
        const value h = t.call("act", activation_module{act}, t.call("linear_1", linear{in, inner, bias}, x));
        return t.call("linear_2", linear{inner, out, bias}, h);
    }
};

/// The classes that most models with towers have: bare, and under the head of a language model.
inline constexpr head_set composite_heads{head_kind::none, head_kind::conditional_generation};

/// Where rows of models begin that hold a text model and towers.
inline constexpr architecture shared_composite = [](architecture a) {
    a.describe = describe_decoder, a.heads = composite_heads;
    a.defaults.head = head_kind::conditional_generation;
    return a;
}(architecture{});

}  // namespace llmcost
