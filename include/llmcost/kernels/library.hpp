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

#include <llmcost/kernels/shelf.hpp>
#include <llmcost/serving/step.hpp>

// The measured kernels of one engine on one device, for all families.
namespace llmcost {

/// Finds what measurements say of a model's kernels, reading each calibration once.
class kernel_library final : public kernel_source {
public:
    kernel_library(std::string device, std::string software, std::string version, const std::string& calibration)
        : device_(std::move(device)),
          software_(std::move(software)),
          version_(std::move(version)),
          calibrations_(calibrations_at(calibration)) {}

    /// The device, which `by` says.
    [[nodiscard]] const device& on(std::string_view by = "device", device_word may_name = device_word::name_or_file) {
        return shelf("gemm").device_of(device_, by, may_name);
    }
    /// Which options or columns say the types of products and of routed experts; empty: none that would be heard.
    void types_said_by(std::string_view products, std::string_view experts) {
        products_by_ = products, experts_by_ = experts;
    }

    /// The kernel for an operand and a variant at a site.
    ///
    /// Where the software was not measured on this device, its kernel on a device with the same chip goes before another
    /// software's; where the variant was not measured, that of 16 bits, of tokens that are spread otherwise, or of any map,
    /// stands in; where nothing was measured here, what the software reaches of another device's datasheet.
    const kernel_calibration* find(const operator_shape& shape) override {
        kernel_choice asked{device_, software_, version_, "", std::string(shape.operand->name), std::string(shape.variant),
                            {}};
        std::copy_n(shape.site(), shape.family->sites, asked.site.begin());
        std::string key = key_of(shape);
        if (const auto known = found_.find(key); known != found_.end()) return known->second.kernel;
        if (shape.work().between_nodes) {  // of no device
            found_.emplace(std::move(key), asked_kernel{shape.family, shape.operand, std::string(shape.variant), nullptr});
            return nullptr;
        }
        kernel_shelf& from = shelf(std::string(shape.family->name));
        std::vector<string_ref> words = stand_ins(*shape.family, shape.variant);
        words.insert(words.begin(), shape.variant);
        const auto by_any_word = [&](auto look) -> const kernel_calibration* {
            for (const string_ref word : words) {
                asked.variant = word;
                if (const kernel_calibration* found = look()) return found;
            }
            return nullptr;
        };
        const kernel_calibration* kernel = by_any_word([&] { return measured(from, asked); });
        if (kernel == nullptr) kernel = by_any_word([&] { return borrowed(from, asked); });
        if (stands_in(*shape.family, software_, kernel))
            others_.emplace(kernel->software, measured_words(*shape.family, *shape.operand, shape.variant));
        if (kernel != nullptr && kernel->takes_decodes != taken_decodes::no &&
            (kernel->of_another_device || stands_in(*shape.family, software_, kernel))) {
            kernel_calibration& apart = borrowed_.emplace_back(*kernel);  // how a call mixes is the software's on a chip
            apart.takes_decodes = taken_decodes::no;
            kernel = &apart;
        }
        return found_.emplace(std::move(key), asked_kernel{shape.family, shape.operand, std::string(shape.variant), kernel})
            .first->second.kernel;
    }
    /// What was asked for so far and nobody measured on this device: kernels of another or typical efficiencies answer.
    [[nodiscard]] std::set<std::string> unmeasured() const {
        std::set<std::string> words;
        for (const auto& [key, asked] : found_)
            if (asked.kernel == nullptr || asked.kernel->of_another_device)
                words.insert(measured_words(*asked.family, *asked.operand, asked.variant));
        return words;
    }
    /// Whether measurements said nothing of all that was asked for so far, of this device or of another.
    [[nodiscard]] bool found_nothing() const {
        return !found_.empty() &&
               std::all_of(found_.begin(), found_.end(), [](const auto& known) { return known.second.kernel == nullptr; });
    }
    /// Which other software's kernels were found so far, one note for each.
    [[nodiscard]] std::vector<std::string> notes() {
        std::vector<std::string> all;
        for (auto at = others_.begin(); at != others_.end();) {
            const std::string& software = at->first;
            std::string words;
            for (; at != others_.end() && at->first == software; ++at) words += (words.empty() ? "" : ", ") + at->second;
            all.push_back(stand_in_note(software_, on(), words, software));
        }
        return all;
    }

private:
    /// What was asked for, and the kernel that answers; null where nobody measured one.
    struct asked_kernel {
        const operator_family* family;
        const operand_row* operand;
        std::string variant;
        const kernel_calibration* kernel;
    };
    /// What an answer depends on beside the device and the software.
    static std::string key_of(const operator_shape& shape) {
        std::string key;
        for (const string_ref part : {string_ref(shape.family->name), string_ref(shape.operand->name), shape.variant})
            key.append(part.data(), part.size()) += '\n';
        for (std::size_t i = 0; i < shape.family->sites; ++i) key += std::to_string(shape.site()[i]) + ' ';
        return key;
    }
    /// Whether two devices have the same chip: as many units with the same peaks, whatever memory stands beside it.
    static bool same_chip(const device& a, const device& b) noexcept {
        return a.vendor == b.vendor && a.units == b.units && a.fp32 == b.fp32 && a.fp16 == b.fp16 && a.bf16 == b.bf16 &&
               a.fp8 == b.fp8 && a.fp4 == b.fp4;
    }
    /// Whether a kernel's operand is the one that is asked for, or another of 16 bits for one of these.
    static bool is_as_wide(const kernel_calibration& c, const operand_row& asked) noexcept {
        const operand_row& own = *find_operand(c.operand);
        return &own == &asked || (own.weight_bytes == asked.weight_bytes && own.activation_bytes == asked.activation_bytes &&
                                  own.weight_bytes == own.activation_bytes);
    }
    const kernel_calibration* measured(kernel_shelf& from, kernel_choice asked) {
        const chosen_kernel here = from.choose(asked, from.family().experts ? experts_by_ : products_by_);
        const auto is_own = [&](const kernel_calibration* k) {
            return k != nullptr && !stands_in(from.family(), software_, k);
        };
        if (is_own(here.kernel)) return here.kernel;
        for (const device& sibling : devices) {
            if (&sibling == here.on || !same_chip(sibling, *here.on)) continue;
            asked.device = std::string(sibling.names[0]);
            if (const kernel_calibration* there = from.choose(asked).kernel; is_own(there)) return there;
        }
        return here.kernel;
    }
    /// The software's kernel on the vendor's device whose bandwidth is nearest, with a wider interval: efficiencies carry
    /// over between generations to 12 to 25 % (KernelSight-LM, arXiv 2606.28565; docs/accuracy-serving.md).
    const kernel_calibration* borrowed(kernel_shelf& from, kernel_choice asked) {
        if (software_.empty() || calibrations_.empty()) return nullptr;
        const device& here = on();
        const auto distance = [&](const device& d) {
            return std::fabs(std::log(d.memory_bandwidth / here.memory_bandwidth));
        };
        const kernel_calibration* nearest = nullptr;
        double least = 0;
        for (const device& d : devices) {
            if (&d == &here || !(d.vendor == here.vendor) || !(d.memory_bandwidth > 0)) continue;
            if (nearest != nullptr && distance(d) >= least) continue;
            asked.device = std::string(d.names[0]);
            operator_shape any{.family = &from.family(), .operand = find_operand(asked.operand), .variant = asked.variant};
            for (std::int64_t& size : any.sizes) size = 1;
            if (!can_price(d, any.work())) continue;
            const kernel_calibration* there = from.choose(asked).kernel;
            if (there != nullptr && there->software == software_ && is_as_wide(*there, *any.operand))
                nearest = there, least = distance(d);
        }
        if (nearest == nullptr) return nullptr;
        constexpr double generations = 0.32;  // log2 of 1.25
        kernel_calibration& wide = borrowed_.emplace_back(*nearest);
        wide.of_another_device = true;
        for (held_out_error* e : {&wide.error, &wide.error_elsewhere}) e->low -= generations, e->high += generations;
        return &wide;
    }
    kernel_shelf& shelf(const std::string& family) {
        const auto known = shelves_.find(family);
        if (known != shelves_.end()) return known->second;
        return shelves_.try_emplace(family, *find_family(family), calibrations_).first->second;
    }

    std::string device_, software_, version_;
    std::vector<std::string> calibrations_;
    std::string products_by_ = "dtype", experts_by_ = "experts dtype";
    std::unordered_map<std::string, kernel_shelf> shelves_;
    std::deque<kernel_calibration> borrowed_;
    std::unordered_map<std::string, asked_kernel> found_;
    std::set<std::pair<std::string, std::string>> others_;  ///< what software stands in, and for what
};

}  // namespace llmcost
