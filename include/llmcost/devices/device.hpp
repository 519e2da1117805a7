// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <llmcost/base/dtype.hpp>
#include <llmcost/base/string_ref.hpp>

namespace llmcost {

/// The datasheet figures of a processor; 0 where the datasheet has none.
///
/// Peaks are for dense operands, in TFLOP/s (int8: TOP/s). Bytes are decimal, except `visible_gibibytes`. Links are per
/// direction and device. The first entry of `names` is used in output.
struct device {
    static constexpr std::size_t max_names = 3;

    string_ref names[max_names]{};  ///< `h200_sxm`, then aliases
    string_ref title{};             ///< `H200 SXM`
    string_ref vendor{};
    double fp64 = 0;         ///< vector units
    double fp64_tensor = 0;  ///< matrix units
    double fp32 = 0;         ///< vector units
    double tf32 = 0;
    double bf16 = 0;
    double fp16 = 0;
    double fp8 = 0;
    double int8 = 0;
    double fp4 = 0;
    double memory_gigabytes = 0;      ///< marketing size
    double memory_bandwidth = 0;      ///< GB/s
    double cache_megabytes = 0;       ///< last-level cache
    double num_compute_units = 0;     ///< streaming multiprocessors, compute units or cores
    double link_bandwidth = 0;        ///< GB/s to devices of the same node
    double pcie_bandwidth = 0;        ///< GB/s
    double thermal_design_watts = 0;  ///< thermal design power of the board
    double visible_gibibytes = 0;     ///< memory that the driver reports to programs (cudaMemGetInfo), in GiB
    double price_per_hour = 0;        ///< set by the user, in any currency
    double devices_per_node = 0;      ///< devices joined by links; 0: at most eight
    double network_bandwidth = 0;     ///< GB/s to other nodes, set by the user
    double fp32_lanes = 128;          ///< FP32 lanes of a compute unit; NVIDIA: 64 at compute capability 7.0 to 8.0

    /// Peak of the matrix units for operands of a type, in FLOP/s; 0 if they do not support it.
    ///
    /// Float32 uses the vector units, as tf32 is a different precision. Int4 operands are unpacked to bfloat16.
    [[nodiscard]] constexpr double peak(dtype type) const noexcept {
        switch (type) {
            case dtype::float64: return 1e12 * (fp64_tensor > fp64 ? fp64_tensor : fp64);
            case dtype::float32: return 1e12 * fp32;
            case dtype::float16: return 1e12 * fp16;
            case dtype::bfloat16:
            case dtype::int4: return 1e12 * bf16;
            case dtype::float8_e4m3fn:
            case dtype::float8_e5m2: return 1e12 * fp8;
            case dtype::int8: return 1e12 * int8;
            case dtype::unspecified:
            case dtype::complex64: break;
        }
        return 0;
    }
    /// Clock of the compute units in Hz, from the fp32 peak: two FLOPs per lane and cycle; 0 if unknown.
    [[nodiscard]] constexpr double clock_hertz() const noexcept {
        return num_compute_units > 0 ? 1e12 * fp32 / (2 * fp32_lanes * num_compute_units) : 0;
    }
    /// The bytes that programs can allocate: those that the driver reports, else the marketing size; 0 if unknown.
    [[nodiscard]] constexpr double memory_bytes() const noexcept {
        return visible_gibibytes > 0 ? visible_gibibytes * 1024 * 1024 * 1024 : memory_gigabytes * 1e9;
    }
    friend constexpr bool operator==(const device&, const device&) = default;
};

namespace detail {

/// Iterates over the letters and digits of a device name in lower case, so that `H200-SXM` equals `h200_sxm`.
class plain_name {
public:
    constexpr explicit plain_name(string_ref text) noexcept : text_(text) {}
    /// The next letter or digit; 0 at the end.
    constexpr char next() noexcept {
        while (!text_.empty()) {
            char c = text_.front();
            text_.remove_prefix(1);
            if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
            if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+') return c;
        }
        return 0;
    }

private:
    string_ref text_;
};

constexpr bool same_device_name(string_ref a, string_ref b) noexcept {
    plain_name left(a), right(b);
    for (;;) {
        const char c = left.next();
        if (c != right.next()) return false;
        if (c == 0) return true;
    }
}

/// A name without leading vendors and brands: `RTX 4090` and `4090` for `NVIDIA GeForce RTX 4090`.
constexpr string_ref without_brand(string_ref name) noexcept {
    constexpr literal brands[]{"nvidia",   "geforce", "quadro", "tesla", "rtx",    "gtx",   "amd",
                               "instinct", "radeon",  "apple",  "intel", "google", "cloud", "dgx"};
    const auto is_separator = [](char c) { return c == ' ' || c == '_' || c == '-'; };
    for (bool is_changed = true; is_changed;) {
        is_changed = false;
        while (!name.empty() && is_separator(name.front())) name.remove_prefix(1);
        for (const literal brand : brands) {
            std::size_t n = 0;
            const auto lowered = [&](std::size_t i) {
                return name[i] >= 'A' && name[i] <= 'Z' ? static_cast<char>(name[i] - 'A' + 'a') : name[i];
            };
            while (n < name.size() && brand[n] != 0 && lowered(n) == brand[n]) ++n;
            // "RTX4090" has no separator
            if (brand[n] != 0 || n == name.size() || !(is_separator(name[n]) || (name[n] >= '0' && name[n] <= '9')))
                continue;
            name.remove_prefix(n);
            is_changed = true;
        }
    }
    return name;
}

/// Whether a name without brand is the name of a device without its brand.
constexpr bool has_name_without_brand(const device& d, string_ref name) noexcept {
    for (const string_ref known : d.names)
        if (!known.empty() && same_device_name(without_brand(known), name)) return true;
    return same_device_name(without_brand(d.title), name);
}

}  // namespace detail

/// Whether a device has a name, ignoring case and characters other than letters and digits.
[[nodiscard]] constexpr bool has_name(const device& d, string_ref name) noexcept {
    for (const string_ref known : d.names)
        if (!known.empty() && detail::same_device_name(known, name)) return true;
    return detail::same_device_name(d.title, name);
}

}  // namespace llmcost
