// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <llmcost/kernels/kernel_database.hpp>
#include <llmcost/serving/step.hpp>

// The measured kernels of one engine on one device, for all operator types.
namespace llmcost {

/// Finds the calibrations of a model's kernels. Each file is read once.
class kernel_library final : public kernel_source {
public:
    kernel_library(std::string device, std::string software, std::string version, const std::string& calibration)
        : device_(std::move(device)),
          software_(std::move(software)),
          version_(std::move(version)),
          calibrations_(calibration_paths(calibration)) {}

    /// The device. `source`: option or column for errors.
    [[nodiscard]] const device& target_device(std::string_view source = "device",
                                              device_lookup lookup = device_lookup::name_or_file) {
        return database_of("gemm").resolve_device(device_, source, lookup);
    }
    /// Sets the options or columns that errors name for the types of products and experts; empty: none.
    void set_type_sources(std::string_view products, std::string_view experts) {
        products_by_ = products;
        experts_by_ = experts;
    }

    /// The kernel for an operand type, variant and layer shape.
    ///
    /// Fallbacks, in this order: a device with the same chip, other software, another variant (16 bits, other token
    /// distributions, `map`). The last fallback is the same software on another device, by its efficiencies.
    const kernel_calibration* find(const operator_shape& shape) override {
        kernel_query query{
            device_, software_, version_, "", std::string(shape.operand->name), std::string(shape.variant), {}};
        std::copy_n(shape.layer_shape(), shape.type->num_layer_shape_sizes, query.layer_shape.begin());
        std::string key = key_of(shape);
        if (const auto known = found_.find(key); known != found_.end()) return known->second.kernel;
        if (shape.work().uses_network) {  // independent of the device
            found_.emplace(std::move(key),
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
            others_.emplace(kernel->software, kernel_label(*shape.type, *shape.operand, shape.variant));
        if (kernel != nullptr && kernel->mixed_decode_mode != mixed_decode_kind::separate_kernel &&
            (kernel->is_fallback_device || is_fallback(*shape.type, software_, kernel))) {
            kernel_calibration& separate =
                borrowed_.emplace_back(*kernel);  // mixing of decodes is specific to software and chip
            separate.mixed_decode_mode = mixed_decode_kind::separate_kernel;
            kernel = &separate;
        }
        return found_
            .emplace(std::move(key), requested_kernel{shape.type, shape.operand, std::string(shape.variant), kernel})
            .first->second.kernel;
    }
    /// Labels of the requested kernels that are not measured on this device.
    [[nodiscard]] std::set<std::string> unmeasured_kernels() const {
        std::set<std::string> labels;
        for (const auto& [key, request] : found_)
            if (request.kernel == nullptr || request.kernel->is_fallback_device)
                labels.insert(kernel_label(*request.family, *request.operand, request.variant));
        return labels;
    }
    /// Whether no requested kernel is measured on any device.
    [[nodiscard]] bool has_no_matches() const {
        return !found_.empty() && std::all_of(found_.begin(), found_.end(),
                                              [](const auto& known) { return known.second.kernel == nullptr; });
    }
    /// One warning per other software whose kernels are used.
    [[nodiscard]] std::vector<std::string> warnings() {
        std::vector<std::string> all;
        for (auto at = others_.begin(); at != others_.end();) {
            const std::string& software = at->first;
            std::string labels;
            for (; at != others_.end() && at->first == software; ++at)
                labels += (labels.empty() ? "" : ", ") + at->second;
            all.push_back(fallback_warning(software_, target_device(), labels, software));
        }
        return all;
    }

private:
    /// A requested kernel and its calibration; null if not measured.
    struct requested_kernel {
        const operator_type* family;
        const operand_type* operand;
        std::string variant;
        const kernel_calibration* kernel;
    };
    /// The cache key of a query.
    static std::string key_of(const operator_shape& shape) {
        std::string key;
        for (const string_ref part : {string_ref(shape.type->name), string_ref(shape.operand->name), shape.variant})
            key.append(part.data(), part.size()) += '\n';
        for (std::size_t i = 0; i < shape.type->num_layer_shape_sizes; ++i)
            key += std::to_string(shape.layer_shape()[i]) + ' ';
        return key;
    }
    /// Whether two devices have the same chip: equal compute units and peaks, with any memory.
    static bool has_same_chip(const device& a, const device& b) noexcept {
        return a.vendor == b.vendor && a.num_compute_units == b.num_compute_units && a.fp32 == b.fp32 &&
               a.fp16 == b.fp16 && a.bf16 == b.bf16 && a.fp8 == b.fp8 && a.fp4 == b.fp4;
    }
    /// Whether the operand type of a kernel is the requested one, or both are 16-bit types.
    static bool has_same_activation_width(const kernel_calibration& c, const operand_type& requested) noexcept {
        const operand_type& measured_type = *find_operand_type(c.operand);
        return &measured_type == &requested || (measured_type.weight_bytes == requested.weight_bytes &&
                                                measured_type.activation_bytes == requested.activation_bytes &&
                                                measured_type.weight_bytes == measured_type.activation_bytes);
    }
    const kernel_calibration* find_measured(kernel_database& database, kernel_query query) {
        const kernel_match match =
            database.find_kernel(query, database.family().has_engine_specific_experts ? experts_by_ : products_by_);
        const auto is_same_software = [&](const kernel_calibration* k) {
            return k != nullptr && !is_fallback(database.family(), software_, k);
        };
        if (is_same_software(match.calibration)) return match.calibration;
        for (const device& sibling : devices) {
            if (&sibling == match.target_device || !has_same_chip(sibling, *match.target_device)) continue;
            query.device = std::string(sibling.names[0]);
            if (const kernel_calibration* candidate = database.find_kernel(query).calibration;
                is_same_software(candidate))
                return candidate;
        }
        return match.calibration;
    }
    /// The kernel of the same software on the vendor's device with the nearest bandwidth, with a wider interval.
    ///
    /// Efficiencies differ by 12 to 25 % between generations (KernelSight-LM, arXiv 2606.28565;
    /// docs/accuracy-serving.md).
    const kernel_calibration* find_on_similar_device(kernel_database& database, kernel_query query) {
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
                nearest = candidate;
                minimum = distance(d);
            }
        }
        if (nearest == nullptr) return nullptr;
        constexpr double generations = 0.32;  // log2 of 1.25
        kernel_calibration& widened = borrowed_.emplace_back(*nearest);
        widened.is_fallback_device = true;
        for (cross_validation_error* e : {&widened.error, &widened.unseen_shape_error}) {
            e->low -= generations;
            e->high += generations;
        }
        return &widened;
    }
    kernel_database& database_of(const std::string& family) {
        const auto known = shelves_.find(family);
        if (known != shelves_.end()) return known->second;
        return shelves_.try_emplace(family, *find_operator_type(family), calibrations_).first->second;
    }

    std::string device_, software_, version_;
    std::vector<std::string> calibrations_;
    std::string products_by_ = "dtype", experts_by_ = "experts dtype";
    std::unordered_map<std::string, kernel_database> shelves_;
    std::deque<kernel_calibration> borrowed_;
    std::unordered_map<std::string, requested_kernel> found_;
    std::set<std::pair<std::string, std::string>>
        others_;  ///< software that is used as a fallback, and the labels of its kernels
};

}  // namespace llmcost
