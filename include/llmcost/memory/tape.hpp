// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/graph/parameter_names.hpp>
#include <llmcost/model/architecture.hpp>

namespace llmcost {

/// A tensor that a pass makes, by the storage behind it.
struct tape_tensor {
    std::uint64_t bytes = 0;
    std::uint64_t times = 1;      ///< steps through time, each of which makes one
    std::int32_t made_by = -1;    ///< the node; -1: handed in
    std::int32_t last_read = -1;  ///< the last node that reads it
    bool wants_gradient = false;
    bool is_cached = false;
};

/// A parameter: its name and bytes, and whether gradients train it.
struct tape_parameter {
    std::string name;
    std::vector<std::int64_t> sizes;
    std::uint64_t elements = 0;
    std::uint64_t bytes = 0;
    bool trained = false;
    std::int32_t region = -1;  ///< of the tape's
};

/// What a node reads and owes a gradient to.
struct tape_edge {
    static constexpr std::int32_t nothing = -1;
    std::int32_t tensor = nothing;     ///< of `tensors`
    std::int32_t parameter = nothing;  ///< of `parameters`
    std::uint64_t bytes = 0;           ///< as the operation sees it, what an expansion repeats included
    bool wants_gradient = false;
};

/// One executed operation.
struct tape_node {
    op kind{};
    std::int32_t output = -1;
    std::uint64_t output_bytes = 0;      ///< of the result alone, where it lies in a tensor that was there
    std::uint64_t kept_besides = 0;      ///< bytes kept beside tensors, of all steps
    std::uint64_t kept_integers = 0;     ///< the same of integers
    std::uint64_t saved_views = 0;       ///< bytes of what it saves of `saved`, one by one
    std::uint64_t torch_flops = 0;       ///< what FlopCounterMode says of it
    std::uint64_t made_in_backward = 0;  ///< bytes that its backward makes for the moment
    std::int32_t region = -1;            ///< the checkpointed module that it is in; -1: none
    std::int32_t core = -1;              ///< the core attention that it is in; -1: none
    bool goes_back = false;
    bool in_place = false;
    bool own_backward = false;   ///< no operation: where a function's own backward begins
    bool has_gradients = false;  ///< what it saves are the gradients that it hands on
    std::vector<tape_edge> inputs{};
    std::vector<std::int32_t> saved{};  ///< tensors
};

/// A forward pass as autograd records it: every operation in its order, what it reads, makes and keeps.
struct tape {
    std::vector<tape_tensor> tensors;
    std::vector<tape_parameter> parameters;
    std::vector<tape_node> nodes;
    std::vector<std::string> regions;  ///< paths of the modules that checkpointing wraps: the outermost ones of lists
    std::int32_t cores = 0;            ///< attentions, from queries, keys and values to the context
    std::uint64_t buffers = 0;         ///< bytes that modules own beside parameters
    std::int32_t returned = -1;        ///< the tensor that the model gives out; -1: none that is stored
    std::int32_t loss = -1;            ///< what backward begins at
};

namespace detail {

/// Writes a tape while it listens to a walk.
class tape_listener final : public listener {
public:
    explicit tape_listener(tape& out) : out_(out) {}

