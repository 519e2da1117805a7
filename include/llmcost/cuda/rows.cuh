// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <llmcost/cuda/device_operator.cuh>
#include <llmcost/cuda/row_kernels.cuh>

// Norms, softmax, elementwise operations, scales and quantisation of m rows of k elements.
namespace llmcost::cuda {

namespace detail {

/// Where a row kernel finds what it reads, and what it writes.
struct row_arguments {
    const void* first = nullptr;
    const void* second = nullptr;     ///< as long as the first, where there are two
    const void* auxiliary = nullptr;  ///< weights, angles or numbers of rows
    void* out = nullptr;
    std::size_t rows = 0;
    std::size_t width = 0;
    std::size_t elements = 0;  ///< of a map
    int additions = 0;         ///< of a map, for each element
    cudaStream_t cuda_stream = nullptr;
};

inline const uint4* packed(const void* p) { return static_cast<const uint4*>(p); }

template <class T, bool HasMean>
void launch_norm(const row_arguments& r) {
    const auto* weight = static_cast<const T*>(r.auxiliary);
    const int packs = static_cast<int>(r.width) / in_pack<T>;
    launch(norm_rows<T, HasMean, 256>, static_cast<unsigned>(r.rows), 256, r.cuda_stream, packed(r.first),
           packed(weight), packed(weight + r.width), static_cast<uint4*>(r.out), packs);
}
template <class T>
void launch_softmax(const row_arguments& r) {
    launch(softmax_rows<T, 256>, static_cast<unsigned>(r.rows), 256, r.cuda_stream, packed(r.first),
           static_cast<uint4*>(r.out), static_cast<int>(r.width) / in_pack<T>);
}
template <class T, int Reads, class Function>
void launch_map(const row_arguments& r) {
    const std::size_t packs = r.elements / in_pack<T>;
    Function f{};
    if constexpr (requires { f.additions; }) f.additions = r.additions;
    launch(mapped<T, Reads, Function>, blocks_for(packs, 256), 256, r.cuda_stream, packed(r.first), packed(r.second),
           static_cast<uint4*>(r.out), packs, f);
}
template <class T>
void launch_rotation(const row_arguments& r) {
    const auto* cosines = static_cast<const T*>(r.auxiliary);
    launch(rotated<T>, blocks_for(r.rows * r.width / in_pack<T> / 2, 256), 256, r.cuda_stream, packed(r.first),
           packed(cosines), packed(cosines + r.rows * rotary_width / 2), static_cast<uint4*>(r.out), r.rows,
           static_cast<int>(r.width) / in_pack<T>);
}
template <class T>
void launch_gather(const row_arguments& r) {
    launch(gathered, blocks_for(r.rows * r.width / in_pack<T>, 256), 256, r.cuda_stream, packed(r.first),
           static_cast<const std::int32_t*>(r.auxiliary), static_cast<uint4*>(r.out), r.rows,
           static_cast<int>(r.width) / in_pack<T>);
}
inline void launch_magnitude(const row_arguments& r) {
    const std::size_t packs = r.rows * r.width / 8;
    launch(largest_magnitude, blocks_for(packs, 256, 2048), 256, r.cuda_stream, static_cast<const uint4*>(r.first),
           packs, static_cast<int*>(r.out));
}
inline void launch_quantisation(const row_arguments& r) {
    const std::size_t packs = r.rows * r.width / 8;
    launch(quantised, blocks_for(packs, 256), 256, r.cuda_stream, static_cast<const uint4*>(r.first),
           static_cast<uint2*>(r.out), packs, 0.5f);
}

}  // namespace detail

/// What a row kernel reads in addition to its rows.
enum class row_auxiliary : std::uint8_t { none, weights, angles, numbers };

/// What its rows are to a row kernel: packs that are full, packs of which the last may not be, or nothing.
enum class row_packs : std::uint8_t { full, last_may_be_part, none };

/// What a row kernel writes of its elements: each as wide as it was read, each in eight bits, or one number of them
/// all.
enum class row_result : std::uint8_t { elements, eight_bits, number };

/// A kernel over rows: its family and word, its own name, how many tensors it reads, and its launch by element type.
struct row_kernel {
    string_ref family, variant, name;
    int reads;
    row_auxiliary auxiliary;
    void (*bfloat16)(const detail::row_arguments&);
    void (*float32)(const detail::row_arguments&);
    row_packs packs = row_packs::full;
    row_result result = row_result::elements;
    bool cold = true;  ///< buffers are rotated through more than the cache
};

// clang-format off
inline constexpr row_kernel row_kernels[]{
    {"norm", "", "rms_norm", 1, row_auxiliary::weights, detail::launch_norm<__nv_bfloat16, false>, detail::launch_norm<float, false>},
    {"norm", "", "layer_norm", 1, row_auxiliary::weights, detail::launch_norm<__nv_bfloat16, true>, detail::launch_norm<float, true>},
    {"softmax", "", "softmax", 1, row_auxiliary::none, detail::launch_softmax<__nv_bfloat16>, detail::launch_softmax<float>,
     row_packs::last_may_be_part},
    {"elementwise", "map", "scaled", 1, row_auxiliary::none,
     detail::launch_map<__nv_bfloat16, 1, detail::scaled_by>, detail::launch_map<float, 1, detail::scaled_by>,
     row_packs::none},
    {"elementwise", "map", "scaled_hot", 1, row_auxiliary::none,
     detail::launch_map<__nv_bfloat16, 1, detail::scaled_by>, detail::launch_map<float, 1, detail::scaled_by>,
     row_packs::none, row_result::elements, false},
    {"elementwise", "add", "added", 2, row_auxiliary::none,
     detail::launch_map<__nv_bfloat16, 2, detail::added>, detail::launch_map<float, 2, detail::added>},
    {"elementwise", "silu_mul", "silu_mul", 2, row_auxiliary::none,
     detail::launch_map<__nv_bfloat16, 2, detail::silu_times>, detail::launch_map<float, 2, detail::silu_times>},
    {"elementwise", "gelu", "gelu", 1, row_auxiliary::none,
     detail::launch_map<__nv_bfloat16, 1, detail::gelu_of>, detail::launch_map<float, 1, detail::gelu_of>},
    {"elementwise", "copy", "copied", 1, row_auxiliary::none,
     detail::launch_map<__nv_bfloat16, 1, detail::identity>, detail::launch_map<float, 1, detail::identity>},
    {"elementwise", "rotary", "rotated", 1, row_auxiliary::angles,
     detail::launch_rotation<__nv_bfloat16>, detail::launch_rotation<float>},
    {"elementwise", "gather", "gathered", 1, row_auxiliary::numbers,
     detail::launch_gather<__nv_bfloat16>, detail::launch_gather<float>},
    {"computescale", "", "absmax", 1, row_auxiliary::none, detail::launch_magnitude, nullptr,
     row_packs::full, row_result::number},
    {"scale_matrix", "", "quantised", 1, row_auxiliary::none, detail::launch_quantisation, nullptr,
     row_packs::full, row_result::eight_bits},
};
// clang-format on

/// One of these kernels on m rows of k elements.
class row_operator final : public device_operator {
public:
    row_operator(const workplace& resources, const operator_shape& shape, const row_kernel& kernel_spec)
        : kernel_spec_(kernel_spec) {
        const string_ref type = shape.operand->name;
        const bool is_float32 = type == "float32";
        launch_ = is_float32 ? kernel_spec.float32 : kernel_spec.bfloat16;
        const bool quantises = kernel_spec.result != row_result::elements;  // reads bfloat16, whatever it writes
        // float16 rows run as bfloat16: as many bytes, the same instructions
        if (launch_ == nullptr || (!is_float32 && !quantises && shape.operand->weight_bytes != 2))
            throw not_supported(std::string(kernel_spec.name) + " of " + std::string(type));
        const std::size_t element_bytes = is_float32 ? 4 : 2;
        arguments_.rows = static_cast<std::size_t>(shape.sizes[0]);
        arguments_.width = static_cast<std::size_t>(shape.sizes[1]);
        // scores have as many columns as there are keys, of which a last pack reads eight all the same
        if (kernel_spec.packs == row_packs::last_may_be_part) arguments_.width = (arguments_.width + 7) / 8 * 8;
        arguments_.elements = arguments_.rows * arguments_.width;
        if (kernel_spec.packs == row_packs::none)
            set_map_size(shape);
        else if (broadcasts(shape))
            throw not_supported("an operand that is shorter than the others");
        const std::size_t unit =
            kernel_spec.auxiliary == row_auxiliary::angles ? detail::rotary_width : 16 / element_bytes;
        if (arguments_.width % unit != 0)
            throw not_supported("rows of " + std::to_string(arguments_.width) + " elements");
        const bool gathers = kernel_spec.auxiliary == row_auxiliary::numbers;
        const std::size_t table = gathers ? table_rows(resources, element_bytes) : 0;
        const std::size_t in =
            gathers ? 0 : arguments_.elements * element_bytes * static_cast<std::size_t>(kernel_spec.reads);
        const std::size_t out =
            kernel_spec.result == row_result::number
                ? sizeof(int)
                : arguments_.elements * (kernel_spec.result == row_result::eight_bits ? 1 : element_bytes);
        const std::size_t auxiliary_bytes = compute_auxiliary_bytes(resources, element_bytes);
        const int cold_sets = resources.sets(in + out, auxiliary_bytes + table * arguments_.width * element_bytes);
        sets_ = kernel_spec.cold ? cold_sets : 1;
        const cudaDataType_t element = is_float32 ? CUDA_R_32F : CUDA_R_16BF;
        for (int i = 0; i < sets_; ++i) {
            for (int k = 0; k < kernel_spec.reads && (!gathers || i == 0); ++k) {
                const std::size_t n = gathers ? table * arguments_.width : arguments_.elements;
                inputs_.push_back(hold(n * element_bytes));
                detail::fill(inputs_.back(), n, element, 1.0f);
            }
            outputs_.push_back(hold(out));
            if (kernel_spec.result == row_result::number)
                check(cudaMemset(outputs_.back().get(), 0, out), "cudaMemset");
        }
        auxiliary_ = hold(auxiliary_bytes);
        if (gathers)
            number_rows(table, static_cast<std::size_t>(resources.copies));
        else if (auxiliary_bytes != 0)
            detail::fill(auxiliary_, auxiliary_bytes / element_bytes, element, 1.0f);
        check(cudaDeviceSynchronize(), "fill");
    }
    void launch(int copy, cudaStream_t cuda_stream) override {
        const auto i = static_cast<std::size_t>(copy % sets_);
        const auto reads = static_cast<std::size_t>(kernel_spec_.reads);
        detail::row_arguments now = arguments_;
        const bool gathers = kernel_spec_.auxiliary == row_auxiliary::numbers;
        now.first = inputs_[gathers ? 0 : i * reads].get();
        now.second = reads == 2 ? inputs_[i * reads + 1].get() : nullptr;
        now.auxiliary = gathers ? static_cast<const std::int32_t*>(auxiliary_.get()) +
                                      static_cast<std::size_t>(copy) % numbered_ * arguments_.rows
                                : auxiliary_.get();
        now.out = outputs_[i].get();
        now.cuda_stream = cuda_stream;
        launch_(now);
    }
    [[nodiscard]] std::string kernel() const override { return std::string(kernel_spec_.name); }

private:
    /// Whether less is moved than by tensors of one size, as where a mask is added to the scores of all heads.
    [[nodiscard]] bool broadcasts(const operator_shape& shape) const {
        const auto moved_elements = static_cast<double>(arguments_.elements) * (kernel_spec_.reads + 1);
        return shape.sizes[2] != 0 && moved_elements > 1.05 * static_cast<double>(shape.sizes[2]);
    }
    /// A map of all that is moved, half of it read; additions beyond the product are executed, products of sums are
    /// not.
    void set_map_size(const operator_shape& shape) {
        if (shape.sizes[4] != 0) throw not_supported("sums of products in a map");
        if (shape.sizes[2] != 0) arguments_.elements = static_cast<std::size_t>(shape.sizes[2]) / 2 / 8 * 8;
        arguments_.elements = std::max<std::size_t>(arguments_.elements, 8);  // fewer are one pack all the same
        arguments_.additions = static_cast<int>(static_cast<std::size_t>(shape.sizes[3]) / arguments_.elements);
        arguments_.width = 8;  // it has no rows
    }
    /// Rows of a vocabulary, in a gigabyte or half of the free memory.
    [[nodiscard]] std::size_t table_rows(const workplace& resources, std::size_t element_bytes) const {
        const std::size_t row = arguments_.width * element_bytes;
        return std::clamp<std::size_t>(std::min(resources.memory_limit / 2, std::size_t{1} << 30) / row, 1, 131072);
    }
    [[nodiscard]] std::size_t compute_auxiliary_bytes(const workplace& resources, std::size_t element_bytes) const {
        switch (kernel_spec_.auxiliary) {
            case row_auxiliary::weights: return 2 * arguments_.width * element_bytes;
            case row_auxiliary::angles: return arguments_.rows * detail::rotary_width * element_bytes;
            case row_auxiliary::numbers:
                return arguments_.rows * static_cast<std::size_t>(resources.copies) * sizeof(std::int32_t);
            case row_auxiliary::none: break;
        }
        return 0;
    }
    /// Numbers of rows without an order, others for each copy.
    void number_rows(std::size_t table, std::size_t copies) {
        numbered_ = copies;
        std::vector<std::int32_t> numbers(arguments_.rows * copies);
        std::uint64_t h = 1;
        for (std::int32_t& n : numbers) {
            h = h * 6364136223846793005ULL + 1442695040888963407ULL;  // Knuth's MMIX, its upper bits
            n = static_cast<std::int32_t>((h >> 33) % table);
        }
        check(
            cudaMemcpy(auxiliary_.get(), numbers.data(), numbers.size() * sizeof(std::int32_t), cudaMemcpyHostToDevice),
            "cudaMemcpy");
    }

    const row_kernel& kernel_spec_;
    void (*launch_)(const detail::row_arguments&) = nullptr;
    detail::row_arguments arguments_;
    int sets_ = 1;
    std::size_t numbered_ = 1;
    std::vector<memory> inputs_, outputs_;
    memory auxiliary_;
};

}  // namespace llmcost::cuda
