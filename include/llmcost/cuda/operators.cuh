// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <llmcost/cuda/attention.cuh>
#include <llmcost/cuda/collectives.cuh>
#include <llmcost/cuda/device_operator.cuh>
#include <llmcost/cuda/experts.cuh>
#include <llmcost/cuda/fused_attention.cuh>
#include <llmcost/cuda/primitives.cuh>
#include <llmcost/cuda/products.cuh>
#include <llmcost/cuda/rows.cuh>

// Operators by their families and kernels.
namespace llmcost::cuda {

/// The libraries of one GPU, and how much of it operators take.
class device_context {
public:
    /// The current device; an operator may hold so many bytes of its memory, by default half of what is free.
    explicit device_context(std::size_t memory_limit = 0) {
        check(cublasLtCreate(lt_.address()), "cublasLtCreate");
        check(cublasCreate(blas_.address()), "cublasCreate");
        int device = 0, cache = 0;
        check(cudaGetDevice(&device), "cudaGetDevice");
        check(cudaDeviceGetAttribute(&cache, cudaDevAttrL2CacheSize, device), "cudaDeviceGetAttribute");
        std::size_t available = 0, all = 0;
        check(cudaMemGetInfo(&available, &all), "cudaMemGetInfo");
        resources_.lt = lt_.get(), resources_.blas = blas_.get(),
        resources_.cache_bytes = static_cast<std::size_t>(cache);
        resources_.memory_limit = memory_limit != 0 ? memory_limit : available / 2;
#if defined(CUDNN_VERSION) && CUDNN_VERSION >= 90700
        cudnn_ = make_cudnn(), resources_.cudnn = cudnn_.get();
#endif
#if defined(NCCL_MAJOR)
        resources_.nccl_communicators = communicators_.get();
#endif
    }
    /// The context of an operator that is launched with so many copies of its buffers.
    [[nodiscard]] workplace place(int copies) const {
        workplace w = resources_;
        w.copies = copies;
        return w;
    }

    /// Where operators run: libraries keep the last stream that they were given, which therefore lives as long as they
    /// do.
    [[nodiscard]] cudaStream_t cuda_stream() const noexcept { return stream_.get(); }

private:
    stream stream_ = make_stream();
    lt_handle lt_;
    blas_handle blas_;
#if defined(CUDNN_VERSION) && CUDNN_VERSION >= 90700
    cudnn_handle cudnn_;
#endif
#if defined(NCCL_MAJOR)
    std::unique_ptr<communicators> communicators_ = std::make_unique<communicators>();
#endif
    workplace resources_;
};

namespace detail {

using made_operator = std::unique_ptr<device_operator>;

template <class Operator>
made_operator made(const workplace& resources, const operator_shape& shape) {
    return std::make_unique<Operator>(resources, shape);
}
template <bool Several>
made_operator made_primitive(const workplace& resources, const operator_shape& shape) {
    return std::make_unique<primitive_operator>(resources, shape, Several);
}
template <std::size_t Row>
made_operator made_row(const workplace& resources, const operator_shape& shape) {
    return std::make_unique<row_operator>(resources, shape, row_kernels[Row]);
}
inline made_operator made_fused(const workplace& resources, const operator_shape& shape) {
#if defined(CUDNN_VERSION) && CUDNN_VERSION >= 90700
    if (resources.cudnn != nullptr) return made<fused_attention>(resources, shape);
#endif
    (void)resources, (void)shape;
    throw not_supported("cuDNN is not there");
}

/// A kernel of a family; without a variant it serves all variants.
struct kernel_row {
    string_ref family, variant, kernel;
    made_operator (*make)(const workplace&, const operator_shape&);
};

template <std::size_t... Row>
std::vector<kernel_row> row_kernel_rows(std::index_sequence<Row...>) {
    return {{row_kernels[Row].family, row_kernels[Row].variant, row_kernels[Row].name, made_row<Row>}...};
}
/// All kernels; the first one of a family is its default.
inline const std::vector<kernel_row>& kernel_rows() {
    static const std::vector<kernel_row> all = [] {
        std::vector<kernel_row> rows = row_kernel_rows(std::make_index_sequence<std::size(row_kernels)>{});
        // clang-format off
        const kernel_row others[]{
            {"gemm",                 "", "cublasLt",       made<matrix_product>},
            {"batched_gemm",         "", "cublasLt",       made<matrix_product>},
            {"context_attention",    "", "cudnn",          made_fused},
            {"context_attention",    "", "eager",          made<eager_attention>},
            {"generation_attention", "", "cudnn",          made_fused},
            {"generation_attention", "", "eager",          made<eager_attention>},
            {"full_attention",       "", "cudnn",          made_fused},
            {"full_attention",       "", "eager",          made<eager_attention>},
            {"primitive",            "", "interleaved",    made_primitive<true>},
            {"primitive",            "", "chained",        made_primitive<false>},
            {"launch",               "", "empty",          made<empty_kernel>},
#if CUBLAS_VERSION >= 120500
            {"moe",                  "", "cublas_grouped", made<routed_experts>},
#endif
#if defined(NCCL_MAJOR)
            {"nccl",                 "", "nccl",           made<collective>},
#endif
        };
        // clang-format on
        rows.insert(rows.end(), std::begin(others), std::end(others));
        return rows;
    }();
    return all;
}

}  // namespace detail

/// An operator of any shape, by a kernel of its family or by the first one that supports it where none is named. A
/// variant without its own kernel uses that of its replacement.
///
/// Throws `not_supported` where no kernel takes it, or it needs more memory than the context allows.
[[nodiscard]] inline std::unique_ptr<device_operator> make_operator(const device_context& context,
                                                                    const operator_shape& shape, string_ref kernel = {},
                                                                    int copies = 1) {
    const string_ref variant_name = shape.variant.empty() ? shape.type->default_variant : shape.variant;
    std::string reason = "no kernel of " + std::string(shape.type->name) + ' ' + std::string(variant_name);
    const auto make_operator = [&](auto accepts_variant) -> std::unique_ptr<device_operator> {
        for (const detail::kernel_row& row : detail::kernel_rows()) {
            if (row.family != shape.type->name || (!kernel.empty() && row.kernel != kernel) ||
                !accepts_variant(row.variant))
                continue;
            try {
                return row.make(context.place(copies), shape);
            } catch (const not_supported& e) {
                reason = e.what();
            }
        }
        return nullptr;
    };
    if (auto matching_op =
            make_operator([&](string_ref variant) { return variant.empty() || variant == variant_name; }))
        return matching_op;
    const string_ref other = shape.type->fallback_variant;
    if (!other.empty() && !(other == variant_name))
        if (auto standing_in = make_operator([&](string_ref variant) { return variant == other; })) return standing_in;
    throw not_supported(reason);
}

}  // namespace llmcost::cuda
