// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <driver_types.h>

#include <cstdint>
#include <vector>

#include "board.hpp"

// What the handles of the runtime point to.

struct CUgraph_st {
    std::vector<virtual_gpu::work> nodes;
};

struct CUgraphExec_st {
    std::vector<virtual_gpu::work> nodes;
    bool launched = false;
};

struct CUstream_st {
    int gpu = 0;
    std::uint64_t number = 0;  ///< 0: the GPU's own
    bool blocking = false;     ///< the GPU's own waits for it, and it for that
    cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
    bool captures = false;
    bool spoilt = false;  ///< what it captures cannot become a graph any more
    CUgraph_st* graph = nullptr;
};

struct CUevent_st {
    bool recorded = false;
    double seconds = 0;
    std::uint64_t stream = 0, submitted = 0;  ///< pieces of work of that stream
    bool waited = false;
};

namespace virtual_gpu {

/// The stream that a handle names; the GPU's own for null. Null where it is none, which is complained of.
[[nodiscard]] CUstream_st* stream_of(cudaStream_t handle);
/// Numbers a stream that was made.
void begin_stream(CUstream_st& s);
/// Of one that is destroyed; what it did last may still go on.
void end_stream(const CUstream_st& s);
/// Does a piece of work now; what it computes as well, or only its time.
cudaError_t perform(CUstream_st& stream, const work& task, bool computes);
[[nodiscard]] std::uint64_t submitted_to(const CUstream_st& s);
/// The host knows that a stream's pieces have ended up to one.
void finished_until(std::uint64_t stream, std::uint64_t piece);
/// Streams that capture now.
[[nodiscard]] std::vector<CUstream_st*>& capturing();

}  // namespace virtual_gpu
