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

/// Equivalent additions of the primitives of each operation kind.
struct vector_unit_costs {
    double per_work[std::size(op_costs)]{}, per_row[std::size(op_costs)]{};
    constexpr vector_unit_costs() noexcept {
        static_assert(std::size(vector_costs) == num_primitives);
        for (std::size_t i = 0; i < std::size(op_costs); ++i)
            for (std::size_t k = 0; k < num_primitives; ++k) {
                const auto member = primitive_members<std::int8_t>[k];
                per_work[i] += vector_costs[k].additions * op_costs[i].per_work.*member;
                per_row[i] += vector_costs[k].additions * op_costs[i].per_row.*member;
            }
    }
};
inline constexpr vector_unit_costs worth_of_operations{};

/// Equivalent additions of the primitives of an operation.
[[nodiscard]] inline double additions_of(const operation& o) noexcept {
    const auto kind = static_cast<std::size_t>(o.kind);
    return worth_of_operations.per_work[kind] * static_cast<double>(o.work) +
           worth_of_operations.per_row[kind] * static_cast<double>(o.rows);
}

/// Tracks the current module, and records the collectives of a sharded model.
///
/// All-reduce after attention and MLP blocks and after the embedding. All-gather of the logits over the vocabulary.
class module_listener : public listener {
public:
    module_listener(std::vector<model_kernel>& out, const execution& execution) : out_(out), execution_(execution) {}

    void on_module_enter(const recorder&, const module_info& m) override {
        open_.push_back({m, ++modules_, path_.size()});
        enter_module_path(m);
        if (is_block(m.module_role) && blocks_++ == 0) experts_inside_ = false;
    }
    void on_module_leave(const recorder& r, const module_info& m) override {
        times_ = as_size(r.multiplier());
        if (is_block(m.module_role) && --blocks_ == 0 && !r.is_not_executed()) join_residual_block();
        if (m.module_role == role::embedding && !r.is_not_executed())
            collective("all_reduce", last_elements_, execution_.parallel.tensor_parallel_size);
        if (m.module_role == role::head && !r.is_not_executed())
            collective("all_gather", checked_product(last_elements_, execution_.parallel.tensor_parallel_size),
                       execution_.parallel.tensor_parallel_size);
        path_.resize(open_.back().path_before);
        open_.pop_back();
    }

    void on_storage_renamed(const recorder&, std::int32_t old_storage, std::int32_t now) override {
        of_parameters_.set(now, of_parameters_.get(old_storage));
    }

protected:
    ~module_listener() = default;

    /// A property of each storage, by its id, with a default value.
    template <class T>
    class storage_map {
    public:
        explicit storage_map(T default_value) : default_value_(default_value) {}
        [[nodiscard]] T get(std::int32_t storage) const noexcept {
            const auto s = static_cast<std::size_t>(storage);
            return s < all_.size() ? all_[s] : default_value_;
        }
        void set(std::int32_t storage, T entry) {
            const auto s = static_cast<std::size_t>(storage);
            if (s >= all_.size()) all_.resize(s + 1, default_value_);
            all_[s] = entry;
        }
        /// Resets all storages from `storage` on to the default.
        void forget_from(std::int32_t storage) {
            if (static_cast<std::size_t>(storage) < all_.size())
                all_.resize(static_cast<std::size_t>(storage), default_value_);
        }

    private:
        std::vector<T> all_;
        T default_value_;
    };
    static constexpr std::size_t moved = 2, additions = 3, products = 4;  ///< sizes of `elementwise`

    /// Whether a tensor is a trainable parameter. In training, results of parameters require a gradient, too.
    [[nodiscard]] static bool is_parameter(const tensor& v) noexcept { return v.requires_grad && !v.is_stored(); }
    /// Whether a tensor depends only on parameters. Embedding lookups, which depend on indices, do not.
    [[nodiscard]] bool of_parameters(const tensor& v) const noexcept {
        return is_parameter(v) || (v.is_stored() && of_parameters_.get(v.storage_id) != 0);
    }
    [[nodiscard]] bool of_parameters(const operation& o) const noexcept {
        bool all = o.input_count > 0 && o.kind != op::constant && op_cost_of(o.kind).read != read_pattern::gathered;
        for (int i = 0; all && i < o.input_count; ++i) all = of_parameters(*o.inputs[i]);
        return all;
    }
    /// Records whether the output of an operation depends only on parameters.
    void mark(const operation& o, bool are_parameters) {
        if (o.output.is_stored()) of_parameters_.set(o.output.storage_id, are_parameters);
    }

