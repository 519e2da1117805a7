// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/flop_counters/llm_profiler.hpp>

#include <cmath>
#include <cstdint>

#include <llmcost/base/config_view.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/model/model_spec.hpp>

namespace llmcost {

LLMCOST_INLINE llama3_scaling llama3_scaling::read(config_view root, std::int64_t head_dim) {
    auto rope = root.optional_object("rope_scaling");
    if (!rope) rope = root.optional_object("rope_parameters");
    llama3_scaling out;
    if (!rope) return out;
    const auto factor = (*rope).optional_real("factor"), low = (*rope).optional_real("low_freq_factor");
    const auto old_context = (*rope).optional_real("original_max_position_embeddings");
    if (!factor || !low || !old_context || head_dim < 2 || *low <= 0) return out;
    const auto of_rope = (*rope).optional_real("rope_theta");
    const double theta = of_rope ? *of_rope : root.real("rope_theta", 10000.0);
    out.is_set = true;
    out.factor = static_cast<std::int64_t>(*factor);
    for (std::int64_t i = 0; i < head_dim / 2; ++i) {
        const double wavelength =
            2 * std::numbers::pi * std::pow(theta, static_cast<double>(2 * i) / static_cast<double>(head_dim));
        out.long_wavelengths += wavelength > *old_context / *low ? 1 : 0;
    }
    return out;
}

LLMCOST_INLINE llm_profiler_counts& llm_profiler_counts::operator+=(const llm_profiler_counts& o) {
    add += o.add;
    mult += o.mult;
    div += o.div;
    sqrt += o.sqrt;
    params += o.params;
    cache += o.cache;
    act += o.act;
    return *this;
}

LLMCOST_INLINE llm_profiler_counts llm_profiler_parts::all() const {
    llm_profiler_counts sum = attention;
    for (const llm_profiler_counts* part : {&mlp, &norms, &residuals, &rotary, &embedding}) sum += *part;
    return sum;
}

LLMCOST_INLINE llm_profiler_parts llm_profiler_of(const model_config& d, const llama3_scaling& rope, std::int64_t batch,
                                                  std::int64_t sequence) {
    const auto to_count = [](std::int64_t n) { return count(static_cast<std::uint64_t>(n)); };
    const count b = to_count(batch), t = to_count(sequence), h = to_count(d.hidden_size),
                width = to_count(d.intermediate_size), one(1), two(2);
    const count heads = to_count(d.num_attention_heads), kv_heads = to_count(d.num_key_value_heads),
                hd = to_count(d.head_dim);
    const count layers = to_count(d.num_hidden_layers);
    const auto linear = [&](count in, count out, bool bias) {
        const count bias_elements = bias ? out : count{};
        return llm_profiler_counts{.add = b * (in - one) * out + b * bias_elements,
                                   .mult = b * in * out,
                                   .params = in * out + bias_elements,
                                   .act = b * out};
    };
    llm_profiler_parts p;
    const llm_profiler_counts norm{
        .add = b * t * h, .mult = count(3) * b * t * h, .div = two * b * t, .params = h + one, .cache = b * t};
    p.norms = norm.times(two * layers + one);
    p.residuals.add = two * layers * b * t * h;

    p.mlp = linear(h, width, d.mlp_bias);
    p.mlp += linear(h, width, d.mlp_bias);
    p.mlp += linear(width, h, d.mlp_bias);
    p.mlp.mult += b * t * width;
    p.mlp = p.mlp.times(layers);

    llm_profiler_counts& a = p.attention;
    a = linear(h, heads * hd, d.attention_bias);
    a += linear(h, kv_heads * hd, d.attention_bias);
    a += linear(h, kv_heads * hd, d.attention_bias);
    a += linear(heads * hd, h, d.output_bias);
    const count rotary_elements = b * t * hd * (heads + kv_heads), pairs = b * heads * t * t;
    a.mult += two * rotary_elements + two * pairs * hd + pairs;
    a.add += rotary_elements + pairs * (hd - one) + pairs + (pairs - b * heads * t) + b * heads * t * hd * (t - one);
    a.div += two * b * heads * t + two + one;
    a.sqrt += one;
    a.cache += two * b * kv_heads * t * hd;
    a.act += count(3) * b * heads * t * hd;
    a = a.times(layers);

    p.rotary = {.add = count(4),
                .mult = count(4) + hd / two + count(5) * b * t * to_count(rope.factor),
                .div = count(7) + hd + to_count(rope.long_wavelengths),
                .params = hd,
                .cache = hd + t * hd,
                .act = two * t * hd};
    p.embedding = {.params = to_count(d.vocab_size) * h, .cache = t + b * t * h, .act = b * t * h};
    return p;
}

}  // namespace llmcost
