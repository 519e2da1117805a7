// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/distributed/training_ranks.hpp>
#include <llmcost/distributed/training_trace.hpp>
#include <llmcost/presets.hpp>
#include <llmcost/report/chakra.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

using namespace llmcost;

namespace {

struct read_back {
    chakra::Metadata head;
    std::vector<chakra::Node> nodes;
};

/// Reads a trace as its readers do: a length, a message, and so on to the end.
read_back parsed(const std::string& trace) {
    google::protobuf::io::ArrayInputStream bytes(trace.data(), static_cast<int>(trace.size()));
    google::protobuf::io::CodedInputStream coded(&bytes);
    read_back out;
    for (std::uint32_t length = 0; coded.ReadVarint32(&length);) {
        const auto limit = coded.PushLimit(static_cast<int>(length));
        google::protobuf::MessageLite& m = out.head.version().empty()
                                               ? static_cast<google::protobuf::MessageLite&>(out.head)
                                               : out.nodes.emplace_back();
        REQUIRE(m.ParseFromCodedStream(&coded));
        CHECK(coded.BytesUntilLimit() == 0);
        coded.PopLimit(limit);
    }
    return out;
}

std::map<std::string, chakra::Attribute> attributes_of(const chakra::Node& n) {
    std::map<std::string, chakra::Attribute> all;
    for (const chakra::Attribute& a : n.attr()) all[a.name()] = a;
    return all;
}

}  // namespace

TEST_CASE("a Chakra trace read back has every part, what it waits for, and what devices hand on") {
    const model& m = presets::llama_3_2_1b;
    const operator_graph graph = graph_of(m, {.batch = 1, .sequence = 32});
    node_graph g = parts_of(graph);
    set_times(g, std::vector<double>(graph.operations.size(), 2.6e-6));
    std::vector<pipeline_device> devices(3);
    for (pipeline_device& d : devices)
        for (const graph_node& p : g.parts) {
            d.seconds.push_back(p.seconds);
            d.host_seconds.push_back(0);
        }
    const graph_split split = partition_over(graph, g, devices, {1e9, 1e9});
    REQUIRE(split.stages.size() == 3);
    const auto traces = execution_traces_of(g, split.stages, devices);
    REQUIRE(traces.size() == 3);
    std::uint64_t flops = 0, micros = 0;
    std::map<int, std::int64_t> sent, received;
    for (const auto& trace : traces) {
        const read_back t = parsed(chakra_trace(trace));
        CHECK(t.head.version() == "0.0.4");
        REQUIRE(t.nodes.size() == trace.size());
        std::set<std::uint64_t> done;
        for (const chakra::Node& n : t.nodes) {
            for (const std::uint64_t id : n.data_deps()) CHECK(done.contains(id));
            for (const std::uint64_t id : n.ctrl_deps()) CHECK(done.contains(id));
            CHECK(done.insert(n.id()).second);
            auto has = attributes_of(n);
            CHECK(has.contains("is_cpu_op"));
            CHECK_FALSE(has["is_cpu_op"].bool_val());
            if (n.type() == chakra::COMPUTE) {
                flops += static_cast<std::uint64_t>(has["num_ops"].int64_val());
                micros += n.duration_micros();
                CHECK(has.contains("tensor_size"));
            } else {
                CHECK(has["comm_dst"].int32_val() == has["comm_src"].int32_val() + 1);
                (n.type() == chakra::SEND ? sent : received)[has["comm_tag"].int32_val()] =
                    has["comm_size"].int64_val();
            }
        }
    }
    CHECK(count(flops) == graph.total_metrics.flops());
    CHECK(static_cast<double>(micros) ==
          doctest::Approx(2.6 * static_cast<double>(graph.operations.size())).epsilon(0.001));
    CHECK(sent.size() == 2);
    CHECK(sent == received);
    CHECK(sent[0] == static_cast<std::int64_t>(split.stages[1].received));
}