    void enter(const recorder&, const module_info& m) override {
        open_.push_back({path_.size(), out_.parameters.size(), wraps(m)});
        const std::string_view name = m.name;
        if (!name.empty()) path_.append(path_.empty() ? "" : ".").append(name);
        if (m.index >= 0) path_.append(path_.empty() ? "" : ".").append(std::to_string(m.index));
        if (wraps(m) && lists_++ == 0) out_.regions.push_back(path_);
    }
    void leave(const recorder&, const module_info&) override {
        const open_module top = open_.back();
        open_.pop_back();
        path_.resize(top.outside);
        if (top.in_list) --lists_;
        // what a module declares and no operation reads by itself is read by its last one: a convolution's bias
        for (std::size_t i = top.first_parameter; i < out_.parameters.size() && !out_.nodes.empty(); ++i)
            if (!read_[i]) read(static_cast<std::int32_t>(i), out_.nodes.back());
    }
    void parameter(const recorder&, literal name, const value& v, bool tied) override {
        std::string path = path_of(name);
        if (!names_.declared(path, v, tied).fresh) return;
        out_.parameters.push_back(
            {std::move(path), sizes_of(v), v.elements, bytes_of(v, v.elements), v.requires_grad, region()});
        read_.push_back(false);
    }
    void parameter_again(const recorder&, literal name, const value& v) override { names_.called_again(path_of(name), v); }
    void cached(const recorder&, const value& v) override {
        if (const std::int32_t t = tensor_of(v); t >= 0) out_.tensors[static_cast<std::size_t>(t)].is_cached = true;
    }
    void buffer(const recorder&, count bytes) override { out_.buffers += bytes.to_64(); }
    void read_beside(const recorder&, const value& v) override { beside_.push_back(edge_to(v)); }
    void saved(const recorder&, const value& v) override { saved_.push_back(v); }
    void saved_besides(const recorder& r, count bytes) override { kept_besides_ += (bytes * r.times()).to_64(); }
    void saved_integers(const recorder& r, count bytes) override { kept_integers_ += (bytes * r.times()).to_64(); }
    void executed(const recorder& r, const operation& o) override {
        times_ = r.times().to_64();
        tape_node n;
        n.kind = o.kind;
        n.region = region();
        if (o.kind == op::attention && inside_core_ == 0) ++out_.cores;
        if (o.kind == op::attention || inside_core_ > 0) n.core = out_.cores - 1;
        n.inputs.reserve(static_cast<std::size_t>(o.input_count) + beside_.size()), n.saved.reserve(saved_.size());
        for (int i = 0; i < o.input_count; ++i) n.inputs.push_back(edge_to(*o.inputs[i]));
        for (const tape_edge& e : beside_) n.inputs.push_back(e);
        n.goes_back = o.output.requires_grad;
        n.in_place = o.input_count > 0 && o.inputs[0]->storage == o.output.storage;
        n.output = n.in_place ? tensor_of(o.output) : made(o.output, here());
        n.output_bytes = bytes_of(o.output, o.output.elements);
        // what is saved under a number that nobody knows is a copy of what an operation in place overwrites
        for (const value& v : saved_)
            n.saved.push_back(tensor_of(v, here())), n.saved_views += bytes_of(v, v.elements) * times_;
        const int each = price_of(o.kind).torch_flops;
        if (each != 0 || o.kind == op::attention) {  // products inside of a fused call are not told: those since the last
            const count sum = torch_flops(r.sums());
            n.torch_flops = each != 0      ? (o.work * count(each) * r.times()).to_64()
                            : sum > flops_ ? (sum - flops_).to_64()
                                           : 0;
            flops_ = sum;
        }
        n.kept_besides = kept_besides_, n.kept_integers = kept_integers_;
        for (const tape_edge& e : n.inputs) touch(e);
        beside_.clear(), saved_.clear(), kept_besides_ = kept_integers_ = 0;
        out_.nodes.push_back(std::move(n));
    }
    void saves_gradients() override { saves_gradients_ = true; }
    void goes_through(const recorder&, const value& out, const value* const* in, int n) override {
        tape_node made;
        made.output = tensor_of(out);
        made.goes_back = made.in_place = made.own_backward = true;
        made.has_gradients = saves_gradients_, saves_gradients_ = false;
        for (int i = 0; i < n; ++i) made.inputs.push_back(edge_to(*in[i]));
        for (const value& v : saved_)
            made.saved.push_back(tensor_of(v, here())), made.saved_views += bytes_of(v, v.elements) * times_;
        for (const tape_edge& e : made.inputs) touch(e);
        saved_.clear();
        out_.nodes.push_back(std::move(made));
    }
    void fused_begins(const recorder&, const fused_part& part) override {
        fused_.push_back(part.kind == fused_kind::attention || part.kind == fused_kind::latent_attention);
        if (fused_.back() && inside_core_++ == 0) ++out_.cores;
    }
    void fused_ends(const recorder&) override {
        if (fused_.back()) --inside_core_;
        fused_.pop_back();
    }
    void renamed(const recorder&, std::int32_t before, std::int32_t now) override {
        const auto from = static_cast<std::size_t>(before);
        const std::int32_t kept = from < tensor_of_.size() ? tensor_of_[from] : -1;  // what is idle was never heard of
        tensor_of_.resize(static_cast<std::size_t>(now), -1);
        tensor_of_.push_back(kept);
    }
    void came_last(const recorder& r, const value& v) override {
        times_ = r.times().to_64();
        (void)made(v, here() - 1);
    }
    /// The number of a tensor; one that no operation made was handed in, or made by a node.
    [[nodiscard]] std::int32_t tensor_of(const value& v, std::int32_t by = -1) {
        if (!v.is_stored()) return -1;
        const auto s = static_cast<std::size_t>(v.storage);
        return s >= tensor_of_.size() || tensor_of_[s] < 0 ? made(v, by) : tensor_of_[s];
    }

private:
    struct open_module {
        std::size_t outside;  ///< letters of the path around it
        std::size_t first_parameter;
        bool in_list;
    };
    [[nodiscard]] std::string path_of(literal name) const {
        return path_.empty() ? std::string(name) : (path_ + '.').append(std::string_view(name));
    }
    [[nodiscard]] static bool wraps(const module_info& m) noexcept { return m.index >= 0 && !m.leaf; }
    static void set(std::vector<std::int32_t>& in, std::size_t at, std::int32_t to) {
        if (at >= in.size()) in.resize(at + 1, -1);
        in[at] = to;
    }
    [[nodiscard]] static std::vector<std::int64_t> sizes_of(const value& v) { return {v.size, v.size + v.rank}; }
    [[nodiscard]] static std::uint64_t bytes_of(const value& v, std::uint64_t elements) {
        return (count(elements) * count(bits_of(v.type)) / count(8)).to_64();
    }
    [[nodiscard]] std::int32_t region() const noexcept {
        return lists_ > 0 ? static_cast<std::int32_t>(out_.regions.size()) - 1 : -1;
    }
    [[nodiscard]] std::int32_t here() const noexcept { return static_cast<std::int32_t>(out_.nodes.size()); }
    std::int32_t made(const value& v, std::int32_t by) {
        const auto at = static_cast<std::int32_t>(out_.tensors.size());
        out_.tensors.push_back({bytes_of(v, v.storage_elements), times_, by, here(), v.requires_grad});
        set(tensor_of_, static_cast<std::size_t>(v.storage), at);
        return at;
    }
    void touch(const tape_edge& e) {
        if (e.tensor >= 0) out_.tensors[static_cast<std::size_t>(e.tensor)].last_read = here();
        if (e.parameter >= 0) read_[static_cast<std::size_t>(e.parameter)] = true;
    }
    [[nodiscard]] tape_edge edge_to(const value& v) {
        tape_edge e;
        e.bytes = bytes_of(v, v.elements), e.wants_gradient = v.requires_grad;
        if (v.is_stored()) e.tensor = tensor_of(v);
        e.parameter = names_.number_of(v);
        return e;
    }
    void read(std::int32_t parameter, tape_node& by) {
        tape_parameter& p = out_.parameters[static_cast<std::size_t>(parameter)];
        read_[static_cast<std::size_t>(parameter)] = true;
        by.inputs.push_back({-1, parameter, p.bytes, p.trained});
    }

    tape& out_;
    std::vector<open_module> open_;
    std::string path_;
    int lists_ = 0;
    std::vector<bool> fused_;  ///< parts that are open: whether each is an attention
    int inside_core_ = 0;
    std::vector<std::int32_t> tensor_of_;  ///< by storage
    parameter_names names_;
    std::vector<bool> read_;
    std::vector<tape_edge> beside_;
    std::vector<value> saved_;
    count flops_{};  ///< of the walk, up to the last product
    std::uint64_t kept_besides_ = 0, kept_integers_ = 0, times_ = 1;
    bool saves_gradients_ = false;
};

}  // namespace detail

}  // namespace llmcost
