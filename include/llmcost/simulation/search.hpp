// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include <llmcost/simulation/simulate.hpp>

// How many engines, of which kind, keep to bounds under a load.
namespace llmcost {

/// A deployment that was tried.
struct tried_deployment {
    std::size_t kind = 0;  ///< of those that were offered
    scheduling_policy policy{};
    std::int64_t replicas = 1, writing_replicas = 0;
    double devices = 1;
    simulation_summary summary{};

    [[nodiscard]] std::int64_t engines() const noexcept { return replicas + writing_replicas; }
};

/// What a search may do.
struct search_limits {
    double devices = 8;         ///< at most
    double good_share = 0.99;   ///< of requests that keep to the bounds
    std::size_t requests = 2000;  ///< of a load that are simulated where deployments are compared
    bool separated = true;      ///< tries engines for prompts beside engines that write
};

/// What a search found, the best first, and what it left out.
struct search_result {
    std::vector<tried_deployment> keeping;  ///< those that keep to the bounds
    std::vector<tried_deployment> others;   ///< with all devices, where none does
    std::vector<tried_deployment> tried;    ///< all that were simulated to compare them
    std::size_t simulated = 0, without_room = 0, too_slow = 0;
};

/// Searches for the fewest devices on which a share of requests keeps to bounds.
///
/// Kinds are servers, each of an engine on so many devices, with the budgets of a step that are tried. Those without room for
/// the longest request are left out, and so are those on which one request alone breaks a bound. Of each kind the fewest
/// engines behind a router are found by bisection: one more never makes a queue longer.
class deployment_search {
public:
    struct kind {
        simulated_server by{};
        std::vector<std::int64_t> budgets{};
        request_bounds bounds{};
    };
    deployment_search(const std::vector<simulated_request>& requests, const simulated_deployment& as,
                      const search_limits& limits)
        : few_(requests.begin(), requests.begin() + static_cast<std::ptrdiff_t>(std::min(requests.size(), limits.requests))),
          all_(&requests),
          as_(as),
          limits_(limits) {
        for (simulated_request& r : few_)
            if (r.after != simulated_request::nobody && r.after >= few_.size()) r.after = simulated_request::nobody;
        for (const simulated_request& r : requests) {
            longest_ = std::max(longest_, r.input + r.output);
            longest_input_ = std::max(longest_input_, r.input);
        }
    }

    void offer(const std::vector<kind>& kinds) {
        for (std::size_t i = 0; i < kinds.size(); ++i) {
            const kind& k = kinds[i];
            bounds_ = k.bounds;
            const auto of_one = static_cast<double>(k.by.on->how().shards.devices());
            if (k.by.on->capacity(longest_) == 0 || of_one > limits_.devices) {
                found_.without_room += k.budgets.size();
                continue;
            }
            for (const std::int64_t budget : k.budgets) {
                simulated_server by = k.by;
                by.policy.tokens_per_step = budget;
                if (!by.policy.chunked && longest_input_ > budget) continue;
                if (!alone_keeps(by)) {
                    ++found_.too_slow;
                    continue;
                }
                try_kind(by, i, of_one);
            }
        }
    }
    /// The best so far, at most so many of them; simulated with all requests.
    [[nodiscard]] search_result best(const std::vector<kind>& kinds, std::size_t most) {
        const auto better = [](const tried_deployment& a, const tried_deployment& b) {
            const auto key = [](const tried_deployment& t) {
                return std::tuple(t.devices, -t.summary.good_share, t.summary.ttft.p99, t.summary.tpot.p99);
            };
            return key(a) < key(b);
        };
        std::sort(found_.keeping.begin(), found_.keeping.end(), better);
        std::sort(found_.others.begin(), found_.others.end(), [](const tried_deployment& a, const tried_deployment& b) {
            return a.summary.good_share > b.summary.good_share;
        });
        for (auto* list : {&found_.keeping, &found_.others}) {
            one_of_each(*list);
            if (list->size() > most) list->resize(most);
            if (few_.size() == all_->size()) continue;
            for (tried_deployment& t : *list)
                bounds_ = kinds[t.kind].bounds, t.summary = summary_with(kinds[t.kind].by, t, *all_);
        }
        return found_;
    }

private:
    /// Of those that differ in the budget of a step alone the first.
    static void one_of_each(std::vector<tried_deployment>& list) {
        std::vector<tried_deployment> kept;
        for (tried_deployment& t : list)
            if (std::none_of(kept.begin(), kept.end(), [&](const tried_deployment& k) {
                    return k.kind == t.kind && (k.writing_replicas > 0) == (t.writing_replicas > 0);
                }))
                kept.push_back(std::move(t));
        list = std::move(kept);
    }
    [[nodiscard]] simulation_summary summary_with(simulated_server by, const tried_deployment& t,
                                                  const std::vector<simulated_request>& requests) {
        by.policy = t.policy;
        simulated_deployment as = as_;
        as.replicas = t.replicas, as.writing_replicas = t.writing_replicas;
        ++found_.simulated;
        return summary_of(simulate(by, requests, as), bounds_);
    }
    [[nodiscard]] bool alone_keeps(const simulated_server& by) {
        simulated_deployment as = as_;
        as.clients = 1, as.replicas = 1;
        simulated_request one = few_.front();
        for (const simulated_request& r : few_)
            if (r.input < one.input) one = r;
        one.after = simulated_request::nobody, one.at = 0;
        return summary_of(simulate(by, {one}, as), bounds_).good_share == 1;
    }
    void try_kind(const simulated_server& by, std::size_t kind, double devices_of_one) {
        const auto most = static_cast<std::int64_t>(limits_.devices / devices_of_one);
        const auto tried = [&](std::int64_t replicas, std::int64_t writing) {
            tried_deployment t{kind, by.policy, replicas, writing, static_cast<double>(replicas + writing) * devices_of_one, {}};
            t.summary = summary_with(by, t, few_);
            found_.tried.push_back(t);
            return t;
        };
        tried_deployment with_all = tried(most, 0);
        if (with_all.summary.good_share >= limits_.good_share) {
            std::int64_t low = 0, high = most;
            while (high - low > 1) {
                const std::int64_t middle = (low + high) / 2;
                tried_deployment t = tried(middle, 0);
                if (t.summary.good_share >= limits_.good_share)
                    high = middle, with_all = std::move(t);
                else
                    low = middle;
            }
            found_.keeping.push_back(std::move(with_all));
        } else {
            found_.others.push_back(std::move(with_all));
        }
        if (!limits_.separated) return;
        constexpr std::int64_t most_separated = 8;
        for (std::int64_t engines = 2; engines <= std::min(most, most_separated); ++engines)
            for (std::int64_t prompts = 1; prompts < engines; ++prompts) {
                tried_deployment t = tried(prompts, engines - prompts);
                if (t.summary.good_share < limits_.good_share) continue;
                found_.keeping.push_back(std::move(t));
                return;  // more of them are more devices
            }
    }

    std::vector<simulated_request> few_;
    const std::vector<simulated_request>* all_;
    simulated_deployment as_;
    request_bounds bounds_{};  ///< of the kind that is tried
    search_limits limits_;
    std::int64_t longest_ = 1, longest_input_ = 1;
    search_result found_;
};

}  // namespace llmcost
