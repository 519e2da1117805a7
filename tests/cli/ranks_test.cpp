// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "program.hpp"

// `train --ranks` against recordings of PyTorch jobs (rank_recordings.txt, written by tests/oracle/rank_recordings.py).
namespace llmcost::testing {
namespace {

/// A rank of a recording: the words of its line, and its collectives.
struct recorded_rank {
    std::vector<std::string> figures;
    std::vector<std::string> collectives;
};

struct rank_recording {
    std::string name, options, config;
    std::map<std::string, recorded_rank> ranks;
};

std::vector<std::string> split_line(const std::string& line) {
    std::istringstream in(line);
    std::vector<std::string> out;
    for (std::string word; in >> word;) out.push_back(word);
    return out;
}

std::vector<rank_recording> rank_recordings(const char* file = "/cli/rank_recordings.txt") {
    std::ifstream in(std::string(LLMCOST_TEST_DIR) + file);
    std::vector<rank_recording> out;
    recorded_rank* rank = nullptr;
    for (std::string line; std::getline(in, line);) {
        const std::string first = line.substr(0, line.find(' ')), rest = line.substr(first.size() + 1);
        if (first == "recording") {
            out.push_back({.name = rest, .options = {}, .config = {}, .ranks = {}});
        } else if (first == "options") {
            out.back().options = rest;
        } else if (first == "config") {
            out.back().config = rest;
        } else if (first == "rank") {
            const std::vector<std::string> figures = split_line(rest);
            rank = &out.back().ranks[figures.front()];
            rank->figures = figures;
        } else if (first == "same") {
            rank->collectives = out.back().ranks.at(rest).collectives;
        } else {
            rank->collectives.push_back(line);
        }
    }
    return out;
}

std::string text_of(const nlohmann::json& c) {
    std::string module = c["module"].get<std::string>();
    for (char& letter : module)
        if (letter == ' ') letter = '_';
    std::string out = c["op"].get<std::string>() + ' ' + c["group"].get<std::string>() + ' ' + c["group_size"].dump() +
                      ' ' + c["in_bytes"].dump() + ' ' + c["out_bytes"].dump() + ' ' + c["dtype"].get<std::string>() +
                      ' ' + c["phase"].get<std::string>() + ' ' + (module.empty() ? "-" : module);
    if (c.contains("peer")) out += " peer " + c["peer"].dump();
    return out;
}

void check_rank(const recorded_rank& expected, const nlohmann::json& rank) {
    CHECK(rank["parameters_bytes"].dump() == expected.figures[1]);
    CHECK(rank["optimizer_bytes"].dump() == expected.figures[2]);
    CHECK(rank["gradients_bytes"].dump() == expected.figures[3]);
    for (std::size_t i = 4; i + 1 < expected.figures.size(); i += 2) {
        const std::string& figure = expected.figures[i];
        if (figure == "peak") continue;
        if (figure != "saved")
            CHECK(rank["flops"][figure].dump() == expected.figures[i + 1]);
        else if (rank.contains("saved_bytes"))
            CHECK(rank["saved_bytes"].dump() == expected.figures[i + 1]);
    }
    std::vector<std::string> collectives;
    for (const nlohmann::json& c : rank["collectives"]) collectives.push_back(text_of(c));
    CHECK(collectives == expected.collectives);
}

/// The peak of a recording's first rank, without inputs; 0: not recorded.
double recorded_peak(const rank_recording& r) {
    const std::vector<std::string>& figures = r.ranks.at("0").figures;
    for (std::size_t i = 4; i + 1 < figures.size(); i += 2)
        if (figures[i] == "peak") return std::stod(figures[i + 1]);
    return 0;
}

TEST_CASE("train: peak memory of FSDP, as PyTorch's memory tracker recorded it") {
    int num_recordings = 0, num_equal = 0;
    for (const rank_recording& r : rank_recordings()) {
        const double recorded = recorded_peak(r);
        if (recorded == 0) continue;
        CAPTURE(r.name);
        const nlohmann::json peak = nlohmann::json::parse(
            printed("train --config - " + r.options + " --format json", {.in = r.config}))["peak"];
        const double computed = peak["total"].get<double>() - peak["OTH"].get<double>();
        ++num_recordings;
        num_equal += computed == recorded ? 1 : 0;
        CHECK(computed / recorded == doctest::Approx(1).epsilon(0.0075));  // routed experts differ most
    }
    CHECK(num_recordings == 29);
    CHECK(num_equal == 20);
}

TEST_CASE("train: what ranks hold, compute and communicate, as PyTorch recorded it") {
    const std::vector<rank_recording> recordings = rank_recordings();
    REQUIRE(recordings.size() == 78);
    for (const rank_recording& r : recordings) {
        CAPTURE(r.name);
        std::string ranks;
        for (const auto& [rank, expected] : r.ranks) ranks += (ranks.empty() ? "" : ",") + rank;
        const nlohmann::json answer = nlohmann::json::parse(
            printed("train --config - " + r.options + " --ranks " + ranks + " --format json", {.in = r.config}));
        REQUIRE(answer["ranks"].size() == r.ranks.size());
        for (const nlohmann::json& rank : answer["ranks"]) {
            CAPTURE(rank["rank"].dump());
            check_rank(r.ranks.at(rank["rank"].dump()), rank);
        }
    }
}

/// A collective without its phase and module.
std::string message_of(const nlohmann::json& c) {
    std::string out = c["op"].get<std::string>() + ' ' + c["group"].get<std::string>() + ' ' + c["group_size"].dump() +
                      ' ' + c["in_bytes"].dump() + ' ' + c["out_bytes"].dump() + ' ' + c["dtype"].get<std::string>();
    if (c.contains("peer")) out += " peer " + c["peer"].dump();
    return out;
}

// megatron_rank_recordings.txt is written by tests/oracle/megatron_ranks.py: Megatron-Core 0.16.1 on a CPU. A rank has
// the bytes of its parameters and of its gradient buffers, then its collectives without phase and module.
TEST_CASE("train: what ranks of Megatron-Core hold and communicate, as recorded") {
    const std::vector<rank_recording> recordings = rank_recordings("/cli/megatron_rank_recordings.txt");
    REQUIRE(recordings.size() == 10);
    for (const rank_recording& r : recordings) {
        CAPTURE(r.name);
        std::string ranks;
        for (const auto& [rank, expected] : r.ranks) ranks += (ranks.empty() ? "" : ",") + rank;
        const nlohmann::json answer = nlohmann::json::parse(
            printed("train --config - " + r.options + " --ranks " + ranks + " --format json", {.in = r.config}));
        REQUIRE(answer["ranks"].size() == r.ranks.size());
        for (const nlohmann::json& rank : answer["ranks"]) {
            CAPTURE(rank["rank"].dump());
            const recorded_rank& expected = r.ranks.at(rank["rank"].dump());
            CHECK(rank["parameters_bytes"].dump() == expected.figures[1]);
            CHECK(rank["gradients_bytes"].dump() == expected.figures[2]);
            std::vector<std::string> messages, recorded = expected.collectives;
            for (const nlohmann::json& c : rank["collectives"]) messages.push_back(message_of(c));
            if (r.name.find("interleaved") != std::string::npos) {  // Megatron-Core receives earlier than PyTorch
                std::sort(messages.begin(), messages.end());
                std::sort(recorded.begin(), recorded.end());
            }
            CHECK(messages == recorded);
        }
    }
}

/// The sum of a member over all ranks of a job.
std::uint64_t sum_over_ranks(const std::string& options, const char* member, const char* part = nullptr) {
    std::uint64_t sum = 0;
    const nlohmann::json answer = json_of("train --ranks all " + options);
    for (const nlohmann::json& rank : answer["ranks"])
        sum += (part == nullptr ? rank[member] : rank[member][part]).get<std::uint64_t>();
    return sum;
}

TEST_CASE("train: ranks sum to the undivided model") {
    const std::string small =
        " --batch 2 --sequence 24 --precision fp32 --set num_hidden_layers=3 --set vocab_size=131" +
        std::string(" --set tie_word_embeddings=false ") + llama;
    const nlohmann::json one = json_of("train --ranks 0" + small)["ranks"][0];
    const std::uint64_t parameters = one["parameters_bytes"], forward = one["flops"]["forward"];
    CHECK(one["collectives"].empty());
    for (const int ranks : {2, 3, 5, 7, 64}) {
        CAPTURE(ranks);
        const std::string job = "--fsdp --dp " + std::to_string(ranks) + small;
        CHECK(sum_over_ranks(job, "parameters_bytes") == parameters);
        CHECK(sum_over_ranks(job, "gradients_bytes") == parameters);
        CHECK(sum_over_ranks(job, "flops", "forward") == forward * static_cast<std::uint64_t>(ranks));
    }
    for (const char* job : {"--tp 2", "--tp 4 --split transformers", "--tp 8 --tp-plan sequence"}) {
        CAPTURE(job);
        CHECK(sum_over_ranks(job + small, "flops", "forward") == forward);
    }
    for (const char* job : {"--pp 3 --dp 2 --fsdp --microbatches 4", "--pp 3 --dp 5 --fsdp --schedule gpipe"}) {
        CAPTURE(job);
        CHECK(sum_over_ranks(job + small, "parameters_bytes") == parameters);
        CHECK(sum_over_ranks(job + small, "gradients_bytes") == parameters);
    }
    for (const char* job : {"--pp 3 --microbatches 4", "--pp 3 --schedule gpipe --microbatches 4"}) {
        CAPTURE(job);
        CHECK(sum_over_ranks(job + small, "parameters_bytes") == parameters);
        CHECK(sum_over_ranks(job + small, "flops", "all") ==
              4 * (forward + one["flops"]["backward"].get<std::uint64_t>()));
    }
}

TEST_CASE("train: one rank of Megatron-LM equals the undivided model") {
    const std::string small =
        " --ranks all --batch 2 --sequence 24 --precision bf16 --set num_hidden_layers=3 --set vocab_size=256" +
        std::string(" --set tie_word_embeddings=false ") + llama;
    const nlohmann::json one = json_of("train" + small)["ranks"][0];
    const nlohmann::json rank = json_of("train --split megatron" + small)["ranks"][0];
    CHECK(rank["parameters_bytes"] == one["parameters_bytes"]);
    CHECK(rank["flops"]["forward"] == one["flops"]["forward"]);
    CHECK(rank["collectives"].empty());
    std::uint64_t forward = 0;
    const nlohmann::json halves = json_of("train --split megatron --tp 2" + small)["ranks"];
    for (const nlohmann::json& half : halves) forward += half["flops"]["forward"].get<std::uint64_t>();
    CHECK(forward == one["flops"]["forward"].get<std::uint64_t>());
}

TEST_CASE("train: what a pipeline rank sends, another one receives") {
    const std::string small = " --batch 2 --sequence 24 --set num_hidden_layers=8 " + llama;
    for (const char* job :
         {"--pp 4 --microbatches 8", "--pp 4 --schedule interleaved --stages-per-rank 2 --microbatches 8",
          "--pp 4 --schedule zbv --stages-per-rank 2 --microbatches 8",
          "--pp 2 --schedule dualpipev --stages-per-rank 2 --microbatches 8",
          "--pp 4 --schedule zb-h1 --microbatches 8", "--pp 2 --dp 2 --fsdp --microbatches 4",
          "--pp 2 --dp 2 --tp 2 --tp-plan sequence --fsdp --microbatches 4",
          "--split megatron --pp 4 --tp 2 --sequence-parallel --dp 2 --zero 1 --microbatches 8",
          "--split megatron --pp 2 --stages-per-rank 2 --dp 2 --microbatches 4",
          "--pp 2 --schedule looped-bfs --stages-per-rank 4 --microbatches 3"}) {
        CAPTURE(job);
        std::map<std::string, std::int64_t> balance;  // by sender, receiver and phase
        const nlohmann::json answer = json_of("train --ranks all " + (job + small));
        for (const nlohmann::json& rank : answer["ranks"])
            for (const nlohmann::json& c : rank["collectives"]) {
                if (!c.contains("peer")) continue;
                const bool is_send = c["op"] == "send";
                const std::string self = rank["rank"].dump(), peer = c["peer"].dump();
                balance[(is_send ? self + " to " + peer : peer + " to " + self) + ' ' + c["phase"].dump()] +=
                    c["in_bytes"].get<std::int64_t>() - c["out_bytes"].get<std::int64_t>();
            }
        CHECK(balance.size() >= 2);
        for (const auto& entry : balance) {
            CAPTURE(entry.first);
            CHECK(entry.second == 0);
        }
    }
}

TEST_CASE("train: ranks of a job in text, and errors of its sizes") {
    const std::string small = " --batch 2 --sequence 24 " + llama;
    const std::string text = printed("train --dp 4 --fsdp --ranks 0,3" + small);
    for (const char* part : {"Collectives of rank 0 in a step", "all_gather", "reduce_scatter", "dp 4"})
        CHECK(has(text, part));
    CHECK(has(refused("train --model Qwen/Qwen3-30B-A3B --tp 2 --tp-plan sequence"),
              "--tp-plan: sequence parallelism of routed experts is only supported with --split megatron"));
    CHECK(has(refused("train --dp 4 --fsdp --ranks 4" + small), "--ranks: no rank 4; the job has 4"));
    CHECK(has(refused("train --tp 3 --ranks 0" + small), "--tp: 3 does not divide the 32 attention heads"));
    CHECK(has(refused("train --dp 4 --fsdp-wrap layers" + small), "--fsdp-wrap: requires --fsdp"));
    CHECK(has(refused("train --dp 4 --fsdp --ddp" + small), "--ddp: cannot be combined with --fsdp or --zero"));
    CHECK(has(refused("train --dp 6 --fsdp --fsdp-reshard 4" + small), "--fsdp-reshard: expected true, false or"));
    CHECK(has(refused("train --tp 2 --freeze model.norm.weight" + small), "--tp: cannot be combined with an adapter"));
    CHECK(has(refused("train --tp 2 --loss fused" + small), "--tp: cannot be combined with --loss fused"));
    CHECK(has(refused("train --pp 2 --dp 2 --fsdp --fsdp-reshard true --ranks 0" + small),
              "--fsdp-reshard: expected false with --ranks and --pp"));
    CHECK(has(refused("train --dp 2 --zero 1 --ranks 0" + small), "--ranks: cannot be combined with --zero"));
    CHECK(has(refused("train --pp 2 --dp 2 --zero 1 --ranks 0" + small), "--ranks: cannot be combined with --zero"));
    CHECK(has(refused("train --pp 2 --dp 2 --schedule zbv --stages-per-rank 2 --microbatches 4 --ranks 0" + small),
              "--ranks: DistributedDataParallel does not reduce gradients with --schedule zbv; use --fsdp"));
    CHECK(has(refused("train --split megatron --cp 2 --ranks 0" + small),
              "--ranks: not supported for --split megatron with --cp"));
    CHECK(has(refused("train --split megatron --tp 2 --recompute full --ranks 0" + small),
              "--ranks: not supported for --split megatron with --recompute full"));
    CHECK(has(refused("train --freeze model.layerz.*" + small), "--freeze"));
}

}  // namespace
}  // namespace llmcost::testing
