// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
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
    [[nodiscard]] bool separated() const noexcept { return writing_replicas > 0; }
    /// Fewer devices are better, then more requests that keep to the bounds, then sooner tokens.
    [[nodiscard]] bool better_than(const tried_deployment& other) const noexcept {
        const auto key = [](const tried_deployment& t) {
            return std::tuple(t.devices, -t.summary.good_share, t.summary.ttft.p99, t.summary.tpot.p99);
        };
        return key(*this) < key(other);
    }
};

/// What a search may do.
struct search_limits {
    double devices = 8;           ///< at most
    double good_share = 0.99;     ///< of requests that keep to the bounds
    std::size_t requests = 2000;  ///< of a load that are simulated where deployments are compared
    bool separated = true;        ///< tries engines for prompts beside engines that write
    std::size_t top = 5;          ///< of the best that are wanted
    bool to_the_end = false;      ///< simulates all requests of deployments that have broken too many bounds already
};

/// What a search found, the best first, and what it left out. A candidate is a kind with its limits of a step, together or
/// separated.
struct search_result {
    std::vector<tried_deployment> keeping;  ///< those that keep to the bounds
    std::vector<tried_deployment> others;   ///< with all devices, where none does
    std::vector<tried_deployment> tried;    ///< all that were simulated to the end
    std::size_t candidates = 0, without_room = 0, too_slow = 0;
    std::size_t larger = 0;     ///< that would need more devices than the best
    std::size_t simulated = 0;  ///< simulations
};

/// Searches for the fewest devices on which a share of requests keeps to bounds.
///
/// Kinds are servers, each of an engine on so many devices, with the limits of a step that are tried. What is left out could
/// not be among the best: what has no room for the longest request; where not even a request that is nowhere exceeded,
/// alone, keeps to the bounds; what does not keep to them with as many devices as the last of the best has. Of each
/// candidate the fewest engines behind a router are found by bisection: one more never makes a queue longer.
class deployment_search {
public:
    struct kind {
        simulated_server by{};
        std::int64_t stages = 1;                ///< of devices one behind the other
        std::vector<std::int64_t> budgets{};    ///< most new tokens of a step
        std::vector<std::int64_t> sequences{};  ///< most requests at a time
        request_bounds bounds{};
    };
    deployment_search(const std::vector<simulated_request>& requests, const simulated_deployment& as,
                      const search_limits& limits)
        : all_(&requests), as_(as), limits_(limits), easiest_(requests.front()) {
        for (const simulated_request& r : requests) {
            longest_ = std::max(longest_, r.input + r.output);
            longest_input_ = std::max(longest_input_, r.input);
            easiest_.input = std::min(easiest_.input, r.input), easiest_.output = std::min(easiest_.output, r.output);
            easiest_.cached = std::max(easiest_.cached, r.blocks.empty() ? r.cached : 1);
        }
        easiest_.after = simulated_request::nobody, easiest_.at = 0, easiest_.blocks.clear();
    }

    /// The best of some kinds, at most as many as are wanted; simulated with all requests. Where one that the first requests
    /// let through does not keep to the bounds with all of them, more of them compare.
    [[nodiscard]] search_result operator()(const std::vector<kind>& kinds) {
        for (std::size_t many = std::min(all_->size(), limits_.requests);; many = std::min(all_->size(), 4 * many)) {
            take_first(many);
            search(kinds);
            if (hold_with_all(kinds)) return found_;
        }
    }

private:
    static constexpr std::int64_t no_limit = simulated_deployment{}.most_broken;

    struct candidate {
        const kind* of = nullptr;
        std::size_t number = 0;  ///< of the kind
        scheduling_policy policy{};
        double devices = 1;  ///< of one engine
    };
    /// A simulation whose limits of a step others may have, too, without changing anything: it never reached them.
    struct known_run {
        tried_deployment tried{};
        std::int64_t new_tokens = 0, running = 0;  ///< the most of a step, of a micro-batch
        bool given_up = false;
    };

