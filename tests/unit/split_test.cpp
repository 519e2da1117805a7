// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/graph/split.hpp>
#include <llmcost/graph/statistics.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <vector>

using namespace llmcost;

namespace {

/// A graph of some parts, an operation each: what one makes is read by the next and by a few others; weights are
/// shared.
struct small_graph {
    operator_graph graph;
    node_graph parts;
};

small_graph drawn(std::mt19937& random, std::int32_t n) {
    const auto below = [&](std::uint64_t maximum) { return static_cast<std::int32_t>(random() % maximum); };
    small_graph g;
    for (std::int32_t i = 0; i < n; ++i) {
        graph_tensor made;
        made.bytes = 1 + static_cast<std::uint64_t>(below(50));
        made.sizes = {i + 1};
        made.producer = i;
        g.graph.tensors.push_back(made);
    }
    for (std::int32_t i = 0; i < 6; ++i) {
        graph_tensor weight;
        weight.bytes = 1 + static_cast<std::uint64_t>(below(100));
        weight.source = tensor_origin::parameter;
        g.graph.tensors.push_back(weight);
    }
    g.parts.parts.resize(static_cast<std::size_t>(n) + 2);
    g.parts.parts.front().kind = part_kind::input;
    g.parts.parts.back().kind = part_kind::output;
    for (std::int32_t i = 0; i < n; ++i) {
        graph_node& p = g.parts.parts[static_cast<std::size_t>(i) + 1];
        p.cache_bytes = static_cast<std::uint64_t>(below(20));
        p.live_bytes = static_cast<std::uint64_t>(below(60));
        std::set<std::int32_t> weights{n + below(6), n + below(6)};
        p.parameters.assign(weights.begin(), weights.end());
        std::set<std::int32_t> read;
        if (i > 0) read = {i - 1, below(static_cast<std::uint64_t>(i))};
        for (const std::int32_t producer : read) {
            const graph_tensor& t = g.graph.tensors[static_cast<std::size_t>(producer)];
            g.parts.edges.push_back({producer + 1, i + 1, producer, producer, t.sizes, t.type, t.bytes});
        }
    }
    std::ranges::sort(g.parts.edges, {}, [](const graph_edge& e) { return std::pair(e.source, e.to); });
    return g;
}

struct answer {
    double slowest = std::numeric_limits<double>::infinity(), total = slowest;
    bool operator<(const answer& o) const { return slowest != o.slowest ? slowest < o.slowest : total < o.total; }
};

/// Everything again, stage by stage, by what the words say.
answer by_hand(const small_graph& g, const std::vector<pipeline_device>& devices, const std::vector<double>& links,
               const std::vector<std::int32_t>& ends) {
    answer a{0, 0};
    std::int32_t first = 0;
    for (std::size_t d = 0; d < devices.size(); ++d) {
        const std::int32_t end = ends[d];
        std::set<std::int32_t> crossing, weights;
        for (const graph_edge& e : g.parts.edges)
            if (e.source < first && e.to >= first) crossing.insert(e.tensor);
        std::uint64_t received = 0, memory = 0, live = 0;
        for (const std::int32_t t : crossing) received += g.graph.tensors[static_cast<std::size_t>(t)].bytes;
        double seconds = 0, host = 0;
        for (std::int32_t i = first; i < end; ++i) {
            const graph_node& p = g.parts.parts[static_cast<std::size_t>(i)];
            weights.insert(p.parameters.begin(), p.parameters.end());
            memory += p.cache_bytes;
            live = std::max(live, p.live_bytes);
            seconds += devices[d].seconds[static_cast<std::size_t>(i)];
            host += devices[d].host_seconds[static_cast<std::size_t>(i)];
        }
        for (const std::int32_t t : weights) memory += g.graph.tensors[static_cast<std::size_t>(t)].bytes;
        if (memory + live > devices[d].memory) return {};
        const double all = std::max(seconds, host) + (d == 0 ? 0 : static_cast<double>(received) / links[d - 1]);
        a.slowest = std::max(a.slowest, all);
        a.total += all;
        first = end;
    }
    return a;
}

/// All splits, tried.
void each_split(std::int32_t n, std::size_t k, std::vector<std::int32_t>& ends, auto visit) {
    if (ends.size() + 1 == k) {
        ends.push_back(n + 2);
        visit(ends);
        ends.pop_back();
        return;
    }
    for (std::int32_t end = ends.empty() ? 2 : ends.back() + 1; end <= n; ++end) {
        ends.push_back(end);
        each_split(n, k, ends, visit);
        ends.pop_back();
    }
}

}  // namespace

