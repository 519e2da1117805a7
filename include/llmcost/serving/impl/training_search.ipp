// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/serving/training_search.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/distributed/pipeline_action.hpp>
#include <llmcost/distributed/pipeline_memory.hpp>
#include <llmcost/distributed/pipeline_schedule.hpp>
#include <llmcost/distributed/stage_memory_bounds.hpp>
#include <llmcost/distributed/stage_tape.hpp>
#include <llmcost/distributed/training_memory.hpp>
#include <llmcost/memory/rank_parameters.hpp>
#include <llmcost/serving/job_timer.hpp>
#include <llmcost/serving/parallel_training.hpp>
#include <llmcost/serving/pipeline_time.hpp>
#include <llmcost/serving/training_bounds.hpp>
#include <llmcost/serving/training_candidates.hpp>
#include <llmcost/serving/training_collectives.hpp>
#include <llmcost/serving/training_ranking.hpp>
#include <llmcost/serving/training_work.hpp>
#include <llmcost/text/error.hpp>

namespace llmcost {

struct training_search::state {
    /// The sizes that jobs with equal work per microbatch, or an equal recorded pass, have in common.
    using group = std::array<std::int64_t, 7>;

    state(const model& memory_model, const model& timed_model, const llmcost::execution& execution,
          const llmcost::device& device, kernel_source& kernels, const std::vector<training_variant>& variants,
          std::function<bool(const training_parallelism&)> is_supported)
        : memory_model(memory_model),
          timed_model(timed_model),
          execution(execution),
          device(device),
          kernels(kernels),
          variants(variants),
          is_supported(std::move(is_supported)),
          num_layers(std::max<std::int64_t>(timed_model.config.num_hidden_layers, 1)),
          has_bounds(stage_memory_bounds::has_bounds(memory_model)),
          collectives(execution, device, kernels) {
        for (const training_variant& variant : variants) {
            loads.push_back(variant.timed_load);
            jobs.push_back(variant.job);
        }
        count_parameters(variants.front().timed_load);
    }

    const model& memory_model;
    const model& timed_model;
    const llmcost::execution& execution;
    const llmcost::device& device;
    kernel_source& kernels;
    const std::vector<training_variant>& variants;
    std::function<bool(const training_parallelism&)> is_supported;
    std::int64_t num_layers;
    bool has_bounds;                                   ///< of memory by `stage_memory_bounds`
    std::vector<workload> loads{};                     ///< by variant; the batch is that of a candidate
    std::vector<training_job> jobs{};                  ///< by variant; the sizes are those of a candidate
    std::vector<double> dense_before, experts_before;  ///< parameters of all layers before a layer, by layer
    double embedding = 0, head = 0;                    ///< parameters before and after all layers
    std::map<group, bool> supported;
    std::map<group, std::shared_ptr<const training_work>> works;
    training_work_cache work_cache;
    collective_times collectives;
    struct recorded_group {
        std::optional<stage_memory_bounds> bounds{};
        std::optional<recorded_job> job{};  ///< with all layers
        bool is_supported = true;
        std::map<recompute_mode, std::vector<double>> saved_before{};  ///< bytes of all layers before a layer
    };
    std::map<group, recorded_group> recorded;
    std::map<group, distributed::pipeline_schedule> schedules;

    void count_parameters(workload load) {
        load.batch = 1;
        load.sequence = std::min<std::int64_t>(load.sequence, 64);
        model base = timed_model;
        base.policy = nullptr;
        const auto layers = static_cast<std::size_t>(std::max<std::int64_t>(base.config.num_hidden_layers, 1));
        dense_before.assign(layers + 1, 0);
        experts_before.assign(layers + 1, 0);
        for (const rank_parameter& p : rank_parameters_of(base, base, load)) {
            const auto elements = static_cast<double>(p.elements.to_64());
            if (p.layer < 0)
                embedding += elements;
            else if (static_cast<std::size_t>(p.layer) >= layers)
                head += elements;
            else
                (p.is_routed ? experts_before : dense_before)[static_cast<std::size_t>(p.layer) + 1] += elements;
        }
        std::partial_sum(dense_before.begin(), dense_before.end(), dense_before.begin());
        std::partial_sum(experts_before.begin(), experts_before.end(), experts_before.begin());
    }
    /// A lower bound of the state of the largest rank, which has at least the average over the pipeline.
    [[nodiscard]] double minimum_state(const training_variant& variant, const training_parallelism& parallel) const {
        const auto pipeline = static_cast<double>(parallel.pipeline);
        return minimum_state_bytes((dense_before.back() + embedding + head) / pipeline,
                                   experts_before.back() / pipeline, variant, parallel);
    }