    void take_first(std::size_t many) {
        few_.assign(all_->begin(), all_->begin() + static_cast<std::ptrdiff_t>(many));
        for (simulated_request& r : few_)
            if (r.after != simulated_request::nobody && r.after >= few_.size()) r.after = simulated_request::nobody;
        most_broken_ = broken_at_most(limits_.good_share);
    }
    void search(const std::vector<kind>& kinds) {
        const std::size_t before = found_.simulated;
        found_ = {}, found_.simulated = before;
        runs_.assign(kinds.size(), {});
        const std::vector<candidate> all = candidates_of(kinds);
        for (const candidate& c : all) try_together(c);
        if (limits_.separated)
            for (const candidate& c : all) try_separated(c);
        if (found_.keeping.empty()) {
            for (std::vector<known_run>& of : runs_)
                of.erase(std::remove_if(of.begin(), of.end(), [](const known_run& r) { return r.given_up; }), of.end());
            for (const candidate& c : all) try_with_all(c);
        }
    }
    /// Simulates the best with all requests; whether those that keep to the bounds still do.
    [[nodiscard]] bool hold_with_all(const std::vector<kind>& kinds) {
        for (auto* list : {&found_.keeping, &found_.others}) {
            if (list->size() > limits_.top) list->resize(limits_.top);
            if (few_.size() == all_->size()) continue;
            for (tried_deployment& t : *list)
                t.summary = summary_of(run(kinds[t.kind], t, *all_, no_limit), kinds[t.kind].bounds);
        }
        const auto holds = [&](const tried_deployment& t) { return t.summary.good_share >= limits_.good_share; };
        if (!std::all_of(found_.keeping.begin(), found_.keeping.end(), holds)) return false;
        std::stable_sort(found_.keeping.begin(), found_.keeping.end(),
                         [](const tried_deployment& a, const tried_deployment& b) { return a.better_than(b); });
        return true;
    }
    /// How many of the compared requests may break a bound while such a share keeps to all.
    [[nodiscard]] std::int64_t broken_at_most(double share) const noexcept {
        const auto many = static_cast<double>(few_.size());
        auto broken = static_cast<std::int64_t>(many * (1 - share)) + 1;
        while (broken > 0 && (many - static_cast<double>(broken)) / many < share) --broken;
        return broken;
    }
    /// Those with room and on which the easiest request, alone, keeps to its bounds: the fewest devices first.
    [[nodiscard]] std::vector<candidate> candidates_of(const std::vector<kind>& kinds) {
        std::vector<candidate> all;
        const std::size_t ways = limits_.separated ? 2 : 1;
        for (std::size_t i = 0; i < kinds.size(); ++i) {
            const kind& k = kinds[i];
            const auto devices = static_cast<double>(k.by.on->how().shards.devices() * k.stages);
            const std::size_t own = ways * k.budgets.size() * k.sequences.size();
            found_.candidates += own;
            const double each = cached_tokens(k.by, longest_, k.stages) / static_cast<double>(k.stages);
            if (each < static_cast<double>(longest_) || devices > limits_.devices) {
                found_.without_room += own;
                continue;
            }
            for (const std::int64_t budget : k.budgets) {
                candidate c{&k, i, k.by.policy, devices};
                c.policy.tokens_per_step = budget;
                if (!c.policy.chunked && longest_input_ > budget)
                    found_.without_room += ways * k.sequences.size();
                else if (!alone_keeps(c))
                    found_.too_slow += ways * k.sequences.size();
                else
                    for (const std::int64_t sequences : k.sequences) c.policy.sequences = sequences, all.push_back(c);
            }
        }
        std::stable_sort(all.begin(), all.end(),
                         [](const candidate& a, const candidate& b) { return a.devices < b.devices; });
        return all;
    }
    [[nodiscard]] bool alone_keeps(const candidate& c) {
        simulated_deployment as = as_;
        as.clients = 1, as.replicas = 1, as.stages = c.of->stages;
        simulated_server by = c.of->by;
        by.policy = c.policy;
        return c.of->bounds.holds(simulate(by, {easiest_}, as).requests.front());
    }
    [[nodiscard]] simulation_result run(const kind& k, const tried_deployment& t,
                                        const std::vector<simulated_request>& requests, std::int64_t most_broken) {
        simulated_server by = k.by;
        by.policy = t.policy;
        simulated_deployment as = as_;
        as.replicas = t.replicas, as.writing_replicas = t.writing_replicas, as.stages = k.stages;
        as.bounds = k.bounds, as.most_broken = most_broken;
        ++found_.simulated;
        return simulate(by, requests, as);
    }
    /// A candidate on so many engines; what broke more bounds than it may has no summary.
    [[nodiscard]] known_run tried(const candidate& c, std::int64_t replicas, std::int64_t writing,
                                  std::int64_t most_broken) {
        const auto own = [&](std::int64_t sequences) { return std::max<std::int64_t>(1, sequences / c.of->stages); };
        for (const known_run& r : runs_[c.number]) {
            const scheduling_policy& p = r.tried.policy;
            const bool tokens = p.tokens_per_step == c.policy.tokens_per_step ||
                                (r.new_tokens < p.tokens_per_step && r.new_tokens < c.policy.tokens_per_step);
            const bool sequences =
                p.sequences == c.policy.sequences || (r.running < own(p.sequences) && r.running < own(c.policy.sequences));
            if (r.tried.replicas == replicas && r.tried.writing_replicas == writing && tokens && sequences) {
                known_run same = r;
                same.tried.policy = c.policy;
                return same;
            }
        }
        known_run r{{c.number, c.policy, replicas, writing, static_cast<double>(replicas + writing) * c.devices, {}}};
        const simulation_result result = run(*c.of, r.tried, few_, limits_.to_the_end ? no_limit : most_broken);
        r.given_up = result.given_up, r.new_tokens = result.most_new_tokens, r.running = result.most_running;
        if (!r.given_up) r.tried.summary = summary_of(result, c.of->bounds), found_.tried.push_back(r.tried);
        runs_[c.number].push_back(r);
        return r;
    }
    [[nodiscard]] bool keeps(const known_run& r) const noexcept {
        return !r.given_up && r.tried.summary.good_share >= limits_.good_share;
    }
    /// Puts a deployment among the best of a list, of which those that differ in the limits of a step alone are one.
    template <class Better>
    static void offer(std::vector<tried_deployment>& list, const tried_deployment& t, Better better) {
        const auto same = std::find_if(list.begin(), list.end(), [&](const tried_deployment& k) {
            return k.kind == t.kind && k.separated() == t.separated();
        });
        if (same != list.end()) {
            if (!better(t, *same)) return;
            list.erase(same);
        }
        list.insert(std::find_if(list.begin(), list.end(), [&](const tried_deployment& k) { return better(t, k); }), t);
    }
    void keep(const tried_deployment& t) {
        offer(found_.keeping, t, [](const tried_deployment& a, const tried_deployment& b) { return a.better_than(b); });
    }
    /// Engines with which a candidate could still be among the best.
    [[nodiscard]] std::int64_t engines_worth_trying(const candidate& c, bool separated) const noexcept {
        double devices = limits_.devices;
        if (found_.keeping.size() >= limits_.top) devices = found_.keeping[limits_.top - 1].devices;
        for (const tried_deployment& t : found_.keeping)
            if (t.kind == c.number && t.separated() == separated) devices = std::min(devices, t.devices);
        return static_cast<std::int64_t>(devices / c.devices);
    }
    void try_together(const candidate& c) {
        const std::int64_t most = engines_worth_trying(c, false);
        if (most == 0) return void(++found_.larger);
        // other limits of a step seldom change how many engines are enough
        const bool again = std::any_of(found_.keeping.begin(), found_.keeping.end(),
                                       [&](const tried_deployment& t) { return t.kind == c.number && !t.separated(); });
        std::int64_t low = 0, high = again ? most : 1;
        known_run best = tried(c, high, 0, most_broken_);
        while (!keeps(best)) {
            if (high == most) return void(found_.larger += limits_.devices >= static_cast<double>(most + 1) * c.devices);
            low = high, high = std::min(2 * high, most);
            best = tried(c, high, 0, most_broken_);
        }
        for (std::int64_t next = again ? high - 1 : (low + high) / 2; high - low > 1; next = (low + high) / 2) {
            known_run r = tried(c, next, 0, most_broken_);
            if (keeps(r))
                high = next, best = std::move(r);
            else
                low = next;
        }
        keep(best.tried);
    }
    void try_separated(const candidate& c) {
        constexpr std::int64_t most_separated = 8;
        const std::int64_t most = std::min(engines_worth_trying(c, true), most_separated);
        if (most < 2) return void(++found_.larger);
        const auto tries = [&](std::int64_t prompts, std::int64_t writing) {
            const known_run r = tried(c, prompts, writing, most_broken_);
            if (keeps(r)) keep(r.tried);
            return keeps(r);
        };
        if (tries(1, 1)) return;
        std::vector<std::int64_t> prompts;  // engines for them that are enough beside all others
        for (std::int64_t n = 1; n < most; ++n)
            if (tries(n, most - n)) prompts.push_back(n);
        for (std::int64_t engines = 3; engines < most; ++engines) {
            bool kept = false;
            for (const std::int64_t n : prompts) kept = (n < engines && tries(n, engines - n)) || kept;
            if (kept) return;  // more of them are more devices
        }
    }
    /// Where none keeps to the bounds: how many requests do so with all devices, as long as that may be more than of others.
    void try_with_all(const candidate& c) {
        const auto better = [](const tried_deployment& a, const tried_deployment& b) {
            return a.summary.good_share > b.summary.good_share;
        };
        const double least = found_.others.size() < limits_.top ? 0 : found_.others[limits_.top - 1].summary.good_share;
        const known_run r = tried(c, static_cast<std::int64_t>(limits_.devices / c.devices), 0, broken_at_most(least));
        if (!r.given_up) offer(found_.others, r.tried, better);
    }

    std::vector<simulated_request> few_;
    const std::vector<simulated_request>* all_;
    simulated_deployment as_;
    search_limits limits_;
    std::int64_t longest_ = 1, longest_input_ = 1;
    simulated_request easiest_{};  ///< as short, as little written and as much of it cached as of any
    std::int64_t most_broken_ = 0;
    std::vector<std::vector<known_run>> runs_;  ///< of each kind
    search_result found_;
};

}  // namespace llmcost
