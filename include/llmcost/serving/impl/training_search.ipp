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
#include <utility>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/distributed/pipeline_schedule.hpp>
#include <llmcost/distributed/schedule_formulas.hpp>
#include <llmcost/distributed/stage_tape.hpp>
#include <llmcost/distributed/training_memory.hpp>
#include <llmcost/memory/rank_parameters.hpp>
#include <llmcost/text/error.hpp>

namespace llmcost::detail {

/// Stages of microbatches whose activations a pipeline rank holds at the same time.
[[nodiscard]] LLMCOST_INLINE int microbatches_in_flight(const training_parallelism& parallel,
                                                        std::size_t rank) noexcept {
    const distributed::schedule_kind kind = parallel.stages_per_rank > 1
                                                ? distributed::schedule_kind::interleaved
                                                : distributed::schedule_kind::one_forward_one_backward;
    return distributed::alive_activations(kind, static_cast<int>(parallel.pipeline),
                                          static_cast<int>(parallel.stages_per_rank),
                                          static_cast<int>(parallel.microbatches), static_cast<int>(rank));
}

/// A lower bound of the peak of the largest pipeline rank, from its stages and the activations in flight.
///
///     parameters + optimizer state + buffers + gradient buffers + (in flight − 1) · saved + forward peak
///
/// `saved`, `forward peak`: the smallest of the stages of a rank. Source: `rank_memory_of`, `alive_activations`.
[[nodiscard]] LLMCOST_INLINE std::uint64_t minimum_peak_bytes(const std::vector<stage_memory>& stages,
                                                              const training_parallelism& parallel) {
    const auto ranks = static_cast<std::size_t>(parallel.pipeline);
    std::uint64_t largest = 0;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        std::uint64_t state = 0, workspace = 0, saved = UINT64_MAX, forward_peak = UINT64_MAX;
        for (std::size_t s = rank; s < stages.size(); s += ranks) {
            const stage_memory& m = stages[s];
            state += m.parameter_bytes + m.gathered_bytes + m.optimizer_bytes + m.buffer_bytes + m.input_bytes +
                     (m.has_gradient_buffers ? m.gradient_bytes : 0);
            workspace = std::max(workspace, m.workspace_bytes);
            saved = std::min(saved, m.saved_bytes);
            forward_peak = std::min(forward_peak, m.forward_peak_bytes);
        }
        const auto alive = static_cast<std::uint64_t>(microbatches_in_flight(parallel, rank));
        largest = std::max(largest, state + workspace + (alive - 1) * saved + forward_peak);
    }
    return largest;
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE double minimum_state_bytes(double dense, double experts, const training_variant& variant,
                                          const training_parallelism& parallel) noexcept {
    const double dense_of_rank = dense / static_cast<double>(parallel.tensor);
    const double experts_of_rank = experts / static_cast<double>(parallel.expert * parallel.expert_tensor);
    const auto dense_ranks = static_cast<double>(parallel.data * parallel.context);
    if (variant.is_fully_sharded())
        return 16 * (dense_of_rank + experts_of_rank) / dense_ranks +
               (parallel.pipeline > 1 ? 2 * (dense_of_rank + experts_of_rank) : 0);
    if (!variant.settings.has_distributed_optimizer) return 18 * (dense_of_rank + experts_of_rank);
    const auto expert_ranks = static_cast<double>(std::max<std::int64_t>(parallel.expert_data(), 1));
    return 6 * (dense_of_rank + experts_of_rank) + 12 * (dense_of_rank / dense_ranks + experts_of_rank / expert_ranks);
}

struct training_search::state {
    /// The sizes that jobs with equal work per microbatch, or an equal recorded pass, have in common.
    using group = std::array<std::int64_t, 7>;

    state(const model& memory_model, const model& timed_model, const llmcost::execution& execution,
          const llmcost::device& device, kernel_source& kernels,
          std::function<bool(const training_parallelism&)> is_supported)
        : memory_model(memory_model),
          timed_model(timed_model),
          execution(execution),
          device(device),
          kernels(kernels),
          is_supported(std::move(is_supported)) {}