    [[nodiscard]] bool supports(const training_parallelism& parallel) {
        const group key{static_cast<std::int64_t>(parallel.rules), parallel.tensor, parallel.expert,
                        parallel.expert_tensor};
        if (const auto found = supported.find(key); found != supported.end()) return found->second;
        training_parallelism smallest = parallel;  // that has these sizes
        smallest.pipeline = smallest.context = smallest.stages_per_rank = smallest.data_replicate = 1;
        smallest.data = parallel.expert * parallel.expert_tensor;
        return supported.emplace(key, is_supported(smallest)).first->second;
    }

    [[nodiscard]] const training_work& work_of(const training_candidate& c) {
        const training_parallelism& p = c.parallel;
        const training_variant& variant = variants[c.variant];
        const group key{static_cast<std::int64_t>(variant.timed_plan.schedule.recompute),
                        p.tensor,
                        p.context,
                        p.expert,
                        p.expert_tensor,
                        p.has_sequence_parallel ? 1 : 0,
                        c.batch};
        std::shared_ptr<const training_work>& work = works[key];
        if (!work) {
            set_sizes(c);
            work = training_work_of(timed_model, loads[c.variant], execution, device, kernels, variant.timed_plan,
                                    jobs[c.variant], work_cache);
        }
        return *work;
    }
    void set_sizes(const training_candidate& c) {
        loads[c.variant].batch = c.batch;
        jobs[c.variant].parallel = c.parallel;
    }
    /// The time of a candidate, or a lower bound of it.
    [[nodiscard]] parallel_training_cost time_of(const training_candidate& c, bool is_bound) {
        const training_work& work = work_of(c);
        set_sizes(c);
        return detail::time_job(timed_model, loads[c.variant], variants[c.variant].timed_plan, jobs[c.variant], work,
                                collectives, is_bound);
    }

    /// The recorded passes of candidates with equal sizes of a rank.
    [[nodiscard]] recorded_group& group_of(const training_candidate& c) {
        const training_parallelism& p = c.parallel;
        const training_variant& variant = variants[c.variant];
        return recorded[{static_cast<std::int64_t>(variant.rules),
                         static_cast<std::int64_t>(variant.plan.schedule.recompute), p.tensor, p.context, p.expert,
                         p.expert_tensor, c.batch}];
    }
    /// The recorded pass of all layers; null if the model does not support the configuration.
    [[nodiscard]] recorded_job* recorded_of(const training_candidate& c) {
        const training_variant& variant = variants[c.variant];
        recorded_group& found = group_of(c);
        if (!found.job && found.is_supported) {
            workload load = variant.load;
            load.batch = c.batch;
            try {
                found.job = record_job(memory_model, load, variant.plan, c.parallel, variant.settings);
            } catch (const error&) {  // the configuration is not supported; others may be
                found.is_supported = false;
            }
        }
        if (!found.job) return nullptr;
        found.job->settings = variant.settings;
        found.job->schedule.recompute = variant.plan.schedule.recompute;
        found.job->schedule.sync = variant.plan.schedule.sync;
        found.job->schedule.fsdp.reshards_after_forward = variant.plan.schedule.fsdp.reshards_after_forward;
        return &*found.job;
    }
    /// The lower bounds of the memory of stages; null if the model does not support the configuration.
    [[nodiscard]] stage_memory_bounds* bounds_of(const training_candidate& c) {
        const training_variant& variant = variants[c.variant];
        recorded_group& found = group_of(c);
        if (!found.is_supported) return nullptr;
        if (!found.bounds) {
            workload load = variant.load;
            load.batch = c.batch;
            found.bounds.emplace(memory_model, load, variant.plan, c.parallel, variant.settings);
        }
        found.bounds->set_schedule(variant.plan.schedule, variant.settings);
        return &*found.bounds;
    }
    /// Bytes that the layers before each layer save for a microbatch; empty if the model does not support the
    /// configuration.
    [[nodiscard]] const std::vector<double>& saved_before(const training_candidate& c) {
        recorded_group& found = group_of(c);
        const auto [saved, is_new] = found.saved_before.try_emplace(variants[c.variant].plan.schedule.recompute);
        if (!is_new) return saved->second;
        std::vector<std::uint64_t> layers;
        try {
            if (stage_memory_bounds* const bounds = has_bounds ? bounds_of(c) : nullptr)
                layers = bounds->saved_bytes_of_layers(c.parallel);
            else if (recorded_job* const job = has_bounds ? nullptr : recorded_of(c))
                layers = saved_bytes_of_layers(*job);
        } catch (const error&) {
            found.is_supported = false;
        }
        if (layers.empty()) return saved->second;
        saved->second.push_back(0);
        for (const std::uint64_t bytes : layers)
            saved->second.push_back(saved->second.back() + static_cast<double>(bytes));
        return saved->second;
    }

