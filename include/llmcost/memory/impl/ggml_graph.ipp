// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/memory/ggml_graph.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include <llmcost/base/inline.hpp>

namespace llmcost::detail {

LLMCOST_INLINE ggml_graph::tensor ggml_graph::add(ggml_node node) {
    nodes_.push_back(std::move(node));
    is_visited_.push_back(false);
    return static_cast<tensor>(nodes_.size()) - 1;
}

LLMCOST_INLINE ggml_graph::tensor ggml_graph::add_weight(std::uint64_t bytes, std::int32_t backend) {
    ggml_node node;
    node.bytes = bytes;
    node.is_external = node.is_weight = true;
    node.backend = backend;
    return add(std::move(node));
}

LLMCOST_INLINE ggml_graph::tensor ggml_graph::add_cache(std::uint64_t bytes, std::int32_t backend) {
    ggml_node node;
    node.bytes = bytes;
    node.is_external = true;
    node.backend = backend;
    return add(std::move(node));
}

LLMCOST_INLINE ggml_graph::tensor ggml_graph::add_input(std::uint64_t bytes) {
    ggml_node node;
    node.bytes = bytes;
    node.is_input = true;
    return add(std::move(node));
}

LLMCOST_INLINE ggml_graph::tensor ggml_graph::add_operation(std::uint64_t bytes, std::vector<tensor> sources) {
    ggml_node node;
    node.node_kind = ggml_node::kind::operation;
    node.bytes = bytes;
    node.sources = std::move(sources);
    return add(std::move(node));
}

LLMCOST_INLINE ggml_graph::tensor ggml_graph::add_in_place(std::uint64_t bytes, std::vector<tensor> sources) {
    const tensor t = add_operation(bytes, std::move(sources));
    nodes_.back().node_kind = ggml_node::kind::in_place;
    return t;
}

LLMCOST_INLINE ggml_graph::tensor ggml_graph::add_row_lookup(std::uint64_t bytes, std::vector<tensor> sources) {
    const tensor t = add_operation(bytes, std::move(sources));
    nodes_.back().is_row_lookup = true;
    return t;
}

LLMCOST_INLINE ggml_graph::tensor ggml_graph::add_view(tensor source) {
    return add_view(source, nodes_[static_cast<std::size_t>(source)].bytes);
}

LLMCOST_INLINE ggml_graph::tensor ggml_graph::add_view(tensor source, std::uint64_t bytes) {
    const ggml_node& viewed = nodes_[static_cast<std::size_t>(source)];
    ggml_node node;
    node.bytes = bytes;
    node.node_kind = ggml_node::kind::view;
    node.view_of = viewed.is_view() ? viewed.view_of : source;
    node.sources = {source};
    return add(std::move(node));
}

LLMCOST_INLINE ggml_graph::tensor ggml_graph::add_write(tensor destination, std::vector<tensor> sources) {
    ggml_node node;
    node.node_kind = ggml_node::kind::write;
    node.bytes = nodes_[static_cast<std::size_t>(destination)].bytes;
    node.view_of = destination;
    node.sources = std::move(sources);
    node.sources.push_back(destination);
    return add(std::move(node));
}

LLMCOST_INLINE void ggml_graph::expand(tensor root) {
    // Depth first, as in the reference, with a stack of its own: a chain of layers is deep.
    struct frame {
        tensor t;
        std::size_t next_source;
    };
    std::vector<frame> stack;
    const auto visit = [&](tensor t) {
        if (is_visited_[static_cast<std::size_t>(t)]) return;
        is_visited_[static_cast<std::size_t>(t)] = true;
        stack.push_back({t, 0});
    };
    visit(root);
    while (!stack.empty()) {
        frame& top = stack.back();
        const ggml_node& node = nodes_[static_cast<std::size_t>(top.t)];
        if (top.next_source < node.sources.size()) {
            visit(node.sources[top.next_source++]);
            continue;
        }
        (node.node_kind == ggml_node::kind::leaf ? leaves_ : order_).push_back(top.t);
        stack.pop_back();
    }
}

LLMCOST_INLINE std::uint64_t ggml_buffer::allocate(std::uint64_t bytes) {
    bytes = aligned(bytes);
    std::size_t best = free_blocks_.size() - 1;
    std::uint64_t best_bytes = unlimited;
    for (std::size_t i = 0; i + 1 < free_blocks_.size(); ++i) {
        const block& candidate = free_blocks_[i];
        if (candidate.bytes < bytes || candidate.bytes > best_bytes) continue;
        best = i;
        best_bytes = candidate.bytes;
    }
    block& chosen = free_blocks_[best];
    const std::uint64_t offset = chosen.offset;
    chosen.offset += bytes;
    chosen.bytes -= bytes;
    if (chosen.bytes == 0) free_blocks_.erase(free_blocks_.begin() + static_cast<std::ptrdiff_t>(best));
    size_ = std::max(size_, offset + bytes);
    return offset;
}

LLMCOST_INLINE void ggml_buffer::free(std::uint64_t offset, std::uint64_t bytes) {
    bytes = aligned(bytes);
    if (bytes == 0) return;
    const auto next = std::ranges::find_if(free_blocks_, [&](const block& b) { return b.offset > offset; });
    const auto inserted = free_blocks_.insert(next, {offset, bytes});
    const auto merge_with_next = [&](std::vector<block>::iterator b) {
        if (b + 1 == free_blocks_.end() || b->offset + b->bytes != (b + 1)->offset) return;
        b->bytes += (b + 1)->bytes;
        free_blocks_.erase(b + 1);
    };
    merge_with_next(inserted);
    if (inserted != free_blocks_.begin()) merge_with_next(inserted - 1);
}

/// Assigns operations to backends, divides the graph into splits and allocates its tensors.
class ggml_scheduler {
public:
    ggml_scheduler(const ggml_graph& graph, const ggml_backends& backends)
        : nodes_(graph.nodes()), order_(graph.order()), leaves_(graph.leaves()), backends_(backends) {}

