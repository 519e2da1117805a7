// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

namespace hrm_text_detail {

inline constexpr std::int64_t most_slow_cycles = 8, most_calls = 512;

/// From `learn` on: how many of the last fast cycles go back, for each slow one.
enum own : std::uint8_t { slow_cycles, fast_cycles, learn };
inline constexpr own_key keys[]{
    {"H_cycles", 2},
    {"L_cycles", 3},
    {.value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},
};

/// What attention finds times the sigmoid of a gate; every head has a key of its own.
constexpr value attend(const site& here, trace& t, const value& x) {
    const std::int64_t heads = here.dims.num_attention_heads, d = here.dims.head_dim;
    qkv of = project_qkv(here, t, x);
    split_heads(here, of);
    heads_first(of);
    const value gate = project(here, t, "gate_proj", heads * d, x).view({x.dim(0), x.dim(1), heads, d});
    turn(here, t, of);
    remember(here, t, of);
    const value found = eager_attention(t, of.q, of.k, of.v, here.shared->where, {.mask = &here.shared->mask});
    const value gated = t.mul(t.sigmoid(gate), found);
    return join(here, t, t.contiguous(t.reshape(gated, {x.dim(0), x.dim(1), -1})));
}

/// Layers and a norm, which are called in every cycle.
struct stack {
    site here;
    const decoder_context& shared;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Stack"); }
    constexpr value describe(trace& t, const value& x) const {
        return normed(here, t, "final_norm", describe_layers(here, t, shared, x));
    }
};

/// A fast stack that reads the slow one's state several times, then the slow one reads the fast one's; and again.
///
/// A stack's parameters are counted once, where they are gone back to.
constexpr value base(const site& here, trace& t) {
    const sizes& dims = here.dims;
    value slow = here.row.embed(here, t);
    const decoder_context shared = here.row.prepare(here, t);
    const stack cycle{here, shared};
    value start;
    {
        const recorder::no_grad_guard frozen{t};
        start = t.param("z_L_init", {dims.hidden_size});
        start.requires_grad = false;
    }
    value fast = t.contiguous(start.expand({slow.dim(0), slow.dim(1), slow.dim(2)}));
    bool learns = false;
    for (std::int64_t h = 0; h < dims.own[slow_cycles]; ++h)
        learns = learns || dims.own[static_cast<std::size_t>(learn + h)] > 0;
    bool counted = false;
    for (std::int64_t h = 0; h < dims.own[slow_cycles]; ++h) {
        for (std::int64_t l = 0; l < dims.own[fast_cycles]; ++l) {
            const bool goes_back = l >= dims.own[fast_cycles] - dims.own[static_cast<std::size_t>(learn + h)];
            const bool counts = !counted && (goes_back || !learns);
            counted = counted || counts;
            const recorder::no_grad_guard fixed{t, !goes_back};
            const recorder::called_again_guard again{t, !counts};
            fast = t.call("L_module", cycle, t.add(fast, slow));
        }
        const recorder::called_again_guard again{t, h > 0};
        slow = t.call("H_module", cycle, t.add(slow, fast));
    }
    return slow;
}

/// `num_hidden_layers` counts the calls of all layers, where the file says how many a stack has.
constexpr void read(config_view config, sizes& s) {
    const auto list = config.optional_array("L_bp_cycles");
    const std::int64_t given = list ? static_cast<std::int64_t>(list->size()) : 1;
    const std::int64_t slow = s.own[slow_cycles], fast = s.own[fast_cycles];
    if (slow > most_slow_cycles) fail_value(config, "H_cycles", "at most 8");
    if (fast > most_calls) fail_value(config, "L_cycles", "at most 512");
    const std::int64_t ahead = slow > given ? slow - given : 0;  // cycles in front of those that are listed
    for (std::int64_t h = 0; h < slow; ++h) {
        std::int64_t& learns = s.own[static_cast<std::size_t>(learn + h)] = h < ahead ? 1 : 2;
        if (list && h >= ahead) learns = (*list)[static_cast<std::size_t>(h - ahead)].as_non_negative();
    }
    const std::int64_t of_stack = config.positive("num_layers_per_stack", s.num_hidden_layers);
    const bool told = config.optional_positive("num_layers_per_stack").has_value();
    if (told && s.num_hidden_layers != of_stack * slow * (fast + 1))
        fail_value(config, "num_hidden_layers", "num_layers_per_stack for each call of a stack");
    s.num_hidden_layers = of_stack;
    plan_one_mask(config, s);
    if (s.sliding_window > 0) fail_unsupported(config, "sliding_window", "layers of this type see everything");
}

}  // namespace hrm_text_detail

// transformers/models/hrm_text: two stacks that are called in turns, gates on what attention finds, norms without weights
inline constexpr architecture hrm_text = [](architecture a) {
    a.heads = language_heads;
    a.model_type = "hrm_text", a.prefix = "HrmText", a.read = hrm_text_detail::read, a.own = hrm_text_detail::keys;
    a.base = hrm_text_detail::base, a.attend = hrm_text_detail::attend, a.embed = embed_words_scaled;
    a.norm = norm_kind::rms_weightless;
    a.keys[0] = {"num_key_value_heads", "", key_rule::absent};
    a.defaults.vocab_size = 151808, a.defaults.hidden_size = 1536, a.defaults.intermediate_size = 4096;
    a.defaults.num_hidden_layers = 16, a.defaults.num_attention_heads = 12, a.defaults.head_dim = 128;
    a.keys[1] = no_key_value_heads;
    return a;
}(llama);

}  // namespace llmcost::arch