    /// A lower bound of the peak of the largest pipeline rank from a microbatch of one sequence: the state, and the
    /// layers of all microbatches in flight, whose activations are proportional to the sequences. None if the model
    /// does not support the configuration.
    [[nodiscard]] std::optional<std::uint64_t> minimum_peak(training_candidate c,
                                                            const distributed::pipeline_schedule& schedule) {
        const auto sequences = static_cast<double>(std::exchange(c.batch, 1));
        const training_parallelism& p = c.parallel;
        const std::vector<double>& saved = saved_before(c);
        if (!group_of(c).is_supported) return std::nullopt;
        if (saved.size() != dense_before.size()) return 0;
        const std::vector<stage_layers> stages = divide_layers(num_layers, p.pipeline * p.stages_per_rank);
        const auto ranks = static_cast<std::size_t>(p.pipeline);
        std::vector<double> dense(ranks), experts(ranks), saved_of_stage(ranks, -1);
        for (std::size_t s = 0; s < stages.size(); ++s) {
            const auto rank = static_cast<std::size_t>(schedule.rank_of_stage(static_cast<int>(s)));
            const auto first = static_cast<std::size_t>(stages[s].first), end = static_cast<std::size_t>(stages[s].end);
            dense[rank] += dense_before[end] - dense_before[first] + (s == 0 ? embedding : 0) +
                           (s + 1 == stages.size() ? head : 0);
            experts[rank] += experts_before[end] - experts_before[first];
            const double bytes = saved[end] - saved[first];
            if (saved_of_stage[rank] < 0 || bytes < saved_of_stage[rank]) saved_of_stage[rank] = bytes;
        }
        double largest = 0;
        for (std::size_t rank = 0; rank < ranks; ++rank)
            largest = std::max(largest, minimum_state_bytes(dense[rank], experts[rank], variants[c.variant], p) +
                                            static_cast<double>(microbatches_in_flight(schedule, rank)) * sequences *
                                                saved_of_stage[rank]);
        return static_cast<std::uint64_t>(largest);
    }