TEST_CASE("what devices do together is a collective of Chakra's schema") {
    trace_node kernel{.id = 1, .name = "q_proj", .flops = 10, .bytes = 20};
    trace_node sum{.id = 2, .name = "o_proj", .kind = trace_kind::collective, .control = {1}, .bytes = 4096};
    sum.collective = collective_kind::all_gather;
    const read_back t = parsed(chakra_trace({kernel, sum}));
    REQUIRE(t.nodes.size() == 2);
    CHECK(t.nodes[1].type() == chakra::COLLECTIVE);
    CHECK(static_cast<int>(t.nodes[1].type()) == 7);  // COMM_COLL_NODE
    auto has = attributes_of(t.nodes[1]);
    CHECK(has["comm_type"].int64_val() == 2);  // CollectiveCommType: ALL_GATHER
    CHECK(has["comm_type"].has_int64_val());
    CHECK(has["comm_size"].int64_val() == 4096);
    CHECK(t.nodes[1].ctrl_deps(0) == 1);
}

namespace {

std::vector<training_rank> ranks_of_job(const training_parallelism& parallel, bool has_fsdp) {
    training_plan plan;
    plan.schedule.data_parallel_size = parallel.data;
    plan.schedule.sharding = has_fsdp ? sharding_strategy::fsdp : sharding_strategy::ddp;
    std::vector<std::int64_t> ranks;
    for (std::int64_t rank = 0; rank < parallel.world_size(); ++rank) ranks.push_back(rank);
    return training_ranks_of(presets::llama_3_2_1b, {.batch = 1, .sequence = 32}, plan, parallel, ranks);
}

}  // namespace

TEST_CASE("traces of training ranks have all FLOPs, and dependencies on earlier nodes only") {
    for (const bool has_fsdp : {true, false}) {
        training_parallelism parallel;
        parallel.data = 4;
        for (const training_rank& rank : ranks_of_job(parallel, has_fsdp)) {
            std::uint64_t flops = 0, collectives = 0;
            for (const chakra::Node& n : parsed(chakra_trace(training_trace_of(rank))).nodes) {
                auto attributes = attributes_of(n);
                if (n.type() == chakra::COMPUTE)
                    flops += static_cast<std::uint64_t>(attributes["num_ops"].int64_val());
                else
                    ++collectives;
                for (const std::uint64_t id : n.data_deps()) CHECK(id < n.id());
                for (const std::uint64_t id : n.ctrl_deps()) CHECK(id < n.id());
            }
            CHECK(count(flops) == rank.forward_flops + rank.backward_flops);
            CHECK(collectives == rank.collectives.size());
        }
    }
}

TEST_CASE("traces of pipeline ranks send what others receive") {
    training_parallelism parallel;
    parallel.pipeline = 4;
    parallel.microbatches = 8;
    std::map<std::string, std::int64_t> messages;  // by sender, receiver and tag
    for (const training_rank& rank : ranks_of_job(parallel, false)) {
        std::uint64_t flops = 0;
        for (const chakra::Node& n : parsed(chakra_trace(training_trace_of(rank))).nodes) {
            auto attributes = attributes_of(n);
            if (n.type() == chakra::COMPUTE) {
                flops += static_cast<std::uint64_t>(attributes["num_ops"].int64_val());
                continue;
            }
            const std::string message = std::to_string(attributes["comm_src"].int32_val()) + ' ' +
                                        std::to_string(attributes["comm_dst"].int32_val()) + ' ' +
                                        std::to_string(attributes["comm_tag"].int32_val());
            messages[message] += (n.type() == chakra::SEND ? 1 : -1) * attributes["comm_size"].int64_val();
        }
        CHECK(count(flops) == rank.forward_flops + rank.backward_flops);
    }
    CHECK(messages.size() == 2 * 3 * 8);  // activations and gradients of 8 microbatches between 4 ranks
    for (const auto& message : messages) CHECK(message.second == 0);
}
