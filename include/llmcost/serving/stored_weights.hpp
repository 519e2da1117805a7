// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/memory/quantized_weights.hpp>
#include <llmcost/report/stored_bytes.hpp>
#include <llmcost/serving/model_kernel.hpp>

// The stored bytes of a checkpoint as `execution::stored_weight_bytes`.
namespace llmcost {

/// The bytes of a quantized checkpoint, by the parameters to which its tensors belong.
[[nodiscard]] inline stored_bytes to_weight_parts(const stored_weights& weights) {
    stored_bytes out;
    for (const weight_bytes_row& row : weights.rows) out.add(row.parameter, count(row.bytes), row.format);
    return out;
}

namespace detail {

/// Sums the bytes of traced parameters by the role of their module.
class part_listener final : public listener {
public:
    part_listener(const stored_bytes& stored, weight_parts& out) : stored_(stored), out_(out) {}

    void on_module_enter(const recorder&, const module_info& m) override {
        open_.push_back({path_.size(), m.module_role});
        const std::string_view name = m.name;
        if (!name.empty()) path_.append(path_.empty() ? "" : ".").append(name);
        if (m.index >= 0) path_.append(path_.empty() ? "" : ".").append(std::to_string(m.index));
    }
    void on_module_leave(const recorder&, const module_info&) override {
        path_.resize(open_.back().parent_path_length);
        open_.pop_back();
    }
    void on_parameter(const recorder&, literal name, const tensor&, bool tied) override {
        if (tied) return;
        const auto bytes = static_cast<double>(
            stored_.parameter_bytes(path_.empty() ? std::string(name) : path_ + '.' + name).to_64());
        if (is_inside(role::experts))
            out_.routed += bytes;
        else if (is_inside(role::embedding) || is_inside(role::head))
            out_.unquantized += bytes;
    }

private:
    struct open_module {
        std::size_t parent_path_length;  ///< length of the parent path
        role module_role;
    };
    [[nodiscard]] bool is_inside(role module_role) const {
        return std::ranges::find(open_, module_role, &open_module::module_role) != open_.end();
    }

    const stored_bytes& stored_;
    weight_parts& out_;
    std::vector<open_module> open_;
    std::string path_;
};

}  // namespace detail

/// Bytes of weights by the parts of `weight_parts`.
[[nodiscard]] inline weight_parts stored_weight_parts_of(const model& m, const stored_bytes& stored) {
    weight_parts out;
    detail::part_listener listener{stored, out};
    const workload sample_load = minimal_workload(m);
    trace t{with_storage_types(sample_load, storage_types_of(m, sample_load)), &listener};
    m.trace_with_loss(t);
    out.others = static_cast<double>(stored.total.to_64()) - out.unquantized - out.routed;
    return out;
}

}  // namespace llmcost
