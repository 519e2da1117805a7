// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/kernels/kernel_library.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/devices/all.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/kernels/evidence.hpp>
#include <llmcost/kernels/kernel_database.hpp>
#include <llmcost/kernels/kernel_names.hpp>
#include <llmcost/latency/calibration.hpp>
#include <llmcost/latency/operand_types.hpp>
#include <llmcost/latency/operator_types.hpp>

namespace llmcost {

LLMCOST_INLINE kernel_library::kernel_library(std::string device, std::string software, std::string version,
                                              const std::string& calibration)
    : device_(std::move(device)),
      software_(std::move(software)),
      version_(std::move(version)),
      calibrations_(calibration_paths(calibration)) {}

LLMCOST_INLINE void kernel_library::set_type_sources(std::string_view products, std::string_view experts) {
    gemm_dtype_key_ = products;
    experts_dtype_key_ = experts;
}

LLMCOST_INLINE const kernel_calibration* kernel_library::find(const operator_shape& shape) {
    kernel_query query{device_, software_, version_, "", std::string(shape.operand->name), std::string(shape.variant),
                       {}};
    std::copy_n(shape.layer_shape(), shape.type->num_layer_shape_sizes, query.layer_shape.begin());
    std::string key = key_of(shape);
    if (const auto known = requested_kernels_.find(key); known != requested_kernels_.end()) return known->second.kernel;
    if (shape.work().uses_network || shape.operand == &tf32_operands) {  // independent of the device, or without tables
        requested_kernels_.emplace(std::move(key),
                                   requested_kernel{shape.type, shape.operand, std::string(shape.variant), nullptr});
        return nullptr;
    }
    kernel_database& database = database_of(std::string(shape.type->name));
    std::vector<string_ref> variants = fallback_variants(*shape.type, shape.variant);
    variants.insert(variants.begin(), shape.variant);
    const auto find_by_any_variant = [&](auto lookup) -> const kernel_calibration* {
        for (const string_ref name : variants) {
            query.variant = name;
            if (const kernel_calibration* found = lookup()) return found;
        }
        return nullptr;
    };
    const kernel_calibration* kernel = find_by_any_variant([&] { return find_measured(database, query); });
    if (kernel == nullptr) kernel = find_by_any_variant([&] { return find_on_similar_device(database, query); });
    if (is_fallback(*shape.type, software_, kernel))
        fallback_kernels_.emplace(kernel->software, kernel_label(*shape.type, *shape.operand, shape.variant));
    if (kernel != nullptr && kernel->mixed_decode_mode != mixed_decode_kind::separate_kernel &&
        (kernel->is_fallback_device || is_fallback(*shape.type, software_, kernel))) {
        kernel_calibration& separate =
            adapted_kernels_.emplace_back(*kernel);  // mixing of decodes is specific to software and chip
        separate.mixed_decode_mode = mixed_decode_kind::separate_kernel;
        kernel = &separate;
    }
    return requested_kernels_
        .emplace(std::move(key), requested_kernel{shape.type, shape.operand, std::string(shape.variant), kernel})
        .first->second.kernel;
}

LLMCOST_INLINE std::set<std::string> kernel_library::unmeasured_kernels() const {
    std::set<std::string> labels;
    for (const auto& [key, request] : requested_kernels_)
        if (request.kernel == nullptr || request.kernel->is_fallback_device)
            labels.insert(kernel_label(*request.family, *request.operand, request.variant));
    return labels;
}

LLMCOST_INLINE bool kernel_library::has_requested(const operand_type& operand) const {
    return std::any_of(requested_kernels_.begin(), requested_kernels_.end(),
                       [&](const auto& known) { return known.second.operand == &operand; });
}

LLMCOST_INLINE bool kernel_library::has_no_matches() const {
    return !requested_kernels_.empty() && std::all_of(requested_kernels_.begin(), requested_kernels_.end(),
                                                      [](const auto& known) { return known.second.kernel == nullptr; });
}

LLMCOST_INLINE std::vector<std::string> kernel_library::warnings() {
    std::vector<std::string> all;
    for (auto entry = fallback_kernels_.begin(); entry != fallback_kernels_.end();) {
        const std::string& software = entry->first;
        std::string labels;
        for (; entry != fallback_kernels_.end() && entry->first == software; ++entry)
            labels += (labels.empty() ? "" : ", ") + entry->second;
        all.push_back(fallback_warning(software_, target_device(), labels, software));
    }
    return all;
}

LLMCOST_INLINE std::string kernel_library::key_of(const operator_shape& shape) {
    std::string key;
    for (const string_ref part : {string_ref(shape.type->name), string_ref(shape.operand->name), shape.variant})
        key.append(part.data(), part.size()) += '\n';
    for (std::size_t i = 0; i < shape.type->num_layer_shape_sizes; ++i)
        key += std::to_string(shape.layer_shape()[i]) + ' ';
    return key;
}

LLMCOST_INLINE bool kernel_library::has_same_chip(const device& a, const device& b) noexcept {
    return a.vendor == b.vendor && a.num_compute_units == b.num_compute_units && a.fp32 == b.fp32 && a.fp16 == b.fp16 &&
           a.bf16 == b.bf16 && a.fp8 == b.fp8 && a.fp4 == b.fp4;
}

LLMCOST_INLINE bool kernel_library::has_same_activation_width(const kernel_calibration& c,
                                                              const operand_type& requested) noexcept {
    const operand_type& measured_type = *find_operand_type(c.operand);
    return &measured_type == &requested || (measured_type.weight_bytes == requested.weight_bytes &&
                                            measured_type.activation_bytes == requested.activation_bytes &&
                                            measured_type.weight_bytes == measured_type.activation_bytes);
}

LLMCOST_INLINE const kernel_calibration* kernel_library::find_measured(kernel_database& database, kernel_query query) {
    const kernel_match match = database.find_kernel(
        query, database.family().has_engine_specific_experts ? experts_dtype_key_ : gemm_dtype_key_);
    const auto is_same_software = [&](const kernel_calibration* k) {
        return k != nullptr && !is_fallback(database.family(), software_, k);
    };
    if (is_same_software(match.calibration)) return without_host_time(database, query, *match.calibration);
    for (const device& sibling : devices) {
        if (&sibling == match.target_device || !has_same_chip(sibling, *match.target_device)) continue;
        query.device = std::string(sibling.names[0]);
        if (const kernel_calibration* candidate = database.find_kernel(query).calibration; is_same_software(candidate))
            return without_host_time(database, query, *candidate);
    }
    return match.calibration == nullptr || software_.empty() || match.calibration->replaces_engines ? match.calibration
                                                                                                    : nullptr;
}

LLMCOST_INLINE const kernel_calibration* kernel_library::without_host_time(kernel_database& database,
                                                                           const kernel_query& query,
                                                                           const kernel_calibration& own) {
    const operator_shape shape{.type = &database.family(), .operand = find_operand_type(query.operand)};
    if (software_.empty() || has_measured_runs(target_device(), 1) || !kernel_database::is_hidden_by_host(own, shape))
        return &own;
    const kernel_calibration* other = database.find_without_host_time(query, own);
    return other == nullptr ? &own : other;
}

LLMCOST_INLINE const kernel_calibration* kernel_library::find_on_similar_device(kernel_database& database,
                                                                                kernel_query query) {
    if (software_.empty() || calibrations_.empty()) return nullptr;
    const device& target = target_device();
    const auto distance = [&](const device& d) {
        return std::fabs(std::log(d.memory_bandwidth / target.memory_bandwidth));
    };
    const kernel_calibration* nearest = nullptr;
    double minimum = 0;
    for (const device& d : devices) {
        if (&d == &target || !(d.vendor == target.vendor) || !(d.memory_bandwidth > 0)) continue;
        if (nearest != nullptr && distance(d) >= minimum) continue;
        query.device = std::string(d.names[0]);
        operator_shape probe_shape{
            .type = &database.family(), .operand = find_operand_type(query.operand), .variant = query.variant};
        for (std::int64_t& size : probe_shape.sizes) size = 1;
        if (!has_peak(d, probe_shape.work())) continue;
        const kernel_calibration* candidate = database.find_kernel(query).calibration;
        if (candidate != nullptr && candidate->software == software_ &&
            has_same_activation_width(*candidate, *probe_shape.operand)) {
            nearest = without_host_time(database, query, *candidate);
            minimum = distance(d);
        }
    }
    if (nearest == nullptr) return nullptr;
    constexpr double generations = 0.32;  // log2 of 1.25
    kernel_calibration& widened = adapted_kernels_.emplace_back(*nearest);
    widened.is_fallback_device = true;
    for (cross_validation_error* e : {&widened.error, &widened.unseen_shape_error}) {
        e->low -= generations;
        e->high += generations;
    }
    return &widened;
}

LLMCOST_INLINE kernel_database& kernel_library::database_of(const std::string& family) {
    const auto known = databases_.find(family);
    if (known != databases_.end()) return known->second;
    return databases_.try_emplace(family, *find_operator_type(family), calibrations_).first->second;
}

}  // namespace llmcost
