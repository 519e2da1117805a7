// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

// Compute graphs of ggml, and the size of the buffers that its scheduler reserves for them.
namespace llmcost::detail {

/// A tensor of a compute graph.
struct ggml_node {
    /// The properties of an operation that affect memory.
    enum class kind : std::uint8_t {
        leaf,       ///< a weight, a cache or an input
        operation,  ///< writes a tensor of its own
        in_place,   ///< overwrites an input that no other operation reads
        view,       ///< a view of another tensor; computes nothing
        write       ///< writes into another tensor: rows of a cache
    };
    kind node_kind = kind::leaf;
    std::uint64_t bytes = 0;
    std::int32_t view_of = -1;  ///< the tensor whose memory is used; never a view itself
    std::vector<std::int32_t> sources{};
    bool is_external = false;    ///< weights and caches, which have buffers of their own
    bool is_weight = false;      ///< determines the backend of operations that read it
    bool is_input = false;       ///< set by the host before the graph runs
    bool is_output = false;      ///< never freed
    bool is_row_lookup = false;  ///< reads rows of a weight; never offloaded
    std::int32_t backend = -1;   ///< of external tensors; of operations after scheduling

    [[nodiscard]] bool is_view() const noexcept { return view_of >= 0; }
};

/// A graph in the order in which ggml computes it.
///
/// Source: ggml/src/ggml.c, `ggml_visit_parents_graph`.
class ggml_graph {
public:
    using tensor = std::int32_t;

    tensor add_weight(std::uint64_t bytes, std::int32_t backend);
    tensor add_cache(std::uint64_t bytes, std::int32_t backend);
    tensor add_input(std::uint64_t bytes);
    tensor add_operation(std::uint64_t bytes, std::vector<tensor> sources);
    /// An operation that ggml computes in place if possible (`ggml_op_can_inplace`).
    tensor add_in_place(std::uint64_t bytes, std::vector<tensor> sources);
    tensor add_row_lookup(std::uint64_t bytes, std::vector<tensor> sources);
    tensor add_view(tensor source);
    /// A view of `bytes` from its first to its last element.
    tensor add_view(tensor source, std::uint64_t bytes);
    /// Writes rows into a tensor, and is a view of it (`ggml_set_rows`).
    tensor add_write(tensor destination, std::vector<tensor> sources);

    /// Appends a tensor and the operations that it needs to the order of computation (`ggml_build_forward_expand`).
    void expand(tensor root);
    /// Computes an operation on a backend, wherever its neighbors run (`ggml_backend_sched_set_tensor_backend`).
    void set_backend(tensor t, std::int32_t backend) { nodes_[static_cast<std::size_t>(t)].backend = backend; }
    void mark_output(tensor t) { nodes_[static_cast<std::size_t>(t)].is_output = true; }

    [[nodiscard]] const std::vector<ggml_node>& nodes() const noexcept { return nodes_; }
    [[nodiscard]] const std::vector<tensor>& order() const noexcept { return order_; }
    [[nodiscard]] const std::vector<tensor>& leaves() const noexcept { return leaves_; }

private:
    tensor add(ggml_node node);

    std::vector<ggml_node> nodes_;
    std::vector<bool> is_visited_;
    std::vector<tensor> order_;
    std::vector<tensor> leaves_;
};

/// The backends of a scheduler: devices, then the host, which is the last one.
struct ggml_backends {
    std::int32_t num_devices = 0;
    std::uint64_t device_alignment = 128;  ///< bytes; CUDA
    std::uint64_t host_alignment = 32;     ///< bytes; `TENSOR_ALIGNMENT`
    std::int32_t num_copies = 1;           ///< copies of inputs; 4 with pipeline parallelism
    bool offloads_operations = true;       ///< large products of weights on the host run on the first device

    [[nodiscard]] std::int32_t host() const noexcept { return num_devices; }
    [[nodiscard]] std::uint64_t alignment(std::int32_t backend) const noexcept {
        return backend == host() ? host_alignment : device_alignment;
    }
};

/// The bytes that a buffer needs for tensors that are allocated and freed in turn.
///
/// Takes the smallest free block that is large enough; extends the end of the buffer if there is none.
/// Source: ggml/src/ggml-alloc.c, `ggml_dyn_tallocr_alloc`, `ggml_dyn_tallocr_free_bytes`.
class ggml_buffer {
public:
    explicit ggml_buffer(std::uint64_t alignment) : alignment_(alignment) {}

    /// Returns the offset of the tensor.
    [[nodiscard]] std::uint64_t allocate(std::uint64_t bytes);
    void free(std::uint64_t offset, std::uint64_t bytes);
    /// The largest size so far, in bytes.
    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

private:
    struct block {
        std::uint64_t offset;
        std::uint64_t bytes;
    };
    [[nodiscard]] std::uint64_t aligned(std::uint64_t bytes) const noexcept {
        return (bytes + alignment_ - 1) / alignment_ * alignment_;
    }

    static constexpr std::uint64_t unlimited = std::uint64_t{1} << 62;
    std::uint64_t alignment_;
    std::uint64_t size_ = 0;
    std::vector<block> free_blocks_{{0, unlimited}};  ///< by offset; the last one is the end of the buffer
};

/// Bytes of the compute buffer of each backend.
///
/// Operations run where their weights are, others where their neighbors run. Tensors of another backend are copied at
/// the start of each run of operations of one backend (a split). A tensor is freed after the last operation that reads
/// it. Source: ggml/src/ggml-backend.cpp, `ggml_backend_sched_split_graph`; ggml/src/ggml-alloc.c,
/// `ggml_gallocr_alloc_graph_impl`.
[[nodiscard]] std::vector<std::uint64_t> compute_buffer_bytes(const ggml_graph& graph, const ggml_backends& backends);

}  // namespace llmcost::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/memory/impl/ggml_graph.ipp>  // IWYU pragma: export
#endif
