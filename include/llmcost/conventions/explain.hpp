// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/conventions/llm_profiler.hpp>
#include <llmcost/conventions/reading.hpp>
#include <llmcost/conventions/tools.hpp>
#include <llmcost/memory/step_formulas.hpp>

// What a counter prints of a model, and why that is not what llmcost says: line by line, until nothing is left.
namespace llmcost {

/// A part of a difference: what llmcost counts of something, what the counter does, and why.
struct difference_line {
    std::string what;
    count ours{}, theirs{};
    std::string_view reason{};
    std::string_view source{};  ///< of the counter: file and function
};

/// What a counter says of a pass.
struct convention_reading {
    const convention* by = nullptr;
    std::string_view undefined{};  ///< why it says nothing; empty: it does
    std::vector<convention_figure> figures{};
    count ours{};                          ///< llmcost's figure that the first one is held against
    std::vector<difference_line> lines{};  ///< largest difference first; their sums are `ours` and the first figure

    [[nodiscard]] bool defined() const noexcept { return undefined.empty(); }
    [[nodiscard]] count theirs() const { return figures.empty() ? count{} : figures.front().value; }
};

/// A model at a workload, heard as often as counters need it.
struct heard_subject {
    const model& subject;
    workload load;
    llama3_scaling rope{};  ///< of the configuration, for llm-profiler
    heard_pass pass{};      ///< the forward pass
};

/// Hears a model at a workload.
[[nodiscard]] inline heard_subject hear_subject(const model& m, const workload& load, const llama3_scaling& rope = {}) {
    return {m, load, rope, hear(m, load)};
}

namespace detail {

[[nodiscard]] inline count ours_of(const convention& c, const heard_call& call) {
    return c.compared == opposite_figure::macs ? call.torch_flops / count(2) : call.flops;
}

class line_collector {
public:
    void add(std::string_view what, count ours, count theirs, std::string_view reason, std::string_view source) {
        if (ours == count{} && theirs == count{}) return;
        for (difference_line& line : lines_)
            if (line.what == what && line.reason == reason) {
                line.ours += ours, line.theirs += theirs;
                return;
            }
        lines_.push_back({std::string(what), ours, theirs, reason, source});
    }
    [[nodiscard]] std::vector<difference_line> sorted() && {
        const auto apart = [](const difference_line& l) {
            return l.ours > l.theirs ? l.ours - l.theirs : l.theirs - l.ours;
        };
        std::stable_sort(lines_.begin(), lines_.end(), [&](const auto& a, const auto& b) { return apart(a) > apart(b); });
        return std::move(lines_);
    }

private:
    std::vector<difference_line> lines_{};
};

/// The lines of a counter with prices for calls.
[[nodiscard]] inline std::vector<difference_line> call_lines(const convention& c, const heard_pass& heard, tensors on) {
    line_collector lines;
    const bool by_modules = !c.figures.empty() && c.figures.front().what == figure_of::module_products;
    for (const heard_call& call : heard.calls) {
        const call_rule* const rule = rule_for(c, call, on);
        const std::string what = call.within.empty() ? std::string(call.name) : call.within;
        if (by_modules)
            lines.add(what, ours_of(c, call), {}, call.within.empty() ? c.unheard : "parameters times the batch",
                      c.unheard_source);
        else if (rule != nullptr)
            lines.add(what, ours_of(c, call), charge_of(rule->first, call.amounts), rule->reason, rule->source);
        else
            lines.add(what, ours_of(c, call), {}, c.unheard, c.unheard_source);
    }
    if (by_modules)
        for (const heard_module& m : heard.modules)
            lines.add(m.type, {}, module_products(m), "parameters times the batch", c.unheard_source);
    return std::move(lines).sorted();
}

inline void read_llm_profiler(convention_reading& out, const heard_subject& s) {
    const sizes& d = s.subject.dims;
    if (std::string_view(s.subject.text_row().model_type) != "llama") out.undefined = "it knows Llama's configuration alone";
    if (!s.rope.given) out.undefined = "it fails where a configuration has no rope_scaling of Llama 3's kind";
    if (s.load.past > 0) out.undefined = "it knows no cache that is filled";
    if (!out.defined()) return;
    const llm_profiler_parts p = llm_profiler_of(d, s.rope, s.load.batch, s.load.sequence);
    const llm_profiler_counts all = p.all();
    const count values[]{all.flops(), all.add, all.mult, all.div, all.sqrt, all.params, all.cache, all.act};
    for (std::size_t i = 0; i < out.by->figures.size(); ++i) out.figures.push_back({out.by->figures[i].name, values[i]});
    out.ours = s.pass.total.flops();
    const auto scope = [&](role what) {
        return count_model(
                   s.subject,
                   [&] {
                       workload full = s.load;
                       full.attention = attention_scores::full;
                       return full;
                   }(),
                   scope_query{what})
            .flops();
    };
    const count attention = scope(role::attn), mlp = scope(role::mlp), norms = scope(role::norm), head = scope(role::head),
                rotary = scope(role::rotary);
    line_collector lines;
    constexpr std::string_view no_sequence = "a linear layer's formula lacks the sequence: B·in·out";
    lines.add("attention", attention, p.attention.flops(), no_sequence, "src/flops.py, linear");
    lines.add("mlp", mlp, p.mlp.flops(), no_sequence, "src/flops.py, linear");
    lines.add("head", head, {}, "layers for downstream tasks are not included", "README.md");
    lines.add("norms", norms, p.norms.flops(), "", "src/llama_hook.py");
    lines.add("rotary table", rotary, p.rotary.flops(),
              "its factor stands where half of a head's width belongs, and the batch beside it", "src/llama_hook.py");
    const count rest = out.ours - attention - mlp - norms - head - rotary;
    lines.add("the rest: residuals, embedding", rest, p.residuals.flops() + p.embedding.flops(), "", "src/llama_hook.py");
    out.lines = std::move(lines).sorted();
}

inline void read_step_formula(convention_reading& out, const heard_subject& s) {
    out.undefined = dense_formulas_fail(s.subject);
    if (s.load.past > 0) out.undefined = "a training step has no past";
    if (!out.defined()) return;
    workload step = s.load;
    step.training = true;
    const heard_pass heard = hear(s.subject, step);
    const count parameters = heard.parameters, sequence(s.load.sequence), tokens = count(s.load.batch) * sequence;
    const bool palm = out.by->formula == closed_formula::palm;
    const count all = palm ? palm_step_flops(s.subject, parameters, tokens, sequence) : six_n_d(parameters, tokens);
    out.figures.push_back({out.by->figures.front().name, all});
    count with_weights, others;
    for (const heard_call& call : heard.calls) (call.weighted ? with_weights : others) += call.torch_flops;
    const count weights = count(2) * parameters * tokens, scores = (all - six_n_d(parameters, tokens)) / count(3);
    out.ours = heard.total.torch_flops + heard.total.backward_torch_flops;
    line_collector lines;
    lines.add("products with weights, forward", with_weights, weights,
              "2 for every parameter: norms, biases and the table of words too, a tied head once", out.by->unheard_source);
    lines.add("other products, forward", others, scores,
              palm ? "4 L H Q T for each token" : "attention's scores are left out", out.by->unheard_source);
    lines.add("backward", heard.total.backward_torch_flops, all - weights - scores, "twice the forward pass",
              out.by->unheard_source);
    out.lines = std::move(lines).sorted();
}

}  // namespace detail

/// What a counter says of a model and workload: its figures, and line by line why the first is not llmcost's.
[[nodiscard]] inline convention_reading read_convention(const convention& c, const heard_subject& s, tensors on) {
    convention_reading out{.by = &c};
    if (c.formula == closed_formula::llm_profiler) {
        detail::read_llm_profiler(out, s);
    } else if (c.formula != closed_formula::none) {
        detail::read_step_formula(out, s);
    } else {
        out.figures = figures_by(c, s.pass, on);
        out.ours = c.compared == opposite_figure::macs ? s.pass.total.macs() : s.pass.total.flops();
        out.lines = detail::call_lines(c, s.pass, on);
    }
    return out;
}

}  // namespace llmcost
