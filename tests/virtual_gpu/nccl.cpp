// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// NCCL among virtual GPUs: a group's calls come from every rank alike, and their buffers hold what they say.
#include <nccl.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "board.hpp"
#include "streams.hpp"

namespace {

struct call {
    const char* what = "";
    ncclComm_t with = nullptr;
    cudaStream_t on = nullptr;
    const void* from = nullptr;
    void* to = nullptr;
    std::size_t sent = 0, received = 0, count = 0;  ///< bytes, bytes, elements
    int peer = -1;
};

std::vector<call> group;
int depth = 0;

}  // namespace

struct ncclComm {
    int rank = 0, ranks = 1;
};

using namespace virtual_gpu;

namespace {

constexpr const char* kind = "a communicator";

std::size_t width_of(ncclDataType_t type) { return type == ncclFloat32 ? 4 : 2; }

/// Ranks of which a kind of call came, as often as the first; what a group lacks, empty where it is whole.
std::string fault_of_group() {
    for (const call& c : group) {
        const auto alike = [&](int rank) {
            return std::count_if(group.begin(), group.end(), [&](const call& other) {
                return std::string(other.what) == c.what && other.with->rank == rank && other.count == c.count;
            });
        };
        if (c.peer >= 0) {
            const bool sends = std::string(c.what) == "send";
            const auto meets = [&](const call& other) {
                return std::string(other.what) == (sends ? "receive" : "send") && other.with->rank == c.peer &&
                       other.peer == c.with->rank && other.count == c.count;
            };
            if (std::none_of(group.begin(), group.end(), meets)) return std::string(c.what) + " that no peer meets";
        } else {
            for (int rank = 0; rank < c.with->ranks; ++rank)
                if (alike(rank) != alike(c.with->rank)) return std::string(c.what) + " that not every rank calls alike";
        }
    }
    return {};
}

ncclResult_t perform_group() {
    if (const std::string why = fault_of_group(); !why.empty()) {
        complain(why + ": would wait for ever");
        group.clear();
        return ncclInternalError;
    }
    const int before = current_gpu();
    bool good = true;
    for (const call& c : std::exchange(group, {})) {
        make_current(c.with->rank);
        work w;
        w.seconds = seconds_of(static_cast<double>(c.sent + c.received) * 10);
        if (c.sent != 0) w.touches.push_back({c.from, c.sent, false, "what a collective sends"});
        if (c.received != 0) w.touches.push_back({c.to, c.received, true, "what a collective receives"});
        good = submit(c.on, std::move(w)) == cudaSuccess && good;
    }
    make_current(before);
    return good ? ncclSuccess : ncclUnhandledCudaError;
}

ncclResult_t called(const call& c) {
    if (!alive(c.with, kind)) return ncclInvalidArgument;
    if (stream_of(c.on) == nullptr || c.on == nullptr || c.on->gpu != c.with->rank) return ncclInvalidArgument;
    group.push_back(c);
    return depth > 0 ? ncclSuccess : perform_group();
}

}  // namespace

extern "C" {

ncclResult_t ncclCommInitAll(ncclComm_t* into, int ranks, const int* which) {
    if (ranks > at_hand().gpus || which != nullptr) return ncclInvalidUsage;
    for (int i = 0; i < ranks; ++i) into[i] = new ncclComm{i, ranks}, born(into[i], kind);
    return ncclSuccess;
}
ncclResult_t ncclCommDestroy(ncclComm_t handle) { return destroyed(handle, kind) ? ncclSuccess : ncclInvalidArgument; }
const char* ncclGetErrorString(ncclResult_t code) { return code == ncclSuccess ? "no error" : "a refusal of NCCL"; }

ncclResult_t ncclGroupStart() { return ++depth, ncclSuccess; }
ncclResult_t ncclGroupEnd() {
    if (depth == 0) return ncclInvalidUsage;
    return --depth > 0 ? ncclSuccess : perform_group();
}
ncclResult_t ncclAllReduce(const void* from, void* to, std::size_t count, ncclDataType_t type, ncclRedOp_t, ncclComm_t with,
                           cudaStream_t on) {
    const std::size_t bytes = count * width_of(type);
    return called({"all-reduce", with, on, from, to, bytes, bytes, count});
}
ncclResult_t ncclAllGather(const void* from, void* to, std::size_t count, ncclDataType_t type, ncclComm_t with,
                           cudaStream_t on) {
    const std::size_t bytes = count * width_of(type);
    return called({"all-gather", with, on, from, to, bytes, bytes * static_cast<std::size_t>(with->ranks), count});
}
ncclResult_t ncclReduceScatter(const void* from, void* to, std::size_t count, ncclDataType_t type, ncclRedOp_t,
                               ncclComm_t with, cudaStream_t on) {
    const std::size_t bytes = count * width_of(type);
    return called({"reduce-scatter", with, on, from, to, bytes * static_cast<std::size_t>(with->ranks), bytes, count});
}
ncclResult_t ncclSend(const void* from, std::size_t count, ncclDataType_t type, int peer, ncclComm_t with, cudaStream_t on) {
    return called({"send", with, on, from, nullptr, count * width_of(type), 0, count, peer});
}
ncclResult_t ncclRecv(void* to, std::size_t count, ncclDataType_t type, int peer, ncclComm_t with, cudaStream_t on) {
    return called({"receive", with, on, nullptr, to, 0, count * width_of(type), count, peer});
}

}  // extern "C"
