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
    const char* name = "";
    ncclComm_t comm = nullptr;
    cudaStream_t stream = nullptr;
    const void* send_buffer = nullptr;
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
        const auto count_calls = [&](int rank) {
            return std::count_if(group.begin(), group.end(), [&](const call& peer_call) {
                return std::string(peer_call.name) == c.name && peer_call.comm->rank == rank &&
                       peer_call.count == c.count;
            });
        };
        if (c.peer >= 0) {
            const bool sends = std::string(c.name) == "send";
            const auto meets = [&](const call& peer_call) {
                return std::string(peer_call.name) == (sends ? "receive" : "send") && peer_call.comm->rank == c.peer &&
                       peer_call.peer == c.comm->rank && peer_call.count == c.count;
            };
            if (std::none_of(group.begin(), group.end(), meets)) return std::string(c.name) + " that no peer meets";
        } else {
            for (int rank = 0; rank < c.comm->ranks; ++rank)
                if (count_calls(rank) != count_calls(c.comm->rank))
                    return std::string(c.name) + " that not every rank calls alike";
        }
    }
    return {};
}

ncclResult_t perform_group() {
    if (const std::string reason = fault_of_group(); !reason.empty()) {
        complain(reason + ": would wait for ever");
        group.clear();
        return ncclInternalError;
    }
    const int previous_gpu = current_gpu();
    bool good = true;
    for (const call& c : std::exchange(group, {})) {
        make_current(c.comm->rank);
        work w;
        w.seconds = seconds_of(static_cast<double>(c.sent + c.received) * 10);
        if (c.sent != 0) w.touches.push_back({c.send_buffer, c.sent, false, "what a collective sends"});
        if (c.received != 0) w.touches.push_back({c.to, c.received, true, "what a collective receives"});
        good = submit(c.stream, std::move(w)) == cudaSuccess && good;
    }
    make_current(previous_gpu);
    return good ? ncclSuccess : ncclUnhandledCudaError;
}

ncclResult_t called(const call& c) {
    if (!alive(c.comm, kind)) return ncclInvalidArgument;
    if (stream_of(c.stream) == nullptr || c.stream == nullptr || c.stream->gpu != c.comm->rank)
        return ncclInvalidArgument;
    group.push_back(c);
    return depth > 0 ? ncclSuccess : perform_group();
}

}  // namespace

extern "C" {

ncclResult_t ncclCommInitAll(ncclComm_t* comms, int ranks, const int* device_list) {
    if (ranks > at_hand().gpus || device_list != nullptr) return ncclInvalidUsage;
    for (int i = 0; i < ranks; ++i) {
        comms[i] = new ncclComm{i, ranks};
        born(comms[i], kind);
    }
    return ncclSuccess;
}
ncclResult_t ncclCommDestroy(ncclComm_t handle) { return destroyed(handle, kind) ? ncclSuccess : ncclInvalidArgument; }
const char* ncclGetErrorString(ncclResult_t code) { return code == ncclSuccess ? "no error" : "a refusal of NCCL"; }

ncclResult_t ncclGroupStart() {
    ++depth;
    return ncclSuccess;
}
ncclResult_t ncclGroupEnd() {
    if (depth == 0) return ncclInvalidUsage;
    return --depth > 0 ? ncclSuccess : perform_group();
}
ncclResult_t ncclAllReduce(const void* send_buffer, void* to, std::size_t count, ncclDataType_t type, ncclRedOp_t,
                           ncclComm_t comm, cudaStream_t stream) {
    const std::size_t bytes = count * width_of(type);
    return called({"all-reduce", comm, stream, send_buffer, to, bytes, bytes, count});
}
ncclResult_t ncclAllGather(const void* send_buffer, void* to, std::size_t count, ncclDataType_t type, ncclComm_t comm,
                           cudaStream_t stream) {
    const std::size_t bytes = count * width_of(type);
    return called(
        {"all-gather", comm, stream, send_buffer, to, bytes, bytes * static_cast<std::size_t>(comm->ranks), count});
}
ncclResult_t ncclReduceScatter(const void* send_buffer, void* to, std::size_t count, ncclDataType_t type, ncclRedOp_t,
                               ncclComm_t comm, cudaStream_t stream) {
    const std::size_t bytes = count * width_of(type);
    return called(
        {"reduce-scatter", comm, stream, send_buffer, to, bytes * static_cast<std::size_t>(comm->ranks), bytes, count});
}
ncclResult_t ncclSend(const void* send_buffer, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
    return called({"send", comm, stream, send_buffer, nullptr, count * width_of(type), 0, count, peer});
}
ncclResult_t ncclRecv(void* to, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
    return called({"receive", comm, stream, nullptr, to, 0, count * width_of(type), count, peer});
}

}  // extern "C"
