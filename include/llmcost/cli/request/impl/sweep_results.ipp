// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/request/sweep_results.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/analysis/evaluator.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/find_metric.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/row_error.hpp>
#include <llmcost/cli/request/for_each_model.hpp>
#include <llmcost/cli/request/parse_request.hpp>
#include <llmcost/cli/request/request.hpp>
#include <llmcost/cli/request/stored_weights.hpp>
#include <llmcost/cli/request/sweep_points.hpp>
#include <llmcost/report/metrics.hpp>
#include <llmcost/text/messages.hpp>
#include <llmcost/trace/scope.hpp>

namespace llmcost::cli::detail {

/// The models of a sweep; a configuration that fails is skipped with a warning.
class sweep_models final : public model_sink {
public:
    sweep_models(const arguments& args, const program& io, std::vector<request>& out, std::vector<std::size_t>& sources)
        : args_(args), io_(io), out_(out), sources_(sources) {}

    void add(const parsed_model& read) override {
        request q = understand(args_, read, io_.commands);
        if (includes_weight_bytes(q.metrics)) require_known_layout(read);
        out_.push_back(std::move(q));
        sources_.push_back(num_read_++);
    }
    void fail(std::string name, std::string problem) override {
        io_.err << "llmcost: warning: " << name << " is skipped: " << problem << '\n';
        ++num_read_;
    }
    [[nodiscard]] std::size_t num_skipped() const noexcept { return num_read_ - sources_.size(); }

private:
    const arguments& args_;
    const program& io_;
    std::vector<request>& out_;
    std::vector<std::size_t>& sources_;
    std::size_t num_read_ = 0;
};

/// The command line with one point instead of lists.
LLMCOST_INLINE arguments without_lists(const arguments& args) {
    arguments one = args;
    for (const option_spec& o : {option::batch, option::sequence})
        if (args.has(o)) one.replace(o, "1");
    if (args.has(option::past)) one.replace(option::past, "0");
    return one;
}

/// The metrics of a command line; without any, those of a table of workloads.
LLMCOST_INLINE std::vector<const metric*> sweep_metrics(const arguments& args) {
    std::vector<const metric*> list;
    for (const std::string_view text : args.positional())
        if (const metric* m = find_metric(text); m != nullptr && std::find(list.begin(), list.end(), m) == list.end())
            list.push_back(m);
    if (list.empty())
        for (const std::string_view name : {"flops", "torch_flops", "act", "cache_bytes"})
            list.push_back(find_metric(name));
    if (needs_saved_bytes(list)) throw_usage("saved_bytes", "describes a training step; use llmcost train");
    return list;
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

/// What one thread evaluates with: the closed forms of one model, and the time of steps on its devices.
class sweep::worker {
public:
    explicit worker(const sweep& all) : all_(all) {}

    /// Computes the rows from `first` to `last` of a block, excluding `last`. Stores an exception that is no result.
    void compute(sweep_block& block, std::size_t first, std::size_t last) noexcept {
        failure = nullptr;
        try {
            for (std::size_t row = first; row < last; ++row)
                block.problems[row] = detail::problem_of([&] { compute_row(block, row); });
        } catch (...) {
            failure = std::current_exception();
        }
    }

    std::exception_ptr failure;

private:
    void compute_row(sweep_block& block, std::size_t row) {
        const sweep_point& point = block.points[row];
        const request& q = all_.models_[point.model];
        if (evaluator_ == nullptr || model_ != point.model) {
            const scope_selector scope = q.metrics.scope.value_or(scope_selector{});
            scope_name_ = scope.name;
            evaluator_ = std::make_unique<cost_evaluator>(q.model, scope_query(scope.kind, string_ref(scope_name_)));
            timers_.clear();
            model_ = point.model;
        }
        workload load = q.workload.base_workload;
        load.batch = point.batch;
        load.sequence = point.sequence;
        load.past = point.past;
        model_metrics figures = (*evaluator_)(load);
        if (all_.stored_weight_bytes_[point.model] != count{})
            figures.weight_bytes = all_.stored_weight_bytes_[point.model];
        for (std::size_t k = 0; k < all_.metrics_.size(); ++k)
            block.figures[k][row] = all_.metrics_[k]->value_of(figures);
        if (!all_.devices_.empty())
            block.steps[row] = timer(point.device).time(point.batch, point.sequence, point.past);
    }

    step_timer& timer(std::size_t device) {
        timers_.resize(all_.devices_.size());
        if (timers_[device] == nullptr) {
            const std::lock_guard lock(all_.making_timer_);  // it may read standard input
            timers_[device] = all_.make_timer_(all_.args_, all_.io_, all_.sources_[model_], all_.devices_[device]);
        }
        return *timers_[device];
    }

    const sweep& all_;
    std::size_t model_ = 0;
    std::string scope_name_;
    std::unique_ptr<cost_evaluator> evaluator_;
    std::vector<std::unique_ptr<step_timer>> timers_;
};

LLMCOST_INLINE sweep::sweep(const arguments& args, const program& io, std::vector<std::string> devices, make_timer make)
    : args_(args), io_(io), devices_(std::move(devices)), make_timer_(make), metrics_(detail::sweep_metrics(args)) {
    const arguments one = detail::without_lists(args);
    detail::sweep_models sink(one, io, models_, sources_);
    if (!io.read_each(one, io, sink)) sink.add(io.read(one, io));
    if (models_.empty()) throw_usage("sweep", "no model could be read");
    num_skipped_ = sink.num_skipped();
    std::vector<std::int64_t> default_sequences;
    for (const request& q : models_) {
        default_sequences.push_back(q.workload.base_workload.sequence);
        stored_weight_bytes_.push_back(q.stored_weights.is_applied
                                           ? compute_scope(q, {find_metric("weight_bytes")}).total.front().weight_bytes
                                           : count{});
    }
    points_ =
        std::make_unique<sweep_points>(args, std::move(default_sequences), std::max<std::size_t>(devices_.size(), 1));
}

LLMCOST_INLINE sweep::~sweep() = default;

LLMCOST_INLINE sweep_block sweep::compute(std::int64_t first, std::int64_t last, std::size_t num_threads) {
    std::vector<sweep_point> points;
    points.reserve(static_cast<std::size_t>(last - first));
    for (std::int64_t i = first; i < last; ++i) points.push_back((*points_)[i]);
    return compute(std::move(points), num_threads);
}

LLMCOST_INLINE sweep_block sweep::compute(std::vector<sweep_point> points, std::size_t num_threads) {
    sweep_block block;
    const std::size_t size = points.size();
    block.points = std::move(points);
    block.figures.assign(metrics_.size(), std::vector<count>(size));
    if (!devices_.empty()) block.steps.resize(size);
    block.problems.resize(size);
    constexpr std::size_t min_rows = 1024;  // fewer rows take less time than a thread takes to start
    num_threads = std::clamp<std::size_t>(devices_.empty() ? size / min_rows : size, 1, num_threads);
    while (workers_.size() < num_threads) workers_.push_back(std::make_unique<worker>(*this));
    std::vector<std::thread> threads;
    for (std::size_t k = 1; k < num_threads; ++k)
        threads.emplace_back(
            [&, k] { workers_[k]->compute(block, size * k / num_threads, size * (k + 1) / num_threads); });
    workers_.front()->compute(block, 0, size / num_threads);
    for (std::thread& thread : threads) thread.join();
    for (const std::unique_ptr<worker>& w : workers_)
        if (w->failure != nullptr) std::rethrow_exception(w->failure);
    return block;
}

}  // namespace llmcost::cli
