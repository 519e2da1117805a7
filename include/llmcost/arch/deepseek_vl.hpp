// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/arch/siglip.hpp>
#include <llmcost/walks/composite.hpp>

namespace llmcost::arch {

namespace deepseek_vl_detail {

/// `nn.GELU`.
struct gelu_module {
    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return {"", "GELU"}; }
    constexpr value describe(trace& t, const value& x) const { return t.unary(op::gelu, x); }
};

struct aligner {
    site here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Aligner"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size;
        const value h = t.call("activation", gelu_module{}, t.call("linear1", linear{x.dim(-1), width, true}, x));
        return t.call("linear2", linear{width, width, true}, h);
    }
};

constexpr value base(const site& here, trace& t) {
    {
        const recorder::idle_guard no_pixels{t};
        (void)t.call("aligner", aligner{here}, describe_tower(here, t, 0, "vision_model", role::vision));
    }
    return describe_text(here, t, "language_model");
}

}  // namespace deepseek_vl_detail

// transformers/models/deepseek_vl: SigLIP in front of Llama
inline constexpr architecture deepseek_vl = [](architecture a) {
    a.model_type = "deepseek_vl", a.prefix = "DeepseekVL", a.base = deepseek_vl_detail::base;
    a.text = {.key = "text_config", .otherwise = &llama};
    a.beside[0] = {.key = "vision_config", .otherwise = &siglip_vision_model};
    a.defaults.tie_word_embeddings = true;
    return a;
}(shared_composite);

}  // namespace llmcost::arch
