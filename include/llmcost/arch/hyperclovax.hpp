// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/granite.hpp>

namespace llmcost::arch {

namespace hyperclovax_detail {

enum own : std::uint8_t { norms_outputs };
inline constexpr own_key keys[]{
    {"use_post_norm", 1, own_value::boolean},  // norms of what blocks give out, else modules that do nothing
};

constexpr value behind(const site& here, trace& t, literal name, const value& x) {
    return here.dims.own[norms_outputs] != 0 ? normed(here, t, name, x) : t.call(name, identity{"Identity"}, x);
}

constexpr value layer(const site& here, trace& t, const value& x) {
    value h = mixed(here, t, normed(here, t, "input_layernorm", x));
    const value middle = here.row.residual(here, t, x, behind(here, t, "post_norm1", h));
    h = here.row.feed(here, t, normed(here, t, "post_attention_layernorm", middle));
    return here.row.residual(here, t, middle, behind(here, t, "post_norm2", h));
}

}  // namespace hyperclovax_detail

// transformers/models/hyperclovax: Granite's constants, logits multiplied by theirs, norms behind the blocks
inline constexpr architecture hyperclovax = [](architecture a) {
    a.model_type = "hyperclovax", a.prefix = "HyperCLOVAX", a.own = hyperclovax_detail::keys;
    a.layer = hyperclovax_detail::layer, a.finish = multiply_logits;
    return a;
}(granite);

}  // namespace llmcost::arch