    [[nodiscard]] std::vector<std::uint64_t> run() {
        assign_fixed();
        expand_devices(true);
        expand_devices(false);
        expand_all(true);
        expand_all(false);
        assign_sources();
        split();
        allocate();
        std::vector<std::uint64_t> bytes;
        for (const ggml_buffer& buffer : buffers_) bytes.push_back(buffer.size());
        return bytes;
    }

private:
    /// The key of the copy of a tensor on a backend.
    [[nodiscard]] static std::uint64_t copy_key(ggml_graph::tensor source, std::int32_t backend) noexcept {
        return (static_cast<std::uint64_t>(source) << 32) | static_cast<std::uint32_t>(backend);
    }

    using tensor = ggml_graph::tensor;
    /// A tensor of the scheduled graph, in the order of computation, and the backend that allocates it.
    struct step {
        tensor t;
        std::int32_t backend;
    };
    struct allocation {
        bool is_allocated = false;
        std::int32_t backend = -1;
        std::uint64_t offset = 0;
        std::int32_t num_readers = 0;
        std::int32_t num_views = 0;
    };

    [[nodiscard]] ggml_node& at(tensor t) { return nodes_[static_cast<std::size_t>(t)]; }
    [[nodiscard]] const ggml_node& at(tensor t) const { return nodes_[static_cast<std::size_t>(t)]; }

    /// Pass 1: inputs are on the host, operations on weights run where the weights are.
    void assign_fixed() {
        for (const tensor t : leaves_)
            if (at(t).is_input) at(t).backend = backends_.host();
        for (const tensor t : order_) {
            ggml_node& node = at(t);
            if (node.backend != -1) continue;
            if (node.is_view() && at(node.view_of).is_external) {
                node.backend = at(node.view_of).backend;
                continue;
            }
            for (const tensor source : node.sources) {
                if (!at(source).is_weight) continue;
                node.backend = at(source).backend;
                const bool is_offloaded = backends_.offloads_operations && node.backend == backends_.host() &&
                                          backends_.num_devices > 0 && !node.is_row_lookup;
                if (is_offloaded) node.backend = 0;
                break;
            }
        }
    }

    template <class Visit>
    void for_each_operation(bool forward, Visit visit) {
        for (std::size_t i = 0; i < order_.size(); ++i) {
            ggml_node& node = at(order_[forward ? i : order_.size() - 1 - i]);
            if (node.node_kind != ggml_node::kind::view) visit(node);
        }
    }