    /// Lower bounds of the memory of the stages of a candidate; none if the model does not support the configuration.
    [[nodiscard]] std::optional<std::vector<stage_memory>> minimum_stages(const training_candidate& c) {
        try {
            if (stage_memory_bounds* const bounds = has_bounds ? bounds_of(c) : nullptr)
                return bounds->stages(c.parallel);
            if (recorded_job* const job = has_bounds ? nullptr : recorded_of(c))
                return stage_memory_of(*job, c.parallel);
        } catch (const error&) {
            group_of(c).is_supported = false;
        }
        return std::nullopt;
    }
    /// A lower bound of the peak from lower bounds of the stages: the peaks of the first and the last pipeline rank,
    /// which have the embedding and the head. None if the schedule does not support the sizes.
    [[nodiscard]] std::optional<std::uint64_t> minimum_peak_of_order(const training_candidate& c,
                                                                     const std::vector<stage_memory>& stages) {
        if (c.parallel.pipeline == 1) return 0;
        const distributed::ranked_actions& order = schedule_of_sizes(c.parallel).order;
        if (order.empty()) return std::nullopt;
        return std::max(rank_memory_of(stages, order.front()).peak.total,
                        rank_memory_of(stages, order.back()).peak.total);
    }
    /// The pipeline schedule of a job; without an order if it does not support the sizes.
    [[nodiscard]] const distributed::pipeline_schedule& schedule_of_sizes(const training_parallelism& p) {
        const group key{static_cast<std::int64_t>(detail::timed_schedule_kind(p)), p.pipeline, p.stages_per_rank,
                        p.microbatches};
        const auto [found, is_new] = schedules.try_emplace(key);
        if (is_new) found->second = detail::timed_schedule_of(p);
        return found->second;
    }

    /// The peak of the largest rank; none if the model or the pipeline schedule does not support the sizes.
    [[nodiscard]] std::optional<std::uint64_t> peak_of(const training_candidate& c) {
        recorded_job* const job = recorded_of(c);
        if (job == nullptr) return std::nullopt;
        try {
            return training_memory_of(*job, c.parallel).largest().peak.total;
        } catch (const error&) {
            return std::nullopt;
        }
    }

    /// Replaces the best configuration of a search in which nothing fits by that with the least memory.
    void find_nearest(std::vector<training_candidate> all, training_search_result& out) {
        std::ranges::stable_sort(all, {}, &training_candidate::minimum_bytes);
        for (training_candidate& c : all) {
            const auto is_larger = [&](std::uint64_t bytes) { return out.nearest && bytes >= out.nearest->peak_bytes; };
            if (is_larger(c.minimum_bytes)) break;
            const std::optional<std::vector<stage_memory>> stages = minimum_stages(c);
            if (!stages || is_larger(minimum_peak_bytes(*stages, detail::unordered_schedule_of(c.parallel)))) continue;
            const std::optional<std::uint64_t> peak = peak_of(c);
            if (peak && !is_larger(*peak)) out.nearest = evaluated_training{c, {}, *peak};
        }
        if (out.nearest) out.nearest->cost = time_of(out.nearest->candidate, false);
    }
};

LLMCOST_INLINE training_search::training_search(const model& memory_model, const model& timed_model,
                                                const execution& execution, const device& device,
                                                kernel_source& kernels, std::vector<training_variant> variants,
                                                std::function<bool(const training_parallelism&)> is_supported)
    : variants_(std::move(variants)),
      state_(std::make_unique<state>(memory_model, timed_model, execution, device, kernels, variants_,
                                     std::move(is_supported))) {}

LLMCOST_INLINE training_search::~training_search() = default;

/// Follows a search: its candidates, its counts and its ranking.
class training_search::run {
public:
    run(state& state_of_model, const training_search_space& space, training_search_result& out)
        : state_(state_of_model),
          space_(space),
          sizes_(space, state_of_model.timed_model, state_of_model.execution.devices_per_node),
          out_(out),
          ranking_(out, space.num_results) {}

