// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <llmcost/latency/vector_units.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/trace/trace.hpp>

namespace llmcost::detail {

/// How many additions the primitives of each kind of operation are worth.
struct worth_of_kinds {
    double per_work[std::size(op_table)]{}, per_row[std::size(op_table)]{};
    constexpr worth_of_kinds() noexcept {
        static_assert(std::size(vector_costs) == primitive_kinds);
        for (std::size_t i = 0; i < std::size(op_table); ++i)
            for (std::size_t k = 0; k < primitive_kinds; ++k) {
                const auto member = primitive_members<std::int8_t>[k];
                per_work[i] += vector_costs[k].additions * op_table[i].per_work.*member;
                per_row[i] += vector_costs[k].additions * op_table[i].per_row.*member;
            }
    }
};
inline constexpr worth_of_kinds worth_of_operations{};

/// How many additions the primitives of an operation are worth.
[[nodiscard]] inline double additions_of(const operation& o) noexcept {
    const auto kind = static_cast<std::size_t>(o.kind);
    return worth_of_operations.per_work[kind] * static_cast<double>(o.work) +
           worth_of_operations.per_row[kind] * static_cast<double>(o.rows);
}

/// Where a walk stands, and what stands behind blocks and ends of a model that is split: sums over devices behind attention
/// and feed-forward blocks and the embedding, the whole vocabulary's scores gathered.
class placed_listener : public listener {
public:
    placed_listener(std::vector<model_kernel>& out, const execution& how) : out_(out), how_(how) {}

    void enter(const recorder&, const module_info& m) override {
        open_.push_back({m, ++modules_, path_.size()});
        lengthen(m);
        if (is_block(m.what) && blocks_++ == 0) experts_inside_ = false;
    }
    void leave(const recorder& r, const module_info& m) override {
        times_ = as_size(r.times());
        if (is_block(m.what) && --blocks_ == 0 && !r.idle()) join_block();
        if (m.what == role::embedding && !r.idle()) collective("all_reduce", last_elements_, how_.shards.tensor);
        if (m.what == role::head && !r.idle())
            collective("all_gather", checked_product(last_elements_, how_.shards.tensor), how_.shards.tensor);
        path_.resize(open_.back().path_before);
        open_.pop_back();
    }

    void renamed(const recorder&, std::int32_t before, std::int32_t now) override {
        of_parameters_.set(now, of_parameters_.of(before));
    }

protected:
    ~placed_listener() = default;

    /// Something about each storage, by its number; a storage that nothing was said of has what stands for nothing.
    template <class T>
    class by_storage {
    public:
        explicit by_storage(T nothing) : nothing_(nothing) {}
        [[nodiscard]] T of(std::int32_t storage) const noexcept {
            const auto s = static_cast<std::size_t>(storage);
            return s < all_.size() ? all_[s] : nothing_;
        }
        void set(std::int32_t storage, T what) {
            const auto s = static_cast<std::size_t>(storage);
            if (s >= all_.size()) all_.resize(s + 1, nothing_);
            all_[s] = what;
        }
        /// Nothing is said of storages from one on.
        void forget_from(std::int32_t storage) {
            if (static_cast<std::size_t>(storage) < all_.size()) all_.resize(static_cast<std::size_t>(storage), nothing_);
        }

    private:
        std::vector<T> all_;
        T nothing_;
    };
    static constexpr std::size_t moved = 2, additions = 3, products = 4;  ///< sizes of elementwise

    /// Whether a tensor is a parameter that gradients train; in training what is computed of it wants a gradient, too.
    [[nodiscard]] static bool is_parameter(const value& v) noexcept { return v.requires_grad && !v.is_stored(); }
    /// Whether a tensor is a parameter or computed of parameters alone, but not which of its rows somebody picked.
    [[nodiscard]] bool of_parameters(const value& v) const noexcept {
        return is_parameter(v) || (v.is_stored() && of_parameters_.of(v.storage) != 0);
    }
    [[nodiscard]] bool of_parameters(const operation& o) const noexcept {
        bool all = o.input_count > 0 && o.kind != op::constant && price_of(o.kind).read != reads::picked;
        for (int i = 0; all && i < o.input_count; ++i) all = of_parameters(*o.inputs[i]);
        return all;
    }
    /// Marks the output of an operation whose inputs are parameters, or not.
    void mark(const operation& o, bool are_parameters) {
        if (o.output.is_stored()) of_parameters_.set(o.output.storage, are_parameters);
    }