    /// Pass 2: neighbors of operations on a device run there, too. The host is expanded last.
    void expand_devices(bool forward) {
        std::int32_t current = -1;
        for_each_operation(forward, [&](ggml_node& node) {
            if (node.backend != -1)
                current = node.backend == backends_.host() ? -1 : node.backend;
            else if (current != -1)
                node.backend = current;
        });
    }
    void expand_all(bool forward) {
        std::int32_t current = -1;
        for_each_operation(forward, [&](ggml_node& node) {
            if (node.backend != -1)
                current = node.backend;
            else if (current != -1)
                node.backend = current;
        });
    }

    /// Pass 4: views are where their tensor is.
    void assign_sources() {
        for (const tensor t : order_) {
            ggml_node& node = at(t);
            if (node.is_view() && node.backend == -1) node.backend = at(node.view_of).backend;
            for (const tensor source : node.sources) {
                ggml_node& read = at(source);
                if (read.backend != -1) continue;
                read.backend = read.is_view() ? at(read.view_of).backend : node.backend;
            }
        }
    }

    /// Pass 5: a split is a run of operations on one backend. Its inputs from other backends are copied at its start.
    void split() {
        std::vector<tensor> operations;
        struct range {
            std::int32_t backend;
            std::size_t begin;
            std::vector<tensor> inputs;
        };
        std::vector<range> splits;
        for (std::size_t i = 0; i < order_.size(); ++i) {
            const tensor t = order_[i];
            if (at(t).node_kind == ggml_node::kind::view) continue;
            const std::int32_t backend = at(t).backend;
            const auto is_foreign_weight = [&](tensor source) {
                return at(source).is_weight && at(source).backend != backend;
            };
            // By a new split, the memory of weights copied earlier is reused.
            const bool has_foreign_weight = !splits.empty() && !splits.back().inputs.empty() &&
                                            std::ranges::any_of(at(t).sources, is_foreign_weight);
            if (splits.empty())
                splits.push_back({backend, 0, {}});
            else if (splits.back().backend != backend || has_foreign_weight)
                splits.push_back({backend, i, {}});
            for (std::size_t k = 0; k < at(t).sources.size(); ++k) {
                const tensor source = at(t).sources[k];
                if (at(source).backend == backend) continue;
                const auto [copy, is_new] = copies_.try_emplace(copy_key(source, backend), -1);
                if (is_new) {
                    copy->second = add_copies(source);
                    splits.back().inputs.push_back(source);
                }
                at(t).sources[k] = copy->second;
            }
        }

        for (std::size_t s = 0; s < splits.size(); ++s) {
            const range& current = splits[s];
            const std::size_t end = s + 1 < splits.size() ? splits[s + 1].begin : order_.size();
            for (const tensor input : current.inputs) {
                ggml_node dependency;  // the input is not freed before it is copied
                dependency.view_of = at(input).is_view() ? at(input).view_of : input;
                dependency.sources = {input};
                nodes_.push_back(std::move(dependency));
                steps_.push_back({static_cast<tensor>(nodes_.size()) - 1, at(input).backend});
                steps_.push_back({copies_.at(copy_key(input, current.backend)), current.backend});
            }
            for (std::size_t i = current.begin; i < end; ++i) steps_.push_back({order_[i], at(order_[i]).backend});
        }
        if (backends_.num_copies > 1) {
            for (const tensor leaf : leaves_) {
                if (!at(leaf).is_input) continue;
                at(leaf).is_output = true;
                const tensor first = add_duplicates(leaf, backends_.num_copies - 1);
                leaf_steps_.push_back({leaf, backends_.host()});
                for (std::int32_t c = 0; c + 1 < backends_.num_copies; ++c)
                    leaf_steps_.push_back({first + c, backends_.host()});
            }
            for (const range& current : splits)
                for (const tensor input : current.inputs)
                    for (std::int32_t c = 0; c < backends_.num_copies; ++c)
                        leaf_steps_.push_back({copies_.at(copy_key(input, current.backend)) + c, current.backend});
        }
        for (const tensor leaf : leaves_) leaf_steps_.push_back({leaf, at(leaf).backend});
    }

