// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/memory/quantized_weights.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/report/stored_bytes.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/trace/listener.hpp>
#include <llmcost/trace/recorder.hpp>
#include <llmcost/trace/scope.hpp>
#include <llmcost/trace/tensor.hpp>

// The stored bytes of a checkpoint as `execution::stored_weight_bytes`.
namespace llmcost {

/// The bytes of a quantized checkpoint, by the parameters to which its tensors belong.
[[nodiscard]] stored_bytes to_weight_parts(const stored_weights& weights);

namespace detail {

/// Sums the bytes of traced parameters by the role of their module.
class part_listener final : public listener {
public:
    part_listener(const stored_bytes& stored, weight_parts& out) : stored_(stored), out_(out) {}

    void on_module_enter(const recorder&, const module_info& m) override;
    void on_module_leave(const recorder&, const module_info&) override;
    void on_parameter(const recorder&, literal name, const tensor&, bool tied) override;

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
[[nodiscard]] weight_parts stored_weight_parts_of(const model& m, const stored_bytes& stored);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/serving/impl/stored_weights.ipp>  // IWYU pragma: export
#endif
