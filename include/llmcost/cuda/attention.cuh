// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <llmcost/cuda/device_operator.cuh>
#include <llmcost/cuda/products.cuh>
#include <llmcost/cuda/row_kernels.cuh>

// Attention in three kernels: scores, softmax, values.
namespace llmcost::cuda {

/// Attention of new tokens after cached ones, in the sizes of its three families.
struct attention_shape {
    std::int64_t batch = 1;
    std::int64_t fresh = 1;   ///< queries
    std::int64_t length = 1;  ///< keys
    std::int64_t heads = 1;
    std::int64_t kv_heads = 1;
    std::int64_t width = 128;  ///< of a head
    std::int64_t window = 0;   ///< keys that a query sees, its own included; 0: all before it
    bool causal = true;
    cudaDataType_t type = CUDA_R_16BF;

    explicit attention_shape(const operator_shape& shape)
        : batch(shape.size("batch_size")),
          heads(shape.size("num_heads")),
          kv_heads(shape.size("num_key_value_heads")),
          width(shape.size("head_dim")),
          type(detail::type_of(*shape.operand)) {
        causal = shape.size("length") == 0;  // else every query attends to `length` keys
        fresh = std::max<std::int64_t>(shape.size("isl"), 1);
        if (!causal) {
            length = shape.size("length");
        } else {
            const std::int64_t past = shape.size("step");
            length = past + fresh;
            window = shape.size("window_size");
            if (fresh == 1 && window > 0) length = std::min(length, window);  // a cache stores no more of them
            if (!shape.variant.empty() && find_operand_type(shape.variant) != shape.operand)
                throw not_supported("a cache of another type");
        }
        if (type != CUDA_R_16BF && type != CUDA_R_16F)
            throw not_supported("attention of " + std::string(shape.operand->name));
        if (heads % kv_heads != 0) throw not_supported("heads that do not share keys evenly");
    }
    [[nodiscard]] std::size_t queries() const { return static_cast<std::size_t>(batch * heads * fresh * width); }
    [[nodiscard]] std::size_t keys() const { return static_cast<std::size_t>(batch * kv_heads * length * width); }
    [[nodiscard]] std::size_t scores() const { return static_cast<std::size_t>(batch * heads * fresh * length); }
};

/// Queries, keys, values and outputs of attention, in sets that are rotated.
struct attention_buffers {
    std::vector<memory> q, k, v, out;

    template <class Hold>
    void fill(const attention_shape& is, int sets, Hold hold) {
        for (int i = 0; i < sets; ++i) {
            for (auto* tensor : {&k, &v}) {
                tensor->push_back(hold(2 * is.keys()));
                detail::fill(tensor->back(), is.keys(), is.type, 1.0f);
            }
            q.push_back(hold(2 * is.queries()));
            out.push_back(hold(2 * is.queries()));
            detail::fill(q.back(), is.queries(), is.type, 1.0f);
        }
    }
};

namespace detail {

/// One block per query and head: softmax of the scores that it sees, scaled, zero elsewhere; in place.
template <class T, int Threads>
__global__ void masked_softmax(T* scores, int length, int fresh, int window, bool causal, float scale) {
    T* row = scores + static_cast<std::size_t>(blockIdx.x) * length;
    const int query_position = causal ? length - fresh + static_cast<int>(blockIdx.x) % fresh : length - 1;
    const int first_key = window > 0 && query_position >= window ? query_position - window + 1 : 0;
    float2 max_and_sum{-INFINITY, 0};
    for (int i = first_key + static_cast<int>(threadIdx.x); i <= query_position; i += Threads)
        max_and_sum = maximum_and_sum{}(max_and_sum, {static_cast<float>(row[i]) * scale, 1});
    max_and_sum = block_reduce<Threads>(max_and_sum, maximum_and_sum{});
    for (int i = threadIdx.x; i < length; i += Threads)
        row[i] = i < first_key || i > query_position
                     ? T(0.0f)
                     : T(__expf(static_cast<float>(row[i]) * scale - max_and_sum.x) / max_and_sum.y);
}

}  // namespace detail

/// Attention as eager frameworks run it: all scores are written, softmax reads and writes them, a second product reads
/// them.
///
/// Queries of the heads that share keys are adjacent, so that a product of theirs is one of a batch.
class eager_attention final : public device_operator {
public:
    eager_attention(const workplace& resources, const operator_shape& shape)
        : shape_(shape),
          scores_product_(resources.lt, product(shape_, true)),
          values_product_(resources.lt, product(shape_, false)) {
        const std::size_t scores = 2 * shape_.scores();
        std::size_t available = 0, all = 0;
        check(cudaMemGetInfo(&available, &all), "cudaMemGetInfo");
        if (scores > available / 4) throw not_supported("scores of more than a quarter of free memory");
        sets_ = resources.sets(2 * (2 * shape_.queries() + 2 * shape_.keys()), scores + product_plan::workspace_bytes);
        buffers_.fill(shape_, sets_, [&](std::size_t bytes) { return hold(bytes); });
        scores_ = hold(scores);
        workspace_ = hold(product_plan::workspace_bytes);
    }
    void launch(int copy, cudaStream_t cuda_stream) override {
        const auto i = static_cast<std::size_t>(copy % sets_);
        scores_product_.launch(buffers_.q[i].get(), buffers_.k[i].get(), scores_.get(), workspace_.get(), cuda_stream);
        if (shape_.type == CUDA_R_16BF)
            softmax(static_cast<__nv_bfloat16*>(scores_.get()), cuda_stream);
        else
            softmax(static_cast<__half*>(scores_.get()), cuda_stream);
        values_product_.launch(scores_.get(), buffers_.v[i].get(), buffers_.out[i].get(), workspace_.get(),
                               cuda_stream);
    }
    [[nodiscard]] std::string kernel() const override { return "eager"; }

private:
    static product_shape product(const attention_shape& is, bool of_scores) {
        product_shape p;
        p.batch = static_cast<int>(is.batch * is.kv_heads);
        p.in = p.out = is.type;
        p.m = static_cast<std::uint64_t>(is.heads / is.kv_heads * is.fresh);
        p.n = static_cast<std::uint64_t>(of_scores ? is.length : is.width);
        p.k = static_cast<std::uint64_t>(of_scores ? is.width : is.length);
        p.second_by_columns = of_scores;
        return p;
    }
    template <class T>
    void softmax(T* scores, cudaStream_t cuda_stream) const {
        const auto rows = static_cast<unsigned>(shape_.batch * shape_.heads * shape_.fresh);
        cuda::launch(detail::masked_softmax<T, 256>, rows, 256, cuda_stream, scores, static_cast<int>(shape_.length),
                     static_cast<int>(shape_.fresh), static_cast<int>(shape_.window), shape_.causal,
                     1 / std::sqrt(static_cast<float>(shape_.width)));
    }

    attention_shape shape_;
    product_plan scores_product_, values_product_;
    int sets_ = 1;
    attention_buffers buffers_;
    memory scores_, workspace_;
};

}  // namespace llmcost::cuda
