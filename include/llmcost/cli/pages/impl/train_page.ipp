// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/pages/train_page.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/input_labels.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/pages/memory_pictures.hpp>
#include <llmcost/cli/pages/rank_page.hpp>
#include <llmcost/cli/pages/step_time.hpp>
#include <llmcost/cli/request/memory_fit.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/cli/request/request.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/memory/adapter.hpp>
#include <llmcost/memory/category.hpp>
#include <llmcost/memory/optimizer.hpp>
#include <llmcost/memory/quantization.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/memory/utilization.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/report/chart.hpp>
#include <llmcost/report/json_report.hpp>
#include <llmcost/report/json_writer.hpp>
#include <llmcost/trace/ops.hpp>

namespace llmcost::cli::detail {

LLMCOST_INLINE count training_response::backward_flops() const {
    return (run.pass_metrics.backward_torch_flops + count(run.memory.recomputed_flops)) *
           count(plan.schedule.gradient_accumulation_steps);
}

LLMCOST_INLINE std::string bar_of(count part, count total, std::size_t columns) {
    if (total == count{} || part == count{}) return {};
    const double share = static_cast<double>(part) / static_cast<double>(total);
    return std::string(std::max<std::size_t>(1, static_cast<std::size_t>(share * static_cast<double>(columns) + 0.5)),
                       '#');
}

/// The settings of a schedule that differ from the defaults.
[[nodiscard]] LLMCOST_INLINE std::vector<std::string> schedule_label(const training_schedule& s) {
    std::vector<std::string> out;
    const auto add_part = [&](bool is, std::string text) {
        if (is) out.push_back(std::move(text));
    };
    add_part(s.has_optimizer_in_backward, "optimizer in backward");
    add_part(s.has_master_weights, "master weights");
    add_part(s.has_float32_gradients, "fp32 gradients");
    add_part(s.gradient_accumulation_steps > 1, grouped(count(s.gradient_accumulation_steps)) + " batches accumulated");
    add_part(s.recompute == recompute_mode::selective, "attention recomputed");
    if (s.recompute == recompute_mode::full)
        add_part(true, s.saves_operators ? "operators recomputed"
                       : s.num_recomputed_layers == INT32_MAX
                           ? "layers recomputed"
                           : std::to_string(s.num_recomputed_layers) + " layers recomputed");
    add_part(s.offloads_activations, "activations offloaded");
    add_part(s.offloads_optimizer, "optimizer offloaded");
    if (s.data_parallel_size > 1)
        add_part(true, "one of " + grouped(count(s.data_parallel_size)) + " devices" +
                           (s.sharding == sharding_strategy::ddp ? ", DDP"
                            : s.sharding == sharding_strategy::fsdp
                                ? ", FSDP"
                                : ", ZeRO " + std::to_string(static_cast<int>(s.sharding))));
    return out;
}

LLMCOST_INLINE std::string training_assumptions(const model& m, const workload& load, const training_plan& plan,
                                                int precision, std::string_view adapter_label) {
    std::string out(precisions[precision].name);
    if (load.implementation == attention_implementation::sdpa)
        out += ", sdpa";
    else if (has_attention(m, load))
        out += ", eager attention";
    out += ", ";
    out += plan.schedule.optimizer->name;
    if (plan.adapter_config.kind != adapter_kind::none) out += ", " + std::string(adapter_label);
    for (const std::string& text : schedule_label(plan.schedule)) out += ", " + text;
    return out;
}

LLMCOST_INLINE std::string train_title(const training_response& t) {
    std::vector<std::string> parts{"Training step of " + input_label(t.read.subject, t.load),
                                   std::string(t.plan.schedule.optimizer->name)};
    if (t.plan.adapter_config.kind != adapter_kind::none) parts.push_back(t.adapter_label);
    parts.emplace_back(precisions[t.precision].name);
    if (t.load.implementation == attention_implementation::sdpa)
        parts.emplace_back("sdpa");
    else if (has_attention(t.read.subject, t.load))
        parts.emplace_back("eager attention");
    for (std::string& text : schedule_label(t.plan.schedule)) parts.push_back(std::move(text));
    if (!t.plan.base_quantization.none()) parts.push_back("frozen weights in " + t.plan.base_quantization.method);
    if (t.read.subject.config.quantized && t.plan.base_quantization.none())
        parts.emplace_back("quantization_config not applied");
    if (t.plan.loss == training_loss::sum) parts.emplace_back("loss: sum");
    if (t.plan.loss == training_loss::fused) parts.emplace_back("loss: fused");
    if (t.load.has_dropout) parts.emplace_back("dropout enabled");
    if (const std::int32_t capability = t.load.cuda_capability; capability > 0)
        parts.push_back("CUDA " + std::to_string(capability / 10) + '.' + std::to_string(capability % 10));
    if (t.is_compiled) parts.emplace_back("torch.compile");
    return wrapped(parts, 80);
}

/// The memory categories at the peak, each with a bar.
[[nodiscard]] LLMCOST_INLINE std::string peak_lines(const memory_bytes& peak) {
    std::string out;
    const count total(peak.total);
    for (std::size_t i = 0; i < num_memory_categories; ++i) {
        const count bytes(peak.category_bytes[i]);
        if (bytes == count{}) continue;
        out += "  " + left(memory_category_names[i], 7) + left(category_labels[i], 24) + right(in_bytes(bytes), 9) +
               right(percent(bytes, total), 8) + "  " + bar_of(bytes, total, 28) + '\n';
    }
    return out;
}

/// The snapshots of the last step as bars, at most `maximum`. Each bar is the highest of adjacent snapshots.
[[nodiscard]] LLMCOST_INLINE std::string snapshot_lines(const memory_timeline& m, std::size_t maximum) {
    std::vector<const memory_snapshot*> snapshots;
    const std::size_t group_size = (m.snapshots.size() + maximum - 1) / std::max<std::size_t>(1, maximum);
    for (std::size_t i = 0; i < m.snapshots.size();) {
        const memory_snapshot* best = &m.snapshots[i];
        std::size_t end = i;
        for (; end < m.snapshots.size() && end < i + group_size && m.snapshots[end].phase == m.snapshots[i].phase;
             ++end)
            if (m.snapshots[end].peak_bytes > best->peak_bytes) best = &m.snapshots[end];
        snapshots.push_back(best);
        i = end;
    }
    std::string out;
    std::string_view phase;
    for (const memory_snapshot* s : snapshots) {
        std::string_view path = s->path.empty() ? std::string_view("(outside of layers)") : std::string_view(s->path);
        for (std::size_t dot = 0; path.size() > 24 && (dot = path.find('.')) != path.npos;) path.remove_prefix(dot + 1);
        out += "  " + left(s->phase == phase ? "" : s->phase, 9) + left(path.substr(0, 24), 25) +
               right(in_bytes(count(s->peak_bytes)), 9) + "  " +
               bar_of(count(s->peak_bytes), count(m.peak.bytes.total), 32) + '\n';
        phase = s->phase;
    }
    return out;
}

/// The FLOPs of a step by each counting convention, and MFU and HFU if the step time was measured.
[[nodiscard]] LLMCOST_INLINE std::string utilisation_lines(const training_response& t) {
    const auto all = step_flops_of(t.read.subject, t.load, t.plan, t.run);
    const auto share = [&](count flops) {
        return t.took.measured() ? formatted("%.1f %%", 100 * t.took.share(flops)) : "";
    };
    std::string out = "FLOPs of a step";
    if (t.took.measured())
        out += " and utilization: step time " + formatted("%.5g s", t.took.seconds) + ", peak " +
               formatted("%.5g", t.took.peak * 1e-12) + " TFLOP/s (" + t.took.device_title + ", " +
               std::string(name_of(t.took.type)) + ")";
    out += "\n  " + left("", 10) + right("model", 9) + (t.took.measured() ? right("MFU", 9) : "") +
           right("hardware", 11) + (t.took.measured() ? right("HFU", 9) : "") + '\n';
    for (std::size_t i = 0; i < flops_conventions; ++i) {
        const step_flops& f = all[i];
        out += "  " + left(flops_convention_names[i], 10);
        if (!f.defined()) {
            out += "not defined: " + std::string(f.undefined) + '\n';
            continue;
        }
        out += right(scaled(f.model), 9) + (t.took.measured() ? right(share(f.model), 9) : "");
        if (f.has_hardware_flops)
            out += right(scaled(f.hardware), 11) + (t.took.measured() ? right(share(f.hardware), 9) : "");
        out += '\n';
    }
    return out;
}

LLMCOST_INLINE std::string train_page(const training_response& t) {
    const memory_timeline& m = t.run.memory;
    std::string out = t.read.found.name_of_model.name + "\n" + train_title(t) + "\n";
    out += "Peak " + in_bytes(count(m.peak.bytes.total)) + ", in " + std::string(m.peak.phase) + " at " +
           std::string(m.peak.operation) + (m.peak.step > 1 ? ", from the second step on\n" : "\n");
    out += peak_lines(m.peak.bytes) + "\nMemory over the last step (peak of each interval)\n" + snapshot_lines(m, 18) +
           '\n';
    std::vector<std::string> parts{"trainable " + scaled(count(m.num_trainable)) + " of " +
                                   scaled(t.run.pass_metrics.params) + " parameters (" +
                                   percent(count(m.num_trainable), t.run.pass_metrics.params) + ")"};
    parts.push_back("saved for backward " + in_bytes(count(m.saved_bytes)));
    if (m.offloaded_bytes > 0) parts.push_back("offloaded to the host " + in_bytes(count(m.offloaded_bytes)));
    parts.push_back("PyTorch FLOPs: forward " + scaled(t.forward_flops()) + ", backward " + scaled(t.backward_flops()));
    parts.push_back("optimizer FLOPs " + scaled(m.optimizer_step.add + m.optimizer_step.mult));
    out += wrapped(parts, 80);
    if (m.allocator)
        out += "CUDA allocator: reserved " + in_bytes(count(m.allocator->reserved_bytes)) + " in " +
               digits(count(m.allocator->num_segments)) + " segments, peak " +
               in_bytes(count(m.allocator->peak_allocated_bytes)) + " allocated, of which cuBLAS workspaces " +
               in_bytes(count(m.library_workspace_bytes)) + '\n';
    out += utilisation_lines(t);
    if (const std::string_view meaning = precisions[t.precision].meaning; !meaning.empty())
        out += std::string(meaning) + '\n';
    out += memory_fit_text(t.limit, t.needed(),
                           training_assumptions(t.read.subject, t.load, t.plan, t.precision, t.adapter_label));
    if (t.fits_with) out += "Fits with " + t.fits_with->change + ": " + in_bytes(t.fits_with->needed) + '\n';
    if (!t.ranks.empty()) out += rank_lines(t.ranks);
    return t.estimate ? out + estimate_lines(*t.estimate, t.epoch_tokens) : out;
}

LLMCOST_INLINE void write_memory(json_writer& json, std::string_view key, const memory_bytes& b) {
    json.key(key).object().member("total", count(b.total));
    for (std::size_t i = 0; i < num_memory_categories; ++i)
        json.member(memory_category_names[i], count(b.category_bytes[i]));
    json.end_object();
}

/// Writes the FLOPs of a step by each counting convention. Undefined values are null; `why` has the reason.
LLMCOST_INLINE void write_utilization(json_writer& json, const training_response& t) {
    const auto all = step_flops_of(t.read.subject, t.load, t.plan, t.run);
    json.key("utilisation").object().key("step_seconds");
    t.took.measured() ? json.value(t.took.seconds) : json.null();
    json.key("peak_flops");
    t.took.measured() ? json.value(t.took.peak) : json.null();
    json.key("conventions").object();
    for (std::size_t i = 0; i < flops_conventions; ++i) {
        const step_flops& f = all[i];
        const auto write_share = [&](std::string_view flops, std::string_view share, bool is_defined, count n) {
            json.key(flops);
            is_defined ? json.value(n) : json.null();
            json.key(share);
            is_defined&& t.took.measured() ? json.value(t.took.share(n)) : json.null();
        };
        json.key(flops_convention_names[i]).object();
        write_share("model_flops", "mfu", f.defined(), f.model);
        write_share("hardware_flops", "hfu", f.defined() && f.has_hardware_flops, f.hardware);
        json.key("why");
        f.defined() ? json.null() : json.value(f.undefined);
        json.end_object();
    }
    json.end_object().end_object();
}

LLMCOST_INLINE std::string train_json(const training_response& t) {
    const memory_timeline& m = t.run.memory;
    json_writer json;
    json.object().member("model", t.read.found.name_of_model.name).member("batch", t.load.batch);
    if (unit_of(t.read.subject, t.load) == input_unit::token) json.member("sequence", t.load.sequence);
    json.member("parameters", t.run.pass_metrics.params).member("trainable", count(m.num_trainable));
    json.member("compiled", t.is_compiled);
    json.member("saved_bytes", count(m.saved_bytes)).key("torch_flops").object();
    json.member("forward", t.forward_flops()).member("backward", t.backward_flops()).end_object();
    json.member("offloaded", count(m.offloaded_bytes));
    json.key("optimizer").object().member("name", t.plan.schedule.optimizer->name).key("primitives");
    llmcost::detail::write_primitives(json, m.optimizer_step);
    json.end_object();
    write_memory(json, "peak", m.peak.bytes);
    json.key("peak_at").object().member("step", m.peak.step).member("phase", m.peak.phase);
    json.member("operation", m.peak.operation).end_object();
    write_memory(json, "own_peaks", m.peak_by_category);
    if (m.allocator) {
        json.key("allocator").object().member("peak_allocated", count(m.allocator->peak_allocated_bytes));
        json.member("reserved", count(m.allocator->reserved_bytes))
            .member("segments", count(m.allocator->num_segments));
        json.member("library_workspaces", count(m.library_workspace_bytes)).end_object();
    }
    json.key("snapshots").object();
    write_memory(json, "after_forward", m.after_forward);
    write_memory(json, "after_backward", m.after_backward);
    write_memory(json, "after_step", m.after_step);
    json.end_object().key("timeline").array();
    for (const memory_snapshot& s : m.snapshots) {
        json.object().member("phase", s.phase).member("path", s.path).member("most", count(s.peak_bytes));
        write_memory(json, "bytes", s.bytes);
        json.end_object();
    }
    json.end_array();
    write_utilization(json, t);
    if (t.estimate) write_estimate(json, *t.estimate, t.epoch_tokens);
    write_memory_fit(json, t.limit, t.needed());
    json.key("fits_with");
    t.fits_with ? json.value(t.fits_with->change) : json.null();
    if (!t.ranks.empty()) write_ranks(json, t.ranks);
    json.end_object();
    return json.text() + "\n";
}

LLMCOST_INLINE svg_picture peak_picture(const training_response& t) {
    const memory_timeline& m = t.run.memory;
    std::vector<memory_bar> bars;
    std::string description;
    for (std::size_t i = 0; i < num_memory_categories; ++i) {
        bars.push_back({std::string(memory_category_names[i]) + ' ' + std::string(category_labels[i]),
                        count(m.peak.bytes.category_bytes[i])});
        if (m.peak.bytes.category_bytes[i] != 0)
            description += (description.empty() ? "" : "; ") + bars.back().name + ' ' + in_bytes(bars.back().bytes);
    }
    return breakdown_picture({"At the peak, in " + std::string(m.peak.phase), description}, bars, t.limit);
}

LLMCOST_INLINE svg_picture train_picture(const training_response& t) {
    const std::string title = train_title(t);
    return stack_pictures(
        timeline_picture({t.read.found.name_of_model.name, title.substr(0, title.find('\n'))}, t.run.memory, t.limit),
        peak_picture(t));
}

LLMCOST_INLINE table train_table(const training_response& t) {
    const memory_timeline& m = t.run.memory;
    table out{{{"bytes"},
               {"peak", true},
               {"own_peak", true},
               {"after_forward", true},
               {"after_backward", true},
               {"after_step", true}},
              {}};
    const auto row = [&](std::string_view name, auto get_bytes) {
        out.rows.push_back({std::string(name), digits(count(get_bytes(m.peak.bytes))),
                            digits(count(get_bytes(m.peak_by_category))), digits(count(get_bytes(m.after_forward))),
                            digits(count(get_bytes(m.after_backward))), digits(count(get_bytes(m.after_step)))});
    };
    for (std::size_t i = 0; i < num_memory_categories; ++i)
        row(memory_category_names[i], [i](const memory_bytes& b) { return b.category_bytes[i]; });
    row("total", [](const memory_bytes& b) { return b.total; });
    return out;
}

}  // namespace llmcost::cli::detail
