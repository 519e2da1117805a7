// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/cli/latency.hpp>
#include <llmcost/cli/tables.hpp>

// `llmcost-calibrate --model`: every distinct operator of a model, run once at its real size on the device at hand.
namespace llmcost::cli {

/// An operator that was run.
struct timed_operator {
    double seconds = 0;
    std::string target;             ///< the kernel that ran
    std::int64_t memory_bytes = 0;  ///< that the device held for it, the process's context included
};
/// Runs one operator; nothing where the device or its libraries cannot.
using operator_timer = std::function<std::optional<timed_operator>(const operator_shape&)>;

/// A kernel of a model with what was measured and what was predicted of it.
struct measured_kernel {
    model_kernel what{};
    std::string target{};
    std::optional<double> forward{}, backward{};  ///< seconds of one run; nothing where it could not be run
    bool backward_was_run = false;                ///< else what its family's rule makes of the forward time
    latency_estimate predicted{};                 ///< of forward
};

/// A model's kernels, each distinct operator run once.
struct measured_model {
    std::vector<measured_kernel> kernels;
    std::size_t distinct = 0;       ///< operators that were run
    std::int64_t memory_bytes = 0;  ///< the most that the device held

    /// Seconds of all runs of what could be run: measured and predicted, forward; and backward.
    struct sums {
        double forward = 0, predicted = 0, backward = 0;
        std::int64_t left_out = 0;  ///< kernels that could not be run
    };
    [[nodiscard]] sums total() const {
        sums s;
        for (const measured_kernel& k : kernels) {
            const auto times = static_cast<double>(k.what.times);
            if (!k.forward) {
                s.left_out += k.what.times;
                continue;
            }
            s.forward += times * *k.forward, s.predicted += times * k.predicted.seconds;
            s.backward += times * k.backward.value_or(0);
        }
        return s;
    }
};

namespace detail {

/// Whether two operators are the same, wherever they stand.
inline std::string key_of(const operator_shape& shape) {
    std::string key =
        std::string(shape.family->name) + ' ' + std::string(shape.operand->name) + ' ' + std::string(shape.variant);
    for (std::size_t i = 0; i < shape.family->size_count; ++i) key += ' ' + std::to_string(shape.sizes[i]);
    return key;
}

}  // namespace detail

/// Runs the kernels of a model's step one after the other, so that no more than one operator's tensors are held at a time.
[[nodiscard]] inline measured_model measured_on(const placement& p, const std::vector<model_kernel>& kernels,
                                                const operator_timer& run) {
    measured_model m;
    std::map<std::string, std::optional<timed_operator>> known;
    const auto once = [&](const operator_shape& shape) -> const std::optional<timed_operator>& {
        const auto [at, fresh] = known.try_emplace(detail::key_of(shape));
        if (fresh) {
            at->second = run(shape);
            if (at->second) ++m.distinct, m.memory_bytes = std::max(m.memory_bytes, at->second->memory_bytes);
        }
        return at->second;
    };
    for (const known_kernel& k : with_measurements(kernels, p.how, *p.kernels)) {
        measured_kernel row{.what = k.what, .predicted = estimate(*p.on, k)};
        if (const std::optional<timed_operator> forward = once(k.what.shape)) {
            row.forward = forward->seconds, row.target = forward->target;
            const backward_rule rule = k.what.shape.family->backward;
            row.backward_was_run = rule == backward_rule::products;
            if (row.backward_was_run) {
                double sum = 0;
                for (const model_kernel& back : products_of_backward(k.what)) {
                    const std::optional<timed_operator> part = once(back.shape);
                    row.backward_was_run = row.backward_was_run && part.has_value();
                    sum += part ? part->seconds : forward->seconds;
                }
                row.backward = sum;
            } else {
                row.backward = backward_factor(rule) * forward->seconds;
            }
        }
        m.kernels.push_back(std::move(row));
    }
    return m;
}

namespace detail {

inline std::string microseconds(double seconds) { return formatted("%.1f", 1e6 * seconds); }

inline table measured_rows(const measured_model& m, bool exact) {
    table t;
    t.columns = {{"name"},
                 {"op"},
                 {"target"},
                 {"input"},
                 {"runs", true},
                 {"forward_us", true},
                 {"backward_us", true},
                 {"predicted_us", true},
                 {"off", true}};
    for (const measured_kernel& k : m.kernels) {
        const operator_shape& shape = k.what.shape;
        const bool maps = shape.family == find_family("elementwise");
        std::string sizes;
        for (std::size_t i = 0; i < shape.family->size_count; ++i) {
            const operator_size& size = shape.family->sizes[i];
            if (!size.required && (size.role == size_role::given || shape.sizes[i] == size.otherwise)) continue;
            sizes += (sizes.empty() ? "" : " x ") + std::to_string(shape.sizes[i]);
        }
        const double off = k.forward ? k.predicted.seconds / *k.forward - 1 : 0;
        t.rows.push_back({exact ? k.what.name : short_name(k.what), std::string(maps ? shape.variant : shape.family->name),
                          k.target.empty() ? "-" : k.target, sizes, std::to_string(k.what.times),
                          k.forward ? microseconds(*k.forward) : "-",
                          k.backward ? (exact || k.backward_was_run ? "" : "~") + microseconds(*k.backward) : "-",
                          microseconds(k.predicted.seconds), k.forward ? formatted("%+.1f %%", 100 * off) : "-"});
    }
    return t;
}

inline std::string measured_text(const placement& p, const std::string& asked, const measured_model& m) {
    const table t = measured_rows(m, false);
    const measured_model::sums s = m.total();
    std::string out = title_of_placement(p) + ", measured\n" + asked + "\n\n";
    std::vector<std::size_t> widths;
    for (std::size_t c = 0; c < t.columns.size(); ++c) {
        std::size_t widest = t.columns[c].title.size();
        for (const auto& row : t.rows) widest = std::max(widest, row[c].size());
        widths.push_back(widest);
    }
    const auto line = [&](auto text_of) {
        std::string text;
        for (std::size_t c = 0; c < t.columns.size(); ++c)
            text +=
                (c == 0 ? "" : "  ") + (t.columns[c].number ? right(text_of(c), widths[c]) : left(text_of(c), widths[c]));
        out += text + '\n';
    };
    line([&](std::size_t c) { return t.columns[c].title; });
    for (const auto& row : t.rows) line([&](std::size_t c) { return row[c]; });
    out += "\nforward " + duration(s.forward) + ", predicted " + duration(s.predicted) +
           formatted(" (%+.1f %%)", s.forward > 0 ? 100 * (s.predicted / s.forward - 1) : 0) + "; backward " +
           duration(s.backward) + "\n" + std::to_string(m.distinct) + " distinct operators were run, each by itself";
    if (s.left_out > 0) out += "; " + std::to_string(s.left_out) + " kernels cannot be run here and are in neither sum";
    out += formatted("; at most %.2f GB of the device's memory", static_cast<double>(m.memory_bytes) / 1e9);
    return out + "\n~: not run; twice the forward time, of fused attention 2.5 times, of sums over devices once\n";
}

inline std::string measured_json(const placement& p, const workload& load, const measured_model& m) {
    const measured_model::sums s = m.total();
    json_writer json;
    json.object()
        .member("seconds", s.forward)
        .member("predicted_seconds", s.predicted)
        .member("backward_seconds", s.backward);
    json.member("left_out", s.left_out).member("distinct", static_cast<std::int64_t>(m.distinct));
    json.member("memory_bytes", m.memory_bytes);
    put_model(json, p);
    json.member("device", p.on->names[0]);
    json.member("batch", load.batch).member("sequence", load.sequence).member("past", load.past).key("ops").array();
    for (const measured_kernel& k : m.kernels) {
        json.object().member("name", k.what.name).member("kind", k.what.shape.family->name).member("target", k.target);
        json.member("times", k.what.times);
        if (k.forward) json.member("forward_seconds", *k.forward).member("backward_seconds", *k.backward);
        json.member("backward_was_run", k.backward_was_run).member("predicted_seconds", k.predicted.seconds);
        json.member("lower", k.predicted.lower).member("upper", k.predicted.upper).key("sizes").object();
        for (std::size_t i = 0; i < k.what.shape.family->size_count; ++i)
            json.member(k.what.shape.family->sizes[i].name, k.what.shape.sizes[i]);
        json.end_object().end_object();
    }
    return json.end_array().end_object().text() + '\n';
}

}  // namespace detail

inline constexpr std::array measured_options =
    joined(execution_options,
           std::array{option_row{"--format", value_kind::choice, "text|json|csv", "csv of the kernels"}, option::batch,
                      option::sequence, option::past, option::logits},
           model_options);

/// What `llmcost-calibrate --model NAME …` prints; options are those of `llmcost latency`, eager where `--execution` says
/// nothing, on one device.
[[nodiscard]] inline std::string measured_answer(std::span<const std::string_view> args, const operator_timer& run,
                                                 const program& io) {
    const arguments given("llmcost-calibrate", measured_options, args);
    if (!given.words().empty()) refuse("llmcost-calibrate", "expected options, found " + in_quotes(given.words().front()));
    const std::string_view format = given.text(option::format, "text");
    const job work = read_job(given);
    workload load = work.base;
    load.head = static_cast<logits>(given.choice(option::logits, static_cast<int>(logits::all)));
    placement p = io.place(given, io);
    check_workload(p.subject, given, work);
    if (!given.has(option::execution)) p.how.issued = issue::eager;
    if (p.how.shards.devices() > 1) refuse("--tp", "one device is measured: expected no --tp and no --dp");
    const measured_model m = measured_on(p, kernels_of(p.subject, load, p.how), run);
    put_notes(p, load.past + load.sequence, io);
    if (format == "json") return detail::measured_json(p, load, m);
    if (format == "csv") return csv(detail::measured_rows(m, true));
    return detail::measured_text(
        p,
        std::to_string(load.batch) + " x " + grouped(count(load.sequence)) + " tokens behind " + grouped(count(load.past)),
        m);
}

}  // namespace llmcost::cli
