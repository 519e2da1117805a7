// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/memory/quantized_weights.hpp>
#include <llmcost/report/bytes_as_stored.hpp>
#include <llmcost/serving/model_kernel.hpp>

// A checkpoint's bytes as an execution is told them (`execution::stored`).
namespace llmcost {

/// The tensors of a quantised checkpoint by the parameters that they hold or stand beside.
[[nodiscard]] inline bytes_as_stored as_stored(const stored_weights& weights) {
    bytes_as_stored out;
    for (const weight_bytes_row& row : weights.rows) out.add(row.parameter, count(row.bytes), row.format);
    return out;
}

namespace detail {

/// Sums the bytes of a walk's parameters by the roles of the modules that hold them.
class part_listener final : public listener {
public:
    part_listener(const bytes_as_stored& stored, weight_parts& out) : stored_(stored), out_(out) {}

    void enter(const recorder&, const module_info& m) override {
        open_.push_back({path_.size(), m.what});
        const std::string_view name = m.name;
        if (!name.empty()) path_.append(path_.empty() ? "" : ".").append(name);
        if (m.index >= 0) path_.append(path_.empty() ? "" : ".").append(std::to_string(m.index));
    }
    void leave(const recorder&, const module_info&) override {
        path_.resize(open_.back().outside);
        open_.pop_back();
    }
    void parameter(const recorder&, literal name, const value&, bool tied) override {
        if (tied) return;
        const auto bytes = static_cast<double>(stored_.of(path_.empty() ? std::string(name) : path_ + '.' + name).to_64());
        if (inside(role::experts))
            out_.routed += bytes;
        else if (inside(role::embedding) || inside(role::head))
            out_.kept += bytes;
    }

private:
    struct open_module {
        std::size_t outside;  ///< letters of the path around it
        role what;
    };
    [[nodiscard]] bool inside(role what) const { return std::ranges::find(open_, what, &open_module::what) != open_.end(); }

    const bytes_as_stored& stored_;
    weight_parts& out_;
    std::vector<open_module> open_;
    std::string path_;
};

}  // namespace detail

/// Bytes of weights by what serving tells apart.
[[nodiscard]] inline weight_parts parts_as_stored(const model& m, const bytes_as_stored& stored) {
    weight_parts out;
    detail::part_listener ear{stored, out};
    const workload any = least_workload(m);
    trace t{resolved(any, types_of(m, any)), &ear};
    m.describe(t);
    out.others = static_cast<double>(stored.total.to_64()) - out.kept - out.routed;
    return out;
}

}  // namespace llmcost
