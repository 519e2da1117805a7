// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/flop_counters/explain.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/flop_counters/counter_report.hpp>
#include <llmcost/flop_counters/counter_table.hpp>
#include <llmcost/flop_counters/flop_counter.hpp>
#include <llmcost/flop_counters/llm_profiler.hpp>
#include <llmcost/flop_counters/observed_pass.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/memory/step_formulas.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/trace/scope.hpp>

namespace llmcost::detail {

[[nodiscard]] LLMCOST_INLINE count ours_of(const flop_counter& c, const observed_call& call) {
    return c.compared == reference_metric::macs ? call.torch_flops / count(2) : call.flops;
}

LLMCOST_INLINE void difference_collector::add(std::string_view label, count ours, count theirs, std::string_view reason,
                                              std::string_view source) {
    if (ours == count{} && theirs == count{}) return;
    for (difference_line& line : lines_)
        if (line.label == label && line.reason == reason) {
            line.ours += ours;
            line.theirs += theirs;
            return;
        }
    lines_.push_back({std::string(label), ours, theirs, reason, source});
}

LLMCOST_INLINE std::vector<difference_line> difference_collector::sorted() && {
    const auto difference = [](const difference_line& l) {
        return l.ours > l.theirs ? l.ours - l.theirs : l.theirs - l.ours;
    };
    std::stable_sort(lines_.begin(), lines_.end(),
                     [&](const auto& a, const auto& b) { return difference(a) > difference(b); });
    return std::move(lines_);
}

/// The differences of a counter with costs per call.
[[nodiscard]] LLMCOST_INLINE std::vector<difference_line> call_lines(const flop_counter& c, const observed_pass& pass,
                                                                     tensor_kind kind) {
    difference_collector lines;
    const bool by_modules = !c.figures.empty() && c.figures.front().source == figure_source::module_products;
    for (const observed_call& call : pass.calls) {
        const counter_rule* const rule = find_rule(c, call, kind);
        const std::string label = call.module_class.empty() ? std::string(call.name) : call.module_class;
        if (by_modules)
            lines.add(label, ours_of(c, call), {}, call.module_class.empty() ? c.unheard : "parameters times the batch",
                      c.unheard_source);
        else if (rule != nullptr)
            lines.add(label, ours_of(c, call), call_cost_of(rule->first_cost, call.amounts), rule->reason,
                      rule->source);
        else
            lines.add(label, ours_of(c, call), {}, c.unheard, c.unheard_source);
    }
    if (by_modules)
        for (const observed_module& m : pass.modules)
            lines.add(m.type, {}, module_products(m), "parameters times the batch", c.unheard_source);
    return std::move(lines).sorted();
}

LLMCOST_INLINE void run_llm_profiler(counter_report& out, const observed_model& s) {
    const model_config& d = s.model.config;
    if (std::string_view(s.model.text_model_spec().model_type) != "llama")
        out.undefined_reason = "it supports Llama configurations only";
    if (!s.rope.is_set) out.undefined_reason = "it requires a configuration with Llama 3's rope_scaling";
    if (s.load.past > 0) out.undefined_reason = "it does not support cached tokens";
    if (!out.defined()) return;
    const llm_profiler_parts p = llm_profiler_of(d, s.rope, s.load.batch, s.load.sequence);
    const llm_profiler_counts all = p.all();
    const count values[]{all.flops(), all.add, all.mult, all.div, all.sqrt, all.params, all.cache, all.act};
    for (std::size_t i = 0; i < out.counter->figures.size(); ++i)
        out.figures.push_back({out.counter->figures[i].name, values[i]});
    out.ours = s.pass.total.flops();
    const auto scope = [&](role module_role) {
        return count_model(
                   s.model,
                   [&] {
                       workload full = s.load;
                       full.attention = attention_scores::full;
                       return full;
                   }(),
                   scope_query{module_role})
            .flops();
    };
    const count attention = scope(role::attn), mlp = scope(role::mlp), norms = scope(role::norm),
                head = scope(role::head), rotary = scope(role::rotary);
    difference_collector lines;
    constexpr std::string_view no_sequence = "a linear layer's formula lacks the sequence: B·in·out";
    lines.add("attention", attention, p.attention.flops(), no_sequence, "src/flops.py, linear");
    lines.add("mlp", mlp, p.mlp.flops(), no_sequence, "src/flops.py, linear");
    lines.add("head", head, {}, "layers for downstream tasks are not included", "README.md");
    lines.add("norms", norms, p.norms.flops(), "", "src/llama_hook.py");
    lines.add("rotary table", rotary, p.rotary.flops(),
              "it multiplies by the scaling factor and the batch instead of head_dim / 2", "src/llama_hook.py");
    const count rest = out.ours - attention - mlp - norms - head - rotary;
    lines.add("the rest: residuals, embedding", rest, p.residuals.flops() + p.embedding.flops(), "",
              "src/llama_hook.py");
    out.lines = std::move(lines).sorted();
}

LLMCOST_INLINE void run_step_formula(counter_report& out, const observed_model& s) {
    out.undefined_reason = why_formula_undefined(s.model);
    if (s.load.past > 0) out.undefined_reason = "a training step has no past";
    if (!out.defined()) return;
    workload step = s.load;
    step.training = true;
    const observed_pass pass = observe(s.model, step);
    const count parameters = pass.parameters, sequence(s.load.sequence), tokens = count(s.load.batch) * sequence;
    const bool palm = out.counter->formula == closed_formula::palm;
    const count all = palm ? palm_step_flops(s.model, parameters, tokens, sequence) : flops_6nd(parameters, tokens);
    out.figures.push_back({out.counter->figures.front().name, all});
    count with_weights, others;
    for (const observed_call& call : pass.calls) (call.has_weight ? with_weights : others) += call.torch_flops;
    const count weights = count(2) * parameters * tokens, scores = (all - flops_6nd(parameters, tokens)) / count(3);
    out.ours = pass.total.torch_flops + pass.total.backward_torch_flops;
    difference_collector lines;
    lines.add("products with weights, forward", with_weights, weights,
              "2 for every parameter, including norms, biases and embeddings; a tied head counts once",
              out.counter->unheard_source);
    lines.add("other products, forward", others, scores,
              palm ? "4 L H Q T for each token" : "attention scores are not counted", out.counter->unheard_source);
    lines.add("backward", pass.total.backward_torch_flops, all - weights - scores, "twice the forward pass",
              out.counter->unheard_source);
    out.lines = std::move(lines).sorted();
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE counter_report run_counter(const flop_counter& c, const observed_model& s, tensor_kind kind) {
    counter_report out{.counter = &c};
    if (c.formula == closed_formula::llm_profiler) {
        detail::run_llm_profiler(out, s);
    } else if (c.formula != closed_formula::none) {
        detail::run_step_formula(out, s);
    } else {
        out.figures = counter_figures(c, s.pass, kind);
        out.ours = c.compared == reference_metric::macs ? s.pass.total.macs() : s.pass.total.flops();
        out.lines = detail::call_lines(c, s.pass, kind);
    }
    return out;
}

}  // namespace llmcost
