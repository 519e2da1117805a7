// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include <llmcost/simulation/cluster.hpp>
#include <llmcost/simulation/request.hpp>
#include <llmcost/simulation/scheduling_policy.hpp>
#include <llmcost/simulation/simulate.hpp>
#include <llmcost/simulation/summary.hpp>

// Searches for the deployment with the fewest devices that meets an SLO under a workload.
namespace llmcost {

/// A simulated deployment.
struct evaluated_deployment {
    std::size_t candidate_index = 0;  ///< index into the engine options
    scheduling_policy policy{};
    std::int64_t replicas = 1, num_decode_workers = 0;
    double devices = 1;
    simulation_summary summary{};
    std::int64_t kv_cache_blocks = 0;  ///< of each rank

    [[nodiscard]] std::int64_t num_engines() const noexcept { return replicas + num_decode_workers; }
    [[nodiscard]] bool is_disaggregated() const noexcept { return num_decode_workers > 0; }
    /// Orders by fewer devices, then higher SLO attainment, then lower TTFT, then lower TPOT (99th percentiles).
    [[nodiscard]] bool is_better_than(const evaluated_deployment& rhs) const noexcept;
};

/// Limits of a search.
struct search_config {
    double max_devices = 8;
    double min_slo_attainment = 0.99;   ///< fraction of requests that meet the SLO
    std::size_t requests = 2000;        ///< sample of the workload with which deployments are compared
    bool allows_disaggregation = true;  ///< tries disaggregated prefill and decode
    std::size_t num_results = 5;        ///< maximum number of results
    bool never_stops_early = false;     ///< simulates all requests after too many violate the SLO
};

/// The lowest latency of a single request of minimum length, which no load can beat.
struct lowest_latency {
    double seconds = 0;              ///< 0: no candidate has enough memory
    double seconds_at_quantile = 0;  ///< times the safety factor of the SLO
    std::size_t candidate_index = 0;

    /// Replaces the latency by a lower one.
    void offer(double other_seconds, double safety_factor, std::size_t candidate) noexcept;
};

/// The result of a search, best first.
///
/// A candidate is an engine option with scheduler limits, aggregated or disaggregated.
struct search_result {
    std::vector<evaluated_deployment> feasible;    ///< meet the SLO
    std::vector<evaluated_deployment> infeasible;  ///< with all devices; only if no deployment meets the SLO
    std::vector<evaluated_deployment> evaluated;   ///< all complete simulations
    std::size_t num_candidates = 0, num_out_of_memory = 0, num_too_slow = 0;
    std::size_t num_exceeding_devices = 0;  ///< candidates that need more devices than the best results
    std::size_t num_simulations = 0;
    lowest_latency ttft{}, tpot{}, end_to_end{};
};

/// Searches for the fewest devices on which a fraction of requests meets the SLO.
///
/// An engine option is an engine on a number of devices, with several scheduler limits. The search skips candidates
/// that cannot be among the best:
///
///  - The longest request exceeds the KV cache.
///  - A single request of minimum length violates the SLO.
///  - The SLO is not met with as many devices as the last of the best results has.
///
/// Bisection finds the fewest replicas of each candidate: another replica never makes a queue longer.
class deployment_search {
public:
    struct engine_option {
        simulated_engine engine{};
        std::int64_t stages = 1;                                     ///< pipeline stages
        std::vector<std::int64_t> max_num_batched_tokens_options{};  ///< maximum new tokens of a step
        std::vector<std::int64_t> max_num_seqs_options{};            ///< maximum running requests
        request_slo bounds{};
    };
    deployment_search(const std::vector<simulated_request>& requests, const simulation_config& config,
                      const search_config& limits);

    /// Returns the best deployments, simulated with all requests.
    ///
    /// If a deployment meets the SLO with the sample but not with all requests, repeats with a larger sample.
    [[nodiscard]] search_result operator()(const std::vector<engine_option>& kinds);

private:
    static constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

    struct candidate {
        const engine_option* option = nullptr;
        std::size_t number = 0;  ///< index of the engine option
        scheduling_policy policy{};
        double devices = 1;  ///< per engine
    };
    /// A simulation that holds for all scheduler limits that it never reached.
    struct known_run {
        evaluated_deployment tried{};
        std::int64_t new_tokens = 0, running = 0;  ///< maxima of a step of a rank
        bool has_waited_for_pages = false;
        bool is_stopped_early = false;
    };

    void use_first_requests(std::size_t num_requests);
    void search(const std::vector<engine_option>& kinds);
    /// Simulates the best deployments with all requests. Returns whether all feasible ones still meet the SLO.
    [[nodiscard]] bool verify_with_all_requests(const std::vector<engine_option>& kinds);
    /// How many requests of the sample may violate the SLO if a fraction `share` meets it.
    [[nodiscard]] std::int64_t max_slo_violations(double share) const noexcept;
    /// Candidates with enough memory for which a single request meets the SLO, in the order of devices.
    [[nodiscard]] std::vector<candidate> candidates_of(const std::vector<engine_option>& kinds);
    [[nodiscard]] bool single_request_meets_slo(const candidate& c);
    [[nodiscard]] simulation_result run(const engine_option& k, const evaluated_deployment& t,
                                        const std::vector<simulated_request>& requests, std::int64_t max_broken);
    /// Simulates a candidate. A run that stopped early has no summary.
    [[nodiscard]] known_run evaluate(const candidate& c, std::int64_t replicas, std::int64_t writing,
                                     std::int64_t max_broken);
    [[nodiscard]] bool meets_slo(const known_run& r) const noexcept {
        return !r.is_stopped_early && r.tried.summary.slo_attainment >= limits_.min_slo_attainment;
    }
    /// Inserts a deployment into a sorted list. Of those that differ only in scheduler limits, the list has the best.
    template <class Better>
    static void offer(std::vector<evaluated_deployment>& list, const evaluated_deployment& t, Better better) {
        const auto match = std::find_if(list.begin(), list.end(), [&](const evaluated_deployment& k) {
            return k.candidate_index == t.candidate_index && k.is_disaggregated() == t.is_disaggregated();
        });
        if (match != list.end()) {
            if (!better(t, *match)) return;
            list.erase(match);
        }
        list.insert(std::find_if(list.begin(), list.end(), [&](const evaluated_deployment& k) { return better(t, k); }),
                    t);
    }
    void keep(const evaluated_deployment& t);
    /// Maximum number of engines with which a candidate can be among the best.
    [[nodiscard]] std::int64_t engines_worth_trying(const candidate& c, bool separated) const noexcept;
    void search_aggregated(const candidate& c);
    void search_disaggregated(const candidate& c);
    /// Simulates a candidate with all devices, while its SLO attainment may exceed that of the results.
    void try_with_all(const candidate& c);

    std::vector<simulated_request> sample_requests_;
    const std::vector<simulated_request>* requests_;
    simulation_config config_;
    search_config limits_;
    std::int64_t max_length_ = 1, max_input_length_ = 1;
    simulated_request minimum_request_{};  ///< minimum lengths and maximum cached fraction of all requests
    std::int64_t max_slo_violations_ = 0;
    std::vector<std::vector<known_run>> runs_;  ///< by engine option
    search_result result_;
};

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/simulation/impl/deployment_search.ipp>  // IWYU pragma: export
#endif