TEST_CASE("the best split is the best of all splits") {
    std::mt19937 random(17);
    int fitting = 0;
    for (int round = 0; round < 300; ++round) {
        const auto n = static_cast<std::int32_t>(3 + random() % 7);
        const std::size_t k = 1 + random() % 3;
        const small_graph g = drawn(random, n);
        std::vector<pipeline_device> devices(k);
        for (pipeline_device& d : devices) {
            for (std::int32_t i = 0; i < n + 2; ++i) {
                const bool executes = i > 0 && i <= n;
                d.seconds.push_back(executes ? static_cast<double>(random() % 64) : 0);
                d.host_seconds.push_back(executes ? static_cast<double>(random() % 32) : 0);
            }
            d.memory = 200 + random() % 500;
        }
        std::vector<double> links;
        for (std::size_t d = 1; d < k; ++d) links.push_back(static_cast<double>(1U << random() % 3));
        answer best;
        std::vector<std::int32_t> ends;
        each_split(n, k, ends, [&](const std::vector<std::int32_t>& all) {
            best = std::min(best, by_hand(g, devices, links, all));
        });
        const graph_split found = partition_over(g.graph, g.parts, devices, links);
        CHECK(found.stages.empty() == (best.slowest == std::numeric_limits<double>::infinity()));
        if (found.stages.empty()) continue;
        ++fitting;
        CHECK(found.slowest == best.slowest);
        CHECK(found.pass_seconds == best.total);
        std::vector<std::int32_t> cut;
        for (const graph_stage& s : found.stages) cut.push_back(s.end);
        const answer recomputed = by_hand(g, devices, links, cut);
        CHECK(recomputed.slowest == found.slowest);
        CHECK(recomputed.total == found.pass_seconds);
    }
    CHECK(fitting > 50);
}

TEST_CASE("bytes and weights of a cut are those of the tensors on its sides") {
    std::mt19937 random(5);
    for (int round = 0; round < 50; ++round) {
        const small_graph g = drawn(random, static_cast<std::int32_t>(3 + random() % 9));
        for (const graph_cut& cut : find_cuts(g.graph, g.parts)) {
            std::set<std::int32_t> crossing, upstream, downstream;
            for (const graph_edge& e : g.parts.edges)
                if (e.source < cut.first_part && e.to >= cut.first_part) crossing.insert(e.tensor);
            for (std::int32_t i = 0; i < static_cast<std::int32_t>(g.parts.parts.size()); ++i) {
                const auto& parameters = g.parts.parts[static_cast<std::size_t>(i)].parameters;
                (i < cut.first_part ? upstream : downstream).insert(parameters.begin(), parameters.end());
            }
            const auto bytes = [&](const std::set<std::int32_t>& tensors) {
                std::uint64_t sum = 0;
                for (const std::int32_t t : tensors) sum += g.graph.tensors[static_cast<std::size_t>(t)].bytes;
                return sum;
            };
            CHECK(cut.bytes == bytes(crossing));
            CHECK(cut.tensors.size() == crossing.size());
            CHECK(cut.weights_before == bytes(upstream));
            CHECK(cut.weights_after == bytes(downstream));
        }
    }
}

TEST_CASE("a graph's depth, width, fan-out and critical path") {
    // 0 -> 1 -> 3 -> 4, 0 -> 2 -> 3: the way through 2 takes longer
    node_graph g;
    g.parts.resize(5);
    for (const auto& [source, to] : std::vector<std::pair<int, int>>{{0, 1}, {0, 2}, {1, 3}, {2, 3}, {3, 4}})
        g.edges.push_back({source, to, source, source, {}, dtype::float32, 8});
    const std::vector<double> seconds{0, 1, 5, 2, 0};
    for (std::size_t i = 0; i < 5; ++i) g.parts[i].seconds = seconds[i];
    g.timed = true;
    const graph_statistics s = statistics_of(g);
    CHECK(s.depth == 4);
    CHECK(s.width == 2);
    CHECK(s.edges == 5);
    CHECK(s.edge_bytes == 40);
    CHECK(s.max_readers == 2);
    CHECK(s.max_read == 0);
    CHECK(s.mean_readers == 1.25);
    CHECK(s.seconds == 8);
    CHECK(s.critical_seconds == 7);
    CHECK(s.critical_path == std::vector<std::int32_t>{0, 2, 3, 4});
}
