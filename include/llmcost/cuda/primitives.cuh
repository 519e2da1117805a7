// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include <llmcost/cuda/device_operator.cuh>
#include <llmcost/cuda/instructions.cuh>

// Chains of single operations, and kernels that do nothing.
namespace llmcost::cuda {

namespace detail {

// Each keeps its operand where the function does its work, for ever; `a` and `b` are read from memory, so that nothing
// is known of them when this is compiled, and no two steps fold into one.
template <class T>
struct primitive_operands {
    T a, b;
};
struct do_add {
    template <class T>
    static __device__ T step(T x, primitive_operands<T> arguments) {
        return x + arguments.a;
    }
};
struct do_mult {
    template <class T>
    static __device__ T step(T x, primitive_operands<T> arguments) {
        return x * arguments.b;
    }
};
struct do_neg {  // a difference from zero: sums of floats are never reordered
    template <class T>
    static __device__ T step(T x, primitive_operands<T> arguments) {
        return arguments.a - x;
    }
};
struct do_cmp {
    template <class T>
    static __device__ T step(T x, primitive_operands<T> arguments) {
        return x > arguments.a ? arguments.b : arguments.a;
    }
};
struct do_div {
    template <class T>
    static __device__ T step(T x, primitive_operands<T> arguments) {
        return arguments.b / x;
    }
};
/// Functions of 16-bit operands are computed in float32, as frameworks do.
template <float (*Function)(float, float)>
struct by_function {
    static constexpr int steps_at_once = 8;  // four chains of 32 cosines would not fit into a cache of instructions
    template <class T>
    static __device__ T step(T x, primitive_operands<T> arguments) {
        return T(Function(static_cast<float>(x), static_cast<float>(arguments.b)));
    }
};
static __device__ float root_step(float x, float) { return sqrtf(x); }             // towards 1
static __device__ float power_of_e_step(float x, float) { return expf(-x); }       // towards 0.567
static __device__ float logarithm_step(float x, float) { return logf(fabsf(x)); }  // about between -5 and 2
static __device__ float tanh_step(float x, float) { return tanhf(2 * x); }         // towards 0.957
static __device__ float erf_step(float x, float) { return erff(2 * x); }           // towards 0.994
static __device__ float cosine_step(float x, float) { return cosf(x); }            // towards 0.739
static __device__ float power_step(float x, float b) { return powf(b, x); }        // towards the root of x = b^x

/// n operations in each thread, in so many chains that do not wait for each other; results are written, all are needed.
template <class Step, class T, int Chains>
__global__ void chained(const T* operands, T* out, int rounds) {
    const primitive_operands<T> arguments{operands[0], operands[1]};
    T x[Chains];
    for (int c = 0; c < Chains; ++c) x[c] = operands[2 + c];
    constexpr int steps = [] {
        if constexpr (requires { Step::steps_at_once; }) return Step::steps_at_once;
        return 32;
    }();
    for (int i = 0; i < rounds; ++i) {
#pragma unroll steps
        for (int k = 0; k < 32; ++k)
#pragma unroll
            for (int c = 0; c < Chains; ++c) {
                x[c] = Step::template step<T>(x[c], arguments);
                forget(x[c]);
            }
    }
    T all = x[0];
    for (int c = 1; c < Chains; ++c) all = all + x[c];
    out[blockIdx.x * blockDim.x + threadIdx.x] = all;
}

static __global__ void empty() {}

template <class Step, class T, int Chains>
void launch_chains(const void* operands, void* out, int rounds, unsigned blocks, unsigned threads,
                   cudaStream_t cuda_stream) {
    launch(chained<Step, T, Chains>, blocks, threads, cuda_stream, static_cast<const T*>(operands),
           static_cast<T*>(out), rounds);
}

using chain_launch = void (*)(const void*, void*, int, unsigned, unsigned, cudaStream_t);
/// A primitive's kernels by element type (float32, float16, bfloat16), of one chain and of several.
struct primitive_row {
    string_ref name;
    chain_launch one[3], is_interleaved[3];
};

inline constexpr int several_chains = 4;
inline constexpr int unrolled = 32;

template <class Step>
constexpr primitive_row primitive(string_ref name) {
    return {name,
            {launch_chains<Step, float, 1>, launch_chains<Step, __half, 1>, launch_chains<Step, __nv_bfloat16, 1>},
            {launch_chains<Step, float, several_chains>, launch_chains<Step, __half, several_chains>,
             launch_chains<Step, __nv_bfloat16, several_chains>}};
}
// in the order of `vector_costs`
inline constexpr primitive_row primitives[]{
    primitive<do_add>("add"),
    primitive<do_mult>("mult"),
    primitive<do_div>("div"),
    primitive<by_function<root_step>>("sqrt"),
    primitive<by_function<power_of_e_step>>("exp"),
    primitive<by_function<logarithm_step>>("log"),
    primitive<by_function<tanh_step>>("tanh"),
    primitive<by_function<erf_step>>("erf"),
    primitive<by_function<cosine_step>>("trig"),
    primitive<by_function<power_step>>("pow"),
    primitive<do_neg>("neg"),
    primitive<do_cmp>("cmp"),
};

}  // namespace detail

/// n operations in each thread: `chained` in one dependent chain, `interleaved` in several independent chains.
class primitive_operator final : public device_operator {
public:
    primitive_operator(const workplace& /*resources*/, const operator_shape& shape, bool is_interleaved)
        : is_interleaved_(is_interleaved) {
        const cudaDataType_t type = detail::type_of(*shape.operand);
        const int type_index = type == CUDA_R_32F ? 0 : type == CUDA_R_16F ? 1 : 2;
        const string_ref name = shape.variant.empty() ? shape.type->default_variant : shape.variant;
        for (const detail::primitive_row& row : detail::primitives)
            if (row.name == name) launch_ = is_interleaved ? row.is_interleaved[type_index] : row.one[type_index];
        const std::int64_t in_round = detail::unrolled * (is_interleaved ? detail::several_chains : 1);
        if (launch_ == nullptr || type == CUDA_R_8F_E4M3 || shape.sizes[0] % in_round != 0)
            throw not_supported("a chain of " + std::to_string(shape.sizes[0]) + ' ' + std::string(name));
        rounds_ = static_cast<int>(shape.sizes[0] / in_round);
        threads_ = static_cast<unsigned>(std::min<std::int64_t>(shape.sizes[1], 256));
        if (shape.sizes[1] % threads_ != 0) throw not_supported("a last block of fewer threads");
        blocks_ = static_cast<unsigned>(shape.sizes[1] / threads_);
        out_ = hold(static_cast<std::size_t>(shape.sizes[1]) * 4);
        operands_ = hold(64);
        const float values[]{0.0f, 0.75f, 0.9f, 0.8f, 0.7f, 0.6f};
        if (type_index == 0) {
            check(cudaMemcpy(operands_.get(), values, sizeof values, cudaMemcpyHostToDevice), "cudaMemcpy");
        } else {
            std::uint16_t halves[6];
            for (int i = 0; i < 6; ++i)
                halves[i] = type_index == 1 ? static_cast<__half_raw>(__half(values[i])).x
                                            : static_cast<__nv_bfloat16_raw>(__nv_bfloat16(values[i])).x;
            check(cudaMemcpy(operands_.get(), halves, sizeof halves, cudaMemcpyHostToDevice), "cudaMemcpy");
        }
    }
    void launch(int /*copy*/, cudaStream_t cuda_stream) override {
        launch_(operands_.get(), out_.get(), rounds_, blocks_, threads_, cuda_stream);
    }
    [[nodiscard]] std::string kernel() const override { return is_interleaved_ ? "interleaved" : "chained"; }

private:
    bool is_interleaved_;
    detail::chain_launch launch_ = nullptr;
    int rounds_ = 0;
    unsigned threads_ = 1, blocks_ = 1;
    memory operands_, out_;
};

/// A kernel that does nothing, as a node of a graph or issued by the host.
class empty_kernel final : public device_operator {
public:
    empty_kernel(const workplace& /*resources*/, const operator_shape& shape)
        : blocks_(static_cast<unsigned>(shape.sizes[1])),
          issued_(shape.variant == "graph" ? issued_by::graph : issued_by::host) {}
    void launch(int /*copy*/, cudaStream_t cuda_stream) override {
        cuda::launch(detail::empty, blocks_, 32, cuda_stream);
    }
    [[nodiscard]] std::string kernel() const override { return "empty"; }
    [[nodiscard]] issued_by issued() const override { return issued_; }

private:
    unsigned blocks_;
    issued_by issued_;
};

}  // namespace llmcost::cuda