    const model& memory_model;
    const model& timed_model;
    const llmcost::execution& execution;
    const llmcost::device& device;
    kernel_source& kernels;
    std::function<bool(const training_parallelism&)> is_supported;
    std::vector<double> dense_before, experts_before;  ///< parameters of all layers before a layer, by layer
    double embedding = 0, head = 0;                    ///< parameters before and after all layers
    std::map<group, bool> supported;
    std::map<group, std::shared_ptr<const training_work>> works;
    std::map<std::int64_t, const training_work*> work_of_recomputation;
    struct recorded_group {
        std::optional<recorded_job> job{};
        std::map<recompute_mode, std::vector<double>> saved_before{};  ///< bytes of all layers before a layer
    };
    std::map<group, recorded_group> recorded;

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
        smallest.pipeline = smallest.context = smallest.stages_per_rank = 1;
        smallest.data = parallel.expert * parallel.expert_tensor;
        return supported.emplace(key, is_supported(smallest)).first->second;
    }

    [[nodiscard]] const training_work& work_of(const training_variant& variant, const training_candidate& c) {
        const training_parallelism& p = c.parallel;
        const group key{static_cast<std::int64_t>(variant.timed_plan.schedule.recompute),
                        p.tensor,
                        p.context,
                        p.expert,
                        p.expert_tensor,
                        p.has_sequence_parallel ? 1 : 0,
                        c.batch};
        std::shared_ptr<const training_work>& work = works[key];
        if (!work) {
            workload load = variant.timed_load;
            load.batch = c.batch;
            training_job job = variant.job;
            job.parallel = p;
            const training_work*& similar = work_of_recomputation[key[0]];
            work = training_work_of(timed_model, load, execution, device, kernels, variant.timed_plan, job, similar);
            similar = work.get();
        }
        return *work;
    }

    /// The recorded pass of a rank; null if the model does not support the configuration.
    [[nodiscard]] recorded_group* recorded_of(const training_variant& variant, const training_candidate& c) {
        const training_parallelism& p = c.parallel;
        const bool is_fully_recomputed = variant.plan.schedule.recompute == recompute_mode::full;
        const group key{static_cast<std::int64_t>(variant.rules),
                        is_fully_recomputed ? 1 : 0,
                        p.tensor,
                        p.context,
                        p.expert,
                        p.expert_tensor,
                        c.batch};
        auto found = recorded.find(key);
        if (found == recorded.end()) {
            workload load = variant.load;
            load.batch = c.batch;
            found = recorded.emplace(key, recorded_group{}).first;
            try {
                found->second.job = record_job(memory_model, load, variant.plan, p, variant.settings);
            } catch (const error&) {  // the configuration is not supported; others may be
            }
        }
        if (!found->second.job) return nullptr;
        recorded_job& job = *found->second.job;
        job.settings = variant.settings;
        job.schedule.recompute = variant.plan.schedule.recompute;
        job.schedule.sync = variant.plan.schedule.sync;
        job.schedule.fsdp.reshards_after_forward = variant.plan.schedule.fsdp.reshards_after_forward;
        std::vector<double>& before = found->second.saved_before[job.schedule.recompute];
        if (before.empty()) {
            before.push_back(0);
            for (const std::uint64_t bytes : saved_bytes_of_layers(job))
                before.push_back(before.back() + static_cast<double>(bytes));
        }
        return &found->second;
    }

    /// A lower bound of the peak of the largest pipeline rank, without a replay of its stages: its state, and the
    /// layers of all microbatches in flight. `factor`: of the activations of the group.
    [[nodiscard]] double minimum_peak(const training_variant& variant, const training_candidate& c,
                                      const recorded_group& group_of_job, double factor = 1) const {
        const training_parallelism& p = c.parallel;
        const auto ranks = static_cast<std::size_t>(p.pipeline);
        const std::vector<double>& saved = group_of_job.saved_before.at(variant.plan.schedule.recompute);
        if (saved.size() != dense_before.size()) return 0;
        const std::vector<stage_layers> stages =
            divide_layers(static_cast<std::int64_t>(saved.size()) - 1, p.pipeline * p.stages_per_rank);
        double largest = 0;
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            double dense = (rank == 0 ? embedding : 0) + (rank + 1 == ranks ? head : 0), experts = 0;
            double saved_of_stage = -1;  // the smallest of its stages
            for (std::size_t s = rank; s < stages.size(); s += ranks) {
                const auto first = static_cast<std::size_t>(stages[s].first),
                           end = static_cast<std::size_t>(stages[s].end);
                dense += dense_before[end] - dense_before[first];
                experts += experts_before[end] - experts_before[first];
                const double bytes = saved[end] - saved[first];
                if (saved_of_stage < 0 || bytes < saved_of_stage) saved_of_stage = bytes;
            }
            largest = std::max(largest, minimum_state_bytes(dense, experts, variant, p) +
                                            detail::microbatches_in_flight(p, rank) * factor * saved_of_stage);
        }
        return largest;
    }

    [[nodiscard]] parallel_training_cost time_of(const training_variant& variant, const training_candidate& c) {
        workload load = variant.timed_load;
        load.batch = c.batch;
        training_job job = variant.job;
        job.parallel = c.parallel;
        return time_parallel_training(timed_model, load, execution, device, kernels, variant.timed_plan, job,
                                      work_of(variant, c));
    }

    /// The peak of the largest rank; none if the pipeline schedule does not support the sizes.
    [[nodiscard]] static std::optional<std::uint64_t> peak_of(recorded_job& job, const training_candidate& c) {
        try {
            return training_memory_of(job, c.parallel).largest().peak.total;
        } catch (const error&) {
            return std::nullopt;
        }
    }
};

