// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cuda/device_operator.cuh>

#if defined(LLMCOST_WITH_NCCL) && __has_include(<nccl.h>)
#include <nccl.h>

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

// Collectives of the GPUs of one process, by NCCL.
namespace llmcost::cuda {

using communicator = owned<ncclComm_t, ncclCommDestroy>;

inline void check(ncclResult_t code, const char* call) {
    if (code != ncclSuccess) throw cuda_error(std::string(call) + ": " + ncclGetErrorString(code));
}

/// Communicators of the first so many GPUs, made once: that takes longer than what they are measured by.
class communicators {
public:
    [[nodiscard]] const std::vector<communicator>& get(int devices) {
        std::vector<communicator>& all = communicators_[devices];
        if (all.empty()) {
            if (!tried_.insert(devices).second) throw not_supported("no communicator");  // trying takes seconds
            std::vector<ncclComm_t> made(static_cast<std::size_t>(devices));
            check(ncclCommInitAll(made.data(), devices, nullptr), "ncclCommInitAll");
            for (const ncclComm_t c : made) all.emplace_back(c);
        }
        return all;
    }

private:
    std::map<int, std::vector<communicator>> communicators_;
    std::set<int> tried_;
};

/// Makes a device current until it ends.
class on_device {
public:
    explicit on_device(int device) {
        check(cudaGetDevice(&previous_device_), "cudaGetDevice");
        check(cudaSetDevice(device), "cudaSetDevice");
    }
    on_device(const on_device&) = delete;
    on_device& operator=(const on_device&) = delete;
    ~on_device() { cudaSetDevice(previous_device_); }

private:
    int previous_device_ = 0;
};

/// A collective among the first GPUs, issued by the host for all of them; message_size counts elements as families do:
/// of what each sends to all, or gets from all.
class collective final : public device_operator {
public:
    collective(const workplace& resources, const operator_shape& shape) {
        const cudaDataType_t type = detail::type_of(*shape.operand);
        type_ = type == CUDA_R_32F ? ncclFloat32 : type == CUDA_R_16F ? ncclFloat16 : ncclBfloat16;
        if (type == CUDA_R_8F_E4M3) throw not_supported("sums of eight bits");
        name_ = std::string(shape.variant.empty() ? shape.type->default_variant : shape.variant);
        devices_ = static_cast<int>(shape.sizes[1]);
        count_ = static_cast<std::size_t>(shape.sizes[0]);
        int present = 0;
        check(cudaGetDeviceCount(&present), "cudaGetDeviceCount");
        if (devices_ < 2 || devices_ > present) throw not_supported(std::to_string(devices_) + " GPUs");
        part_ = count_ / static_cast<std::size_t>(devices_);
        if (name_ != "all_reduce" && part_ == 0) throw not_supported("fewer elements than GPUs");
        if (name_ != "all_reduce" && name_ != "all_gather" && name_ != "reduce_scatter" && name_ != "alltoall")
            throw not_supported("a collective " + name_);
        for (const communicator& c : resources.nccl_communicators->get(devices_)) comms_.push_back(c.get());
        for (int i = 0; i < devices_; ++i) {
            const on_device device_guard(i);
            streams_.push_back(make_stream());
            send_.push_back(hold(count_ * detail::width_of(type)));
            receive_.push_back(hold(count_ * detail::width_of(type)));
            detail::fill(send_.back(), count_, type, 0.01f);
        }
    }
    ~collective() override {
        for (int i = 0; i < devices_; ++i) {
            cudaSetDevice(i);
            cudaStreamSynchronize(streams_[static_cast<std::size_t>(i)].get());
        }
        cudaSetDevice(0);
    }
    void launch(int /*copy*/, cudaStream_t /*on*/) override {
        check(ncclGroupStart(), "ncclGroupStart");
        try {
            for (int i = 0; i < devices_; ++i) issue(static_cast<std::size_t>(i));
        } catch (...) {
            ncclGroupEnd();  // else all that follows would wait in this group
            throw;
        }
        check(ncclGroupEnd(), "ncclGroupEnd");
    }
    void wait() override {
        for (const stream& s : streams_) check(cudaStreamSynchronize(s.get()), "cudaStreamSynchronize");
    }
    [[nodiscard]] std::string kernel() const override { return "nccl"; }
    [[nodiscard]] issued_by issued() const override { return issued_by::host; }

private:
    void issue(std::size_t i) {
        const void* send_buffer = send_[i].get();
        void* to = receive_[i].get();
        const ncclComm_t comm = comms_[i];
        const cudaStream_t cuda_stream = streams_[i].get();
        if (name_ == "all_reduce") {
            check(ncclAllReduce(send_buffer, to, count_, type_, ncclSum, comm, cuda_stream), "ncclAllReduce");
        } else if (name_ == "all_gather") {
            check(ncclAllGather(send_buffer, to, part_, type_, comm, cuda_stream), "ncclAllGather");
        } else if (name_ == "reduce_scatter") {
            check(ncclReduceScatter(send_buffer, to, part_, type_, ncclSum, comm, cuda_stream), "ncclReduceScatter");
        } else {
            const std::size_t step = part_ * (type_ == ncclFloat32 ? 4 : 2);
            for (int peer = 0; peer < devices_; ++peer) {
                const std::size_t offset = static_cast<std::size_t>(peer) * step;
                check(ncclSend(static_cast<const char*>(send_buffer) + offset, part_, type_, peer, comm, cuda_stream),
                      "ncclSend");
                check(ncclRecv(static_cast<char*>(to) + offset, part_, type_, peer, comm, cuda_stream), "ncclRecv");
            }
        }
    }

    std::string name_;
    ncclDataType_t type_ = ncclBfloat16;
    int devices_ = 0;
    std::size_t count_ = 0, part_ = 0;
    std::vector<ncclComm_t> comms_;
    std::vector<stream> streams_;
    std::vector<memory> send_, receive_;
};

}  // namespace llmcost::cuda
#endif