    /// Copies of a tensor in another backend. With several, all of them stay allocated.
    tensor add_copies(tensor source) {
        const tensor first = add_duplicates(source, backends_.num_copies);
        if (backends_.num_copies > 1)
            for (std::int32_t c = 0; c < backends_.num_copies; ++c) at(first + c).is_input = true;
        return first;
    }
    tensor add_duplicates(tensor source, std::int32_t number) {
        const auto first = static_cast<tensor>(nodes_.size());
        for (std::int32_t c = 0; c < number; ++c) {
            ggml_node copy;
            copy.bytes = at(source).bytes;
            copy.is_output = backends_.num_copies > 1;
            nodes_.push_back(std::move(copy));
        }
        return first;
    }

    void allocate() {
        for (std::int32_t b = 0; b <= backends_.host(); ++b) buffers_.emplace_back(backends_.alignment(b));
        allocations_.resize(nodes_.size());
        for (const step& leaf : leaf_steps_) allocate_node(leaf.t, leaf.backend);
        for (const step& s : steps_) {
            const ggml_node& node = at(s.t);
            if (node.is_view() && node.node_kind != ggml_node::kind::leaf) ++allocation_of(node.view_of).num_views;
            if (node.is_input) allocate_node(s.t, s.backend);
            for (const tensor source : node.sources) {
                ++allocation_of(source).num_readers;
                if (at(source).is_input) allocate_node(source, s.backend);
            }
        }
        for (const step& s : steps_) {
            for (const tensor source : at(s.t).sources) allocate_node(source, s.backend);
            allocate_node(s.t, s.backend);
            for (const tensor source : at(s.t).sources) release(source);
        }
    }

    [[nodiscard]] allocation& allocation_of(tensor t) { return allocations_[static_cast<std::size_t>(t)]; }
    [[nodiscard]] ggml_buffer& buffer_of(tensor t) {
        return buffers_[static_cast<std::size_t>(allocation_of(t).backend)];
    }

    void allocate_node(tensor t, std::int32_t backend) {
        const ggml_node& node = at(t);
        if (allocation_of(t).is_allocated || node.is_view() || node.is_external) return;
        allocation_of(t).is_allocated = true;
        if (node.node_kind == ggml_node::kind::in_place && reuse_source(t)) return;
        allocation_of(t).backend = backend;
        allocation_of(t).offset = buffer_of(t).allocate(node.bytes);
    }

    /// Uses the memory of a source that nothing else reads. Returns false if there is none.
    [[nodiscard]] bool reuse_source(tensor t) {
        for (const tensor source : at(t).sources) {
            const ggml_node& read = at(source);
            // The memory of a view belongs to another tensor.
            if (!allocation_of(source).is_allocated || read.is_output || read.bytes != at(t).bytes) continue;
            if (allocation_of(source).num_readers != 1 || allocation_of(source).num_views != 0) continue;
            allocation_of(t).backend = allocation_of(source).backend;
            allocation_of(t).offset = allocation_of(source).offset;
            allocation_of(source).is_allocated = false;
            return true;
        }
        return false;
    }

    /// Frees a tensor after its last reader.
    void release(tensor t) {
        if (--allocation_of(t).num_readers != 0 || allocation_of(t).num_views != 0) return;
        tensor owner = t;
        if (at(t).is_view()) {
            owner = at(t).view_of;
            if (--allocation_of(owner).num_views != 0 || allocation_of(owner).num_readers != 0) return;
        }
        if (!allocation_of(owner).is_allocated || at(owner).is_output) return;
        buffer_of(owner).free(allocation_of(owner).offset, at(owner).bytes);
        allocation_of(owner).is_allocated = false;
    }

    std::vector<ggml_node> nodes_;
    std::vector<tensor> order_;
    std::vector<tensor> leaves_;
    ggml_backends backends_;
    std::unordered_map<std::uint64_t, tensor> copies_;  ///< by `copy_key`
    std::vector<step> steps_;
    std::vector<step> leaf_steps_;
    std::vector<allocation> allocations_;
    std::vector<ggml_buffer> buffers_;
};

LLMCOST_INLINE std::vector<std::uint64_t> compute_buffer_bytes(const ggml_graph& graph, const ggml_backends& backends) {
    return ggml_scheduler(graph, backends).run();
}

}  // namespace llmcost::detail
