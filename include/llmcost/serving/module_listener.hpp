// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <string>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/latency/operand_types.hpp>
#include <llmcost/latency/vector_units.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/trace/listener.hpp>
#include <llmcost/trace/ops.hpp>
#include <llmcost/trace/recorder.hpp>
#include <llmcost/trace/scope.hpp>
#include <llmcost/trace/tensor.hpp>
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
[[nodiscard]] double additions_of(const operation& o) noexcept;

/// Tracks the current module, and records the collectives of a sharded model.
///
/// All-reduce after attention and MLP blocks and after the embedding. All-gather of the logits over the vocabulary.
class module_listener : public listener {
public:
    module_listener(std::vector<model_kernel>& out, const execution& execution) : out_(out), execution_(execution) {}

    void on_module_enter(const recorder&, const module_info& m) override;
    void on_module_leave(const recorder& r, const module_info& m) override;

    void on_storage_renamed(const recorder&, std::int32_t old_storage, std::int32_t new_storage) override {
        is_parameter_storage_.set(new_storage, is_parameter_storage_.get(old_storage));
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
            return s < values_.size() ? values_[s] : default_value_;
        }
        void set(std::int32_t storage, T entry) {
            const auto s = static_cast<std::size_t>(storage);
            if (s >= values_.size()) values_.resize(s + 1, default_value_);
            values_[s] = entry;
        }
        /// Resets all storages from `storage` on to the default.
        void forget_from(std::int32_t storage) {
            if (static_cast<std::size_t>(storage) < values_.size())
                values_.resize(static_cast<std::size_t>(storage), default_value_);
        }

    private:
        std::vector<T> values_;
        T default_value_;
    };
    static constexpr std::size_t moved = 2, additions = 3, products = 4;  ///< sizes of `elementwise`

    /// Whether a tensor is a trainable parameter. In training, results of parameters require a gradient, too.
    [[nodiscard]] static bool is_parameter(const tensor& v) noexcept { return v.requires_grad && !v.is_stored(); }
    /// Whether a tensor depends only on parameters. Embedding lookups, which depend on indices, do not.
    [[nodiscard]] bool reads_only_parameters(const tensor& v) const noexcept {
        return is_parameter(v) || (v.is_stored() && is_parameter_storage_.get(v.storage_id) != 0);
    }
    [[nodiscard]] bool reads_only_parameters(const operation& o) const noexcept;
    /// Records whether the output of an operation depends only on parameters.
    void mark(const operation& o, bool are_parameters) {
        if (o.output.is_stored()) is_parameter_storage_.set(o.output.storage_id, are_parameters);
    }

    /// Called before a collective is recorded.
    virtual void before_collective() {}

    struct open_module {
        module_info info;
        std::int64_t number;
        std::size_t path_before;  ///< length of the parent path
    };

    static std::int64_t as_size(count n);
    static std::int64_t as_size(double n);
    static bool is_block(role module_role) noexcept;

    void enter_module_path(const module_info& m);
    [[nodiscard]] std::size_t depth_of_parent() const noexcept {
        return !open_.empty() && open_.back().info.is_leaf ? open_.size() - 1 : open_.size();
    }

    /// Whether the current module is an adapter of a leaf module: a leaf inside a leaf.
    [[nodiscard]] bool is_adapter() const noexcept { return open_.size() > 1 && open_[open_.size() - 2].info.is_leaf; }
    /// The weight of a product; null for another operation or a product of activations.
    static const tensor* weight_of(const operation& o) noexcept;
    static bool is_depthwise(const operation& o) noexcept;
    void emit(std::string name, literal family, std::initializer_list<std::int64_t> sizes, const operand_type* operand,
              string_ref variant = {});

    void join_residual_block();
    /// Dispatch of `tokens` of this rank to their experts, or combine of the results. Each tensor-parallel device sends
    /// its part of the hidden size.
    void expert_all_to_all(std::int64_t tokens, const operand_type* operand);
    /// A collective over `devices` devices with stride `stride`.
    void collective(literal name, std::int64_t elements, std::int64_t devices, std::int64_t stride = 1);

    std::vector<model_kernel>& out_;
    const execution& execution_;
    std::vector<open_module> open_;
    storage_map<char> is_parameter_storage_{0};
    std::string path_;
    std::int64_t modules_ = 0, last_elements_ = 0;
    std::int64_t num_runs_ = 1;  ///< runs of the traced module
    int block_depth_ = 0;
    bool has_experts_ = false;
    bool is_decoding_ = false;                                       ///< the last attention was a decode
    std::int64_t expert_hidden_size_ = 0, num_experts_per_tok_ = 0;  ///< of the last routed experts
};

}  // namespace llmcost::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/serving/impl/module_listener.ipp>  // IWYU pragma: export
#endif