LLMCOST_INLINE training_search::training_search(const model& memory_model, const model& timed_model,
                                                const execution& execution, const device& device,
                                                kernel_source& kernels, std::vector<training_variant> variants,
                                                std::function<bool(const training_parallelism&)> is_supported)
    : variants_(std::move(variants)),
      state_(std::make_unique<state>(memory_model, timed_model, execution, device, kernels, std::move(is_supported))) {
    state_->count_parameters(variants_.front().timed_load);
}

LLMCOST_INLINE training_search::~training_search() = default;

}  // namespace llmcost

namespace llmcost::detail {

/// The values of a size: the given one, or those of `all`.
[[nodiscard]] LLMCOST_INLINE std::vector<std::int64_t> searched_sizes(std::int64_t given,
                                                                      std::vector<std::int64_t> all) {
    return given > 0 ? std::vector<std::int64_t>{given} : std::move(all);
}

[[nodiscard]] LLMCOST_INLINE std::vector<std::int64_t> powers_of_two(std::int64_t maximum) {
    std::vector<std::int64_t> out;
    for (std::int64_t n = 1; n <= maximum; n *= 2) out.push_back(n);
    return out;
}

[[nodiscard]] LLMCOST_INLINE std::vector<std::int64_t> divisors_of(std::int64_t n) {
    std::vector<std::int64_t> out;
    for (std::int64_t d = 1; d * d <= n; ++d)
        if (n % d == 0) {
            out.push_back(d);
            if (d != n / d) out.push_back(n / d);
        }
    std::ranges::sort(out);
    return out;
}

/// Calls `visit` with each configuration of a job over the devices.
template <class Supports, class Visit>
void for_each_candidate(const training_search_space& space, const std::vector<training_variant>& variants,
                        const model& m, std::int64_t devices_per_node, Supports supports, Visit visit) {
    constexpr std::int64_t min_context_tokens = 4096, max_batch = 16;
    const std::int64_t layers = std::max<std::int64_t>(m.config.num_hidden_layers, 1),
                       experts = m.config.moe.num_experts;
    const std::vector<std::int64_t> tensor_sizes = searched_sizes(
                                        space.tensor, powers_of_two(std::min(devices_per_node, space.devices))),
                                    context_sizes = searched_sizes(
                                        space.context,
                                        powers_of_two(std::max<std::int64_t>(1, space.sequence / min_context_tokens))),
                                    expert_sizes =
                                        searched_sizes(space.expert, experts > 1 ? divisors_of(experts)
                                                                                 : std::vector<std::int64_t>{1}),
                                    batches = searched_sizes(space.batch, powers_of_two(max_batch));
    training_candidate c;
    training_parallelism& p = c.parallel;
    for (c.variant = 0; c.variant < variants.size(); ++c.variant) {
        const training_variant& variant = variants[c.variant];
        p.rules = variant.rules;
        p.has_loss_parallel = variant.job.parallel.has_loss_parallel;
        for (p.tensor = 1; const std::int64_t tensor : tensor_sizes) {
            p.tensor = tensor;
            p.has_sequence_parallel = tensor > 1;
            p.expert = 1;
            if (!supports(p)) continue;
            for (const std::int64_t context : context_sizes) {
                p.context = context;
                if (space.sequence % context != 0 || space.devices % (tensor * context) != 0) continue;
                const std::int64_t remaining = space.devices / (tensor * context);
                for (const std::int64_t pipeline : searched_sizes(space.pipeline, divisors_of(remaining))) {
                    p.pipeline = pipeline;
                    if (pipeline > layers || remaining % pipeline != 0) continue;
                    if (pipeline > 1 && !variant.allows_pipeline()) continue;
                    p.data = remaining / pipeline;
                    if ((space.data > 0 && p.data != space.data) || space.global_batch % p.data != 0) continue;
                    const bool shards = variant.is_fully_sharded() || variant.settings.has_distributed_optimizer;
                    if (shards && p.data * context == 1) continue;  // nothing to shard
                    for (const std::int64_t expert : expert_sizes) {
                        p.expert = expert;
                        if (expert > 1 && (!variant.allows_expert_parallelism() ||
                                           (p.data * context * tensor) % expert != 0 || !supports(p)))
                            continue;
                        for (const std::int64_t batch : batches) {
                            if (space.global_batch / p.data % batch != 0) continue;
                            c.batch = batch;
                            p.microbatches = space.global_batch / p.data / batch;
                            for (std::int64_t stages = 1; stages * pipeline <= layers; ++stages) {
                                if (stages > 1 && (pipeline == 1 || layers % (stages * pipeline) != 0 ||
                                                   p.microbatches % pipeline != 0))
                                    continue;
                                p.stages_per_rank = stages;
                                p.schedule = stages > 1 ? "interleaved" : "1f1b";
                                visit(c);
                                if (pipeline == 1) break;
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The best candidates and the Pareto frontier of time and memory of a search.
class training_ranking {
public:
    training_ranking(training_search_result& result, std::size_t num_results)
        : result_(result), num_results_(std::max<std::size_t>(num_results, 1)) {}

    /// Whether a candidate can neither be among the best nor on the frontier.
    [[nodiscard]] bool excludes(const training_candidate& c) const {
        if (result_.best.size() < num_results_ || c.minimum_seconds < result_.best.back().cost.total.seconds)
            return false;
        return c.minimum_seconds > longest_step * result_.best.front().cost.total.seconds ||
               std::ranges::any_of(result_.pareto, [&](const evaluated_training& e) {
                   return e.cost.total.seconds <= c.minimum_seconds && !saves_memory(c.minimum_bytes, e);
               });
    }
    void add(const evaluated_training& e) {
        std::vector<evaluated_training>& best = result_.best;
        best.insert(std::ranges::upper_bound(best, e, is_faster), e);
        if (best.size() > num_results_) best.pop_back();
        std::vector<evaluated_training>& pareto = result_.pareto;
        const auto dominates = [](const evaluated_training& a, const evaluated_training& b) {
            return a.cost.total.seconds <= b.cost.total.seconds && a.peak_bytes <= b.peak_bytes;
        };
        if (std::ranges::any_of(pareto, [&](const evaluated_training& other) { return dominates(other, e); })) return;
        std::erase_if(pareto, [&](const evaluated_training& other) { return dominates(e, other); });
        pareto.insert(std::ranges::upper_bound(pareto, e, is_faster), e);
    }
    /// Removes points of the frontier that save little memory, or take long.
    void thin_frontier() {
        std::vector<evaluated_training> out;
        for (const evaluated_training& e : result_.pareto)
            if (out.empty() || (saves_memory(e.peak_bytes, out.back()) &&
                                e.cost.total.seconds <= longest_step * out.front().cost.total.seconds))
                out.push_back(e);
        result_.pareto = std::move(out);
    }

private:
    static constexpr double least_saving = 0.05;  ///< of memory, between two points of the frontier
    static constexpr double longest_step = 2;     ///< of the frontier, as a multiple of the shortest

    [[nodiscard]] static bool saves_memory(std::uint64_t bytes, const evaluated_training& e) noexcept {
        return static_cast<double>(bytes) <= (1 - least_saving) * static_cast<double>(e.peak_bytes);
    }
    [[nodiscard]] static bool is_faster(const evaluated_training& a, const evaluated_training& b) noexcept {
        return a.cost.total.seconds != b.cost.total.seconds ? a.cost.total.seconds < b.cost.total.seconds
                                                            : a.peak_bytes < b.peak_bytes;
    }

    training_search_result& result_;
    std::size_t num_results_;
};

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE training_search_result training_search::operator()(const training_search_space& space) {
    state& s = *state_;
    training_search_result out;
    out.devices = space.devices;
    const std::int64_t layers = std::max<std::int64_t>(s.timed_model.config.num_hidden_layers, 1);
    std::vector<training_candidate> candidates;
    const auto enumerate = [&](std::uint64_t limit, auto visit) {
        detail::for_each_candidate(
            space, variants_, s.timed_model, s.execution.devices_per_node,
            [&](const training_parallelism& p) { return s.supports(p); },
            [&](training_candidate& c) {
                c.minimum_bytes = static_cast<std::uint64_t>(s.minimum_state(variants_[c.variant], c.parallel));
                visit(c, limit == 0 || c.minimum_bytes <= limit);
            });
    };
    enumerate(space.memory_bytes, [&](training_candidate& c, bool may_fit) {
        ++out.num_candidates;
        may_fit ? candidates.push_back(c) : void(++out.num_out_of_memory);
    });
    for (training_candidate& c : candidates)
        c.minimum_seconds = minimum_step_seconds(s.work_of(variants_[c.variant], c), layers, c.parallel);
    std::ranges::stable_sort(candidates, {}, &training_candidate::minimum_seconds);

    detail::training_ranking ranking(out, space.num_results);
    const auto is_too_large = [&](std::uint64_t bytes) {
        const bool is_large = space.memory_bytes > 0 && bytes > space.memory_bytes;
        if (is_large) ++out.num_out_of_memory;
        return is_large;
    };
    for (training_candidate& c : candidates) {
        if (ranking.excludes(c)) continue;
        const training_variant& variant = variants_[c.variant];
        if (c.batch > 1) {  // activations are proportional to the microbatch: most need no recorded pass of their own
            training_candidate single = c;
            single.batch = 1;
            const state::recorded_group* const group = s.recorded_of(variant, single);
            if (group == nullptr) continue;
            c.minimum_bytes =
                std::max(c.minimum_bytes,
                         static_cast<std::uint64_t>(s.minimum_peak(variant, c, *group, static_cast<double>(c.batch))));
            if (is_too_large(c.minimum_bytes) || ranking.excludes(c)) continue;
        }
        state::recorded_group* const group = s.recorded_of(variant, c);
        if (group == nullptr) continue;
        c.minimum_bytes = std::max(c.minimum_bytes, static_cast<std::uint64_t>(s.minimum_peak(variant, c, *group)));
        if (is_too_large(c.minimum_bytes) || ranking.excludes(c)) continue;
        c.minimum_bytes =
            std::max(c.minimum_bytes, detail::minimum_peak_bytes(stage_memory_of(*group->job, c.parallel), c.parallel));
        if (is_too_large(c.minimum_bytes) || ranking.excludes(c)) continue;
        const std::optional<std::uint64_t> peak = s.peak_of(*group->job, c);
        if (!peak) continue;
        c.minimum_bytes = *peak;
        if (is_too_large(*peak) || ranking.excludes(c)) continue;
        ++out.num_timed;
        ranking.add({c, s.time_of(variant, c), *peak});
    }
    ranking.thin_frontier();

    if (out.best.empty()) {
        std::vector<training_candidate> all;
        enumerate(0, [&](training_candidate& c, bool) { all.push_back(c); });
        std::ranges::stable_sort(all, {}, &training_candidate::minimum_bytes);
        for (training_candidate& c : all) {
            if (out.nearest && c.minimum_bytes >= out.nearest->peak_bytes) break;
            state::recorded_group* const group = s.recorded_of(variants_[c.variant], c);
            if (group == nullptr) continue;
            if (out.nearest &&
                s.minimum_peak(variants_[c.variant], c, *group) >= static_cast<double>(out.nearest->peak_bytes))
                continue;
            const std::optional<std::uint64_t> peak = s.peak_of(*group->job, c);
            if (!peak) continue;
            if (!out.nearest || *peak < out.nearest->peak_bytes) out.nearest = evaluated_training{c, {}, *peak};
        }
        if (out.nearest)
            out.nearest->cost = s.time_of(variants_[out.nearest->candidate.variant], out.nearest->candidate);
    }
    return out;
}

}  // namespace llmcost