    /// Before a sum over devices is written down.
    virtual void before_collective() {}

    struct open_module {
        module_info info;
        std::int64_t number;
        std::size_t path_before;  ///< length of the path around it
    };

    static std::int64_t as_size(count n) {
        if (n.to_wide() >> 63 != 0) report_overflow();
        return static_cast<std::int64_t>(n.to_64());
    }
    static std::int64_t as_size(double n) {
        if (!(n < 9e18)) report_overflow();
        return static_cast<std::int64_t>(n);
    }
    static bool is_block(role what) noexcept {
        return what == role::attn || what == role::cross_attn || what == role::mlp || what == role::mixer;
    }

    void lengthen(const module_info& m) {
        if (!is_empty(m.name)) {
            if (!path_.empty()) path_ += '.';
            path_ += m.name;
        }
        if (m.index >= 0) path_ += ".*";
    }
    [[nodiscard]] std::size_t depth_of_parent() const noexcept {
        return !open_.empty() && open_.back().info.leaf ? open_.size() - 1 : open_.size();
    }

    /// Whether the walk is in what an adapter puts beside a leaf module: a leaf inside of another.
    [[nodiscard]] bool is_adapter() const noexcept { return open_.size() > 1 && open_[open_.size() - 2].info.leaf; }
    /// The parameter that a product multiplies by; null where it is no product, or one of activations.
    static const value* weight_of(const operation& o) noexcept {
        if (price_of(o.kind).torch_flops == 0 || o.input_count < 2) return nullptr;
        if (is_parameter(*o.inputs[1])) return is_depthwise(o) ? nullptr : o.inputs[1];
        return is_parameter(*o.inputs[0]) ? o.inputs[0] : nullptr;
    }
    static bool is_depthwise(const operation& o) noexcept {
        const bool convolves = o.kind == op::convolution || o.kind == op::convolution_bias;
        return convolves && o.inputs[1]->size[1] == 1 && o.inputs[0]->size[1] > 1;
    }
    void emit(std::string name, literal family, std::initializer_list<std::int64_t> sizes, const operand_row* operand,
              string_ref variant = {}) {
        model_kernel k;
        k.name = std::move(name), k.of_adapter = is_adapter();
        k.shape.family = find_family(family);
        k.shape.operand = operand;
        k.shape.variant = variant;
        k.times = times_;
        std::size_t i = 0;
        for (const std::int64_t size : sizes) k.shape.sizes[i++] = size;
        out_.push_back(std::move(k));
    }

    void join_block() {
        const sharding& s = how_.shards;
        if (experts_inside_ && s.data > 1)
            collective("reduce_scatter", checked_product(last_elements_, s.data), s.data, s.tensor);
        else if (experts_inside_ && s.expert * s.expert_tensor > s.tensor)
            collective("all_reduce", last_elements_, s.expert * s.expert_tensor);
        else
            collective("all_reduce", last_elements_, s.tensor);
    }
    /// Of so many devices, each of them the first of `apart` that stand side by side.
    void collective(literal name, std::int64_t elements, std::int64_t devices, std::int64_t apart = 1) {
        if (devices <= 1) return;
        before_collective();
        for (model_kernel& k : collective_of(name, elements, devices, apart, how_.unquantised(), how_.node)) {
            k.name = path_, k.of_adapter = is_adapter(), k.times *= times_;
            out_.push_back(std::move(k));
        }
    }

    std::vector<model_kernel>& out_;
    const execution& how_;
    std::vector<open_module> open_;
    by_storage<char> of_parameters_{0};
    std::string path_;
    std::int64_t modules_ = 0, last_elements_ = 0;
    std::int64_t times_ = 1;  ///< that what is walked runs
    int blocks_ = 0;
    bool experts_inside_ = false;
};

}  // namespace llmcost::detail