    /// Called before a collective is recorded.
    virtual void before_collective() {}

    struct open_module {
        module_info info;
        std::int64_t number;
        std::size_t path_before;  ///< length of the parent path
    };

    static std::int64_t as_size(count n) {
        if (n.to_uint128() >> 63 != 0) throw_overflow_error();
        return static_cast<std::int64_t>(n.to_64());
    }
    static std::int64_t as_size(double n) {
        if (!(n < 9e18)) throw_overflow_error();
        return static_cast<std::int64_t>(n);
    }
    static bool is_block(role module_role) noexcept {
        return module_role == role::attn || module_role == role::cross_attn || module_role == role::mlp ||
               module_role == role::mixer;
    }

    void enter_module_path(const module_info& m) {
        if (!is_empty(m.name)) {
            if (!path_.empty()) path_ += '.';
            path_ += m.name;
        }
        if (m.index >= 0) path_ += ".*";
    }
    [[nodiscard]] std::size_t depth_of_parent() const noexcept {
        return !open_.empty() && open_.back().info.is_leaf ? open_.size() - 1 : open_.size();
    }

    /// Whether the current module is an adapter of a leaf module: a leaf inside a leaf.
    [[nodiscard]] bool is_adapter() const noexcept { return open_.size() > 1 && open_[open_.size() - 2].info.is_leaf; }
    /// The weight of a product; null for another operation or a product of activations.
    static const tensor* weight_of(const operation& o) noexcept {
        if (op_cost_of(o.kind).torch_flops == 0 || o.input_count < 2) return nullptr;
        if (is_parameter(*o.inputs[1])) return is_depthwise(o) ? nullptr : o.inputs[1];
        return is_parameter(*o.inputs[0]) ? o.inputs[0] : nullptr;
    }
    static bool is_depthwise(const operation& o) noexcept {
        const bool convolves = o.kind == op::convolution || o.kind == op::convolution_bias;
        return convolves && o.inputs[1]->size[1] == 1 && o.inputs[0]->size[1] > 1;
    }
    void emit(std::string name, literal family, std::initializer_list<std::int64_t> sizes, const operand_type* operand,
              string_ref variant = {}) {
        model_kernel k;
        k.module_path = std::move(name);
        k.is_adapter = is_adapter();
        k.shape.type = find_operator_type(family);
        k.shape.operand = operand;
        k.shape.variant = variant;
        k.num_runs = times_;
        std::size_t i = 0;
        for (const std::int64_t size : sizes) k.shape.sizes[i++] = size;
        out_.push_back(std::move(k));
    }

    void join_residual_block() {
        const parallel_config& s = execution_.parallel;
        if (experts_inside_ && s.data_parallel_size > 1)
            collective("reduce_scatter", checked_product(last_elements_, s.data_parallel_size), s.data_parallel_size,
                       s.tensor_parallel_size);
        else if (experts_inside_ && s.expert_parallel_size * s.expert_tensor_parallel_size > s.tensor_parallel_size)
            collective("all_reduce", last_elements_, s.expert_parallel_size * s.expert_tensor_parallel_size);
        else
            collective("all_reduce", last_elements_, s.tensor_parallel_size);
    }
    /// A collective over `devices` devices with stride `stride`.
    void collective(literal name, std::int64_t elements, std::int64_t devices, std::int64_t stride = 1) {
        if (devices <= 1) return;
        before_collective();
        for (model_kernel& k : make_collective_kernels(name, elements, devices, stride, execution_.unquantized_type(),
                                                       execution_.devices_per_node)) {
            k.module_path = path_;
            k.is_adapter = is_adapter();
            k.num_runs *= times_;
            out_.push_back(std::move(k));
        }
    }

    std::vector<model_kernel>& out_;
    const execution& execution_;
    std::vector<open_module> open_;
    storage_map<char> of_parameters_{0};
    std::string path_;
    std::int64_t modules_ = 0, last_elements_ = 0;
    std::int64_t times_ = 1;  ///< runs of the traced module
    int blocks_ = 0;
    bool experts_inside_ = false;
};

}  // namespace llmcost::detail