    void operator()() {
        enumerate();
        if (space_.is_exhaustive)
            for (training_candidate& c : candidates_) evaluate(c);
        else
            visit_by_bounds();
        ranking_.thin_frontier();
        if (!out_.best.empty()) return;
        std::vector<training_candidate> all;
        for_each_division([&](training_candidate& division) {
            for_each_configuration(division, [&](const training_candidate& c) { all.push_back(c); });
        });
        state_.find_nearest(std::move(all), out_);
    }

private:
    template <class Visit>
    void for_each_division(Visit visit) {
        detail::for_each_division(
            space_, state_.variants, sizes_, [&](const training_parallelism& p) { return state_.supports(p); },
            [&](training_candidate& c) {
                c.minimum_bytes =
                    static_cast<std::uint64_t>(state_.minimum_state(state_.variants[c.variant], c.parallel));
                visit(c);
            });
    }
    template <class Visit>
    void for_each_configuration(const training_candidate& division, Visit visit) {
        detail::for_each_configuration(space_, state_.variants, sizes_, division, visit);
    }
    void enumerate() {
        for_each_division([&](training_candidate& division) {
            const bool may_fit = space_.is_exhaustive || fits(division.minimum_bytes);
            for_each_configuration(division, [&](const training_candidate& c) {
                ++out_.num_candidates;
                may_fit ? candidates_.push_back(c) : void(++out_.num_out_of_memory);
            });
        });
    }
    void visit_by_bounds() {
        /// A candidate with a lower bound of its time.
        struct entry {
            double seconds;
            std::size_t index;
            bool has_communication;
            bool operator<(const entry& other) const noexcept {
                return seconds != other.seconds ? seconds > other.seconds : index > other.index;
            }
        };
        std::vector<entry> entries;
        for (std::size_t i = 0; i < candidates_.size(); ++i) {
            training_candidate& c = candidates_[i];
            c.minimum_seconds = minimum_step_seconds(state_.work_of(c), state_.num_layers, c.parallel);
            entries.push_back({c.minimum_seconds, i, false});
        }
        std::priority_queue<entry> queue({}, std::move(entries));
        while (!queue.empty()) {
            entry next = queue.top();
            queue.pop();
            training_candidate& c = candidates_[next.index];
            if (is_slower(c)) continue;
            if (next.has_communication) {
                evaluate(c);
                continue;
            }
            c.minimum_seconds = next.seconds = state_.time_of(c, true).total.seconds;
            next.has_communication = true;
            queue.push(next);
        }
    }
    /// Adds a candidate to the ranking, if its memory and its time do not exclude it.
    void evaluate(training_candidate& c) {
        const distributed::pipeline_schedule schedule = detail::unordered_schedule_of(c.parallel);
        if (!space_.is_exhaustive) {
            if (is_excluded(c, state_.minimum_peak(c, schedule))) return;
            const std::optional<std::vector<stage_memory>> stages = state_.minimum_stages(c);
            if (!stages || is_excluded(c, minimum_peak_bytes(*stages, schedule)) ||
                is_excluded(c, state_.minimum_peak_of_order(c, *stages)))
                return;
        }
        const std::optional<std::uint64_t> peak = state_.peak_of(c);
        if (is_excluded(c, peak)) return;
        ++out_.num_timed;
        ranking_.add({c, state_.time_of(c, false), *peak});
    }
    /// Whether a bound of the memory excludes a candidate. No bound: its sizes are not supported.
    [[nodiscard]] bool is_excluded(training_candidate& c, std::optional<std::uint64_t> bytes) {
        if (!bytes) return true;
        c.minimum_bytes = std::max(c.minimum_bytes, *bytes);
        if (!fits(c.minimum_bytes)) {
            ++out_.num_out_of_memory;
            return true;
        }
        return !space_.is_exhaustive && is_slower(c);
    }
    [[nodiscard]] bool is_slower(const training_candidate& c) {
        const bool is_slow = ranking_.excludes(c);
        if (is_slow) ++out_.num_slower;
        return is_slow;
    }
    [[nodiscard]] bool fits(std::uint64_t bytes) const noexcept {
        return space_.memory_bytes == 0 || bytes <= space_.memory_bytes;
    }

    state& state_;
    const training_search_space& space_;
    detail::searched_sizes sizes_;
    training_search_result& out_;
    detail::training_ranking ranking_;
    std::vector<training_candidate> candidates_{};
};

LLMCOST_INLINE training_search_result training_search::operator()(const training_search_space& space) {
    training_search_result out;
    out.devices = space.devices;
    run(*state_, space, out)();
    return out;
}

}  // namespace llmcost
