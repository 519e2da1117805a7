// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <list>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/files/user_files.hpp>
#include <llmcost/json.hpp>
#include <llmcost/kernels/calibration_file.hpp>
#include <llmcost/latency/calibration.hpp>
#include <llmcost/latency/operand_types.hpp>
#include <llmcost/latency/operator_types.hpp>
#include <llmcost/latency/roofline.hpp>

// Devices, and measured kernels for a query.
namespace llmcost {

/// A query for a kernel. An empty string matches everything.
struct kernel_query {
    std::string device, software, version, kernel, operand, variant;
    std::array<std::int64_t, max_operator_sizes> layer_shape{};  ///< of the operator type
    friend auto operator<=>(const kernel_query&, const kernel_query&) = default;
};

/// The result of a query. Without a calibration, default efficiencies apply.
struct kernel_match {
    const device* target_device = nullptr;
    const operand_type* operand = nullptr;
    string_ref variant{};
    const kernel_calibration* calibration = nullptr;
};

/// Whether a kernel belongs to another software than the requested one. A library of the operator type (NCCL) does not.
[[nodiscard]] inline bool is_fallback(const operator_type& family, std::string_view software,
                                      const kernel_calibration* k) {
    return k != nullptr && !software.empty() && !(k->software == software) && !(k->software == family.name);
}
/// The properties of a calibrated kernel, as `generation_attention bfloat16 fp8`.
[[nodiscard]] std::string kernel_label(const operator_type& family, const operand_type& operand, string_ref variant);
/// The warning for kernels of another software.
[[nodiscard]] std::string fallback_warning(std::string_view name, const device& device, const std::string& labels,
                                           std::string_view replacement);

/// What a device string may be. Only options may name files, rows of tables may not.
enum class device_lookup { name, name_or_file };

/// A cache of devices and calibrations.
class kernel_database {
public:
    /// `calibrations` (`calibration_paths`): a file, or folders with
    /// DEVICE/OPERATOR_TYPE/SOFTWARE-VERSION/OPERAND-VARIANT.json.
    kernel_database(const operator_type& family, std::vector<std::string> calibrations)
        : family_(family), calibration_paths_(std::move(calibrations)) {
        is_one_file_ = calibration_paths_.size() == 1 && !is_folder_at(calibration_paths_.front());
    }

    [[nodiscard]] const operator_type& family() const noexcept { return family_; }

    /// Reads a calibration file that an option names, before rows need it.
    void preload() {
        if (is_one_file_) (void)document_at(calibration_paths_.front());
    }
    /// The device with a name or in a file. Throws: `usage` with `source` if there is none.
    [[nodiscard]] const device& resolve_device(const std::string& name, std::string_view source = "device",
                                               device_lookup may_name = device_lookup::name_or_file);
    /// The device, operand type and kernel for a query.
    ///
    /// The kernel has the requested operand and variant. Preferred are, in this order:
    /// - the same software, then version, then kernel name;
    /// - the nearest layer shape, then the most layer shapes;
    /// - the shortest launch, as in a CUDA graph.
    ///
    /// Software and version are those of files, which are read lazily. The last name in order is the newest version.
    /// Among kernels of other software, those measured without host time are preferred.
    /// Throws: `usage` for an unknown device or operand type, or without a peak. `type_by`: the source of the operand
    /// type.
    [[nodiscard]] kernel_match find_kernel(const kernel_query& name, std::string_view type_by = "dtype");
    /// Throws: `usage` if the datasheet does not have the peak or bandwidth of an operator.
    static void validate_operand(const device& device, const operator_shape& shape, std::string_view type_by = "dtype");
    /// The device, operand type and kernel for a query, with a fallback to other variants (`fallback_variants`).
    [[nodiscard]] kernel_match find_nearest_kernel(kernel_query requested, std::string_view type_by = "dtype");
    /// Whether a measurement includes the host's launch: far longer than the default launch of the operator type.
    [[nodiscard]] static bool includes_host_time(const kernel_calibration& c, const operator_shape& shape) noexcept {
        return c.roofline_model.launch > 2 * detail::typical_of(shape).roofline_model.launch;
    }
    /// Whether the host's launch hides the time of the device at most sizes.
    ///
    /// The longest launch of a kernel without host time is 3.1 times the default: vLLM's decode attention with heads of
    /// 512 (vllm_flash_attn_fa4). vLLM's fp8_block products on B200 have 11.5 times the default.
    [[nodiscard]] static bool is_hidden_by_host(const kernel_calibration& c, const operator_shape& shape) noexcept {
        return c.roofline_model.launch > 4 * detail::typical_of(shape).roofline_model.launch;
    }
    /// A kernel of other software for a query whose own kernel includes the host's launch; null if there is none.
    ///
    /// An engine launches its kernels from a CUDA graph, or ahead of the device, so that the host's time is hidden. The
    /// measurement is the maximum of both times, and shows the device's time at large sizes only. The result is the
    /// kernel with the nearest time at the largest measured size, among those that
    /// - have the same operand type, may replace an engine's kernels and exclude the host's launch;
    /// - were measured at a layer shape at most half an octave farther than that of the own kernel.
    [[nodiscard]] const kernel_calibration* find_without_host_time(const kernel_query& name,
                                                                   const kernel_calibration& own);
    /// The names of other kernels that match a query, for the kernel that was found.
    [[nodiscard]] std::set<string_ref> fallback_kernels(const kernel_query& name, kernel_match found);

private:
    /// The operand types of a device, and how to select the default one.
    static std::string operands_of(const device& device, std::string_view type_by);
    /// Whether a measured operand type has the same cost: equal widths and peak, without quantization (bfloat16,
    /// float16).
    static bool can_replace(const operand_type& measured, const operand_type& name, const device& device);
    /// The best kernel of a file for a query; null if there is none.
    const kernel_calibration* best_match(const calibration_document& file, const kernel_match& found,
                                         const kernel_query& name) const;
    /// The canonical name of the requested variant. Stored here, as the caller's string may end its lifetime.
    string_ref variant_of(const kernel_query& name, const operand_type& operand);
    const device& find_or_load_device(const std::string& requested, std::string_view source, device_lookup may_name);
    const std::vector<std::string>& known_files_for(const kernel_match& found, const kernel_query& name);
    /// Files that may contain a kernel: DEVICE/OPERATOR_TYPE/SOFTWARE-VERSION/OPERAND-VARIANT.json.
    ///
    /// The requested software and version first, then the exact operand type.
    [[nodiscard]] std::vector<std::string> files_for(const kernel_match& found, const kernel_query& requested) const;
    const calibration_document* calibration_at(const std::string& path, const device& d);
    const calibration_document& document_at(const std::string& path);

    const operator_type& family_;
    std::vector<std::string> calibration_paths_;
    bool is_one_file_ = false;
    std::set<std::string> variants_;
    std::unordered_map<std::string, std::pair<config_document, device>> files_;
    std::unordered_map<std::string, const device*> devices_;
    std::unordered_map<std::string, std::vector<std::string>> paths_;  ///< files by query
    std::unordered_map<std::string, calibration_document> calibrations_;
};

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/kernels/impl/kernel_database.ipp>  // IWYU pragma: export
#endif
