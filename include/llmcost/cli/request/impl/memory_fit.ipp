// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/request/memory_fit.hpp>

#include <cstdint>
#include <string>
#include <string_view>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/device_options.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/devices/all.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/report/json_writer.hpp>
#include <llmcost/text/messages.hpp>
#include <llmcost/text/nearest_name.hpp>

namespace llmcost::cli::detail {

LLMCOST_INLINE std::uint64_t read_bytes(std::string_view option_name, std::string_view text) {
    constexpr std::string_view letters = "kmgt";
    const std::size_t end = text.find_first_not_of("0123456789._");
    std::string number(text.substr(0, end)), unit = lower(end == std::string_view::npos ? "" : text.substr(end));
    std::erase(number, '_');
    std::erase(unit, ' ');
    if (unit == "bytes" || unit == "byte") unit = "b";
    const std::size_t power = unit.empty() ? std::string_view::npos : letters.find(unit.front());
    const std::string prefix_rest = unit.empty() ? std::string() : unit.substr(1);
    const bool decimal = prefix_rest == "b", binary = prefix_rest.empty() || prefix_rest == "ib" || prefix_rest == "i";
    const bool is_bytes = unit == "b";
    if (number.empty() || (!is_bytes && (power == std::string_view::npos || (!decimal && !binary))))
        throw_usage(option_name,
                    "expected a size with a unit, such as 24GB (decimal), 24GiB or 24G (binary), found " + quote(text));
    double bytes = parse_real(option_name, number, 0, 1e15);
    for (std::size_t i = 0; !is_bytes && i <= power; ++i) bytes *= decimal ? 1000 : 1024;
    if (bytes < 1 || bytes > 9e18)
        throw_usage(option_name, "expected a size from 1 byte to 9 EB, found " + quote(text));
    return static_cast<std::uint64_t>(bytes);
}

/// `; use apple_m4_16gb, apple_m4_24gb`: the devices of each memory size; empty if there is none.
LLMCOST_INLINE std::string memory_sizes_of(const device& base_device) {
    std::string out;
    for (const device_memory_size& size : llmcost::detail::device_memory_sizes)
        if (size.device_name == base_device.names[0])
            out.append(out.empty() ? "; use " : ", ").append(std::string_view(size.names[0]));
    return out;
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE std::string other_reading_of(std::string_view size) {
    constexpr std::string_view letters = "KMGTkmgt";
    std::string other(size);
    while (!other.empty() && other.back() == ' ') other.pop_back();
    if (!other.empty() && (other.back() == 'B' || other.back() == 'b')) {
        other.pop_back();
        if (other.empty() || letters.find(other.back()) == std::string_view::npos) return {};  // bytes, or 24GiB
    } else {
        if (other.empty() || letters.find(other.back()) == std::string_view::npos) return {};
        other += 'B';
    }
    return printable(other) + " is " + in_bytes(count(detail::read_bytes("--memory", other)));
}

LLMCOST_INLINE memory_limit memory_limit_on(const device& target_device, std::int64_t devices) {
    if (target_device.memory_bytes() <= 0) return {};
    const std::string prefix = devices > 1 ? "each of " + std::to_string(devices) + " x " : std::string();
    return {static_cast<std::uint64_t>(target_device.memory_bytes()), prefix + printable(target_device.title)};
}

LLMCOST_INLINE memory_limit parse_memory_limit(const arguments& args) {
    if (args.has(option::device) && args.has(option::memory))
        throw_usage("--memory", "cannot be combined with --device");
    if (args.has(option::memory)) {
        const std::string_view text = args.text(option::memory);
        return {detail::read_bytes("--memory", text), printable(text), other_reading_of(text)};
    }
    if (!args.has(option::device)) return {};
    const std::string_view name = args.text(option::device);
    const device* const target_device = find_device(name);
    if (target_device == nullptr) {
        name_suggestions near(name);
        for (const device& d : devices) near.add_candidate(std::string_view(d.names[0]));
        throw_usage("--device", "no device " + quote(name) +
                                    near.suggestion_text(" (see llmcost devices; or give its size with --memory)"));
    }
    if (target_device->memory_bytes() <= 0)
        throw_usage("--device", "the datasheet of " + printable(target_device->title) + " has no memory size" +
                                    detail::memory_sizes_of(*target_device));
    return memory_limit_on(*target_device);
}

LLMCOST_INLINE std::string memory_fit_text(const memory_limit& limit, count needed, std::string_view assumptions) {
    if (!limit.is_set()) return {};
    const count available(limit.bytes);
    const std::string other_reading = limit.other_reading.empty() ? std::string() : "; " + limit.other_reading;
    const std::string usage =
        in_bytes(needed) + " of " + in_bytes(available) + " (" + limit.label + other_reading + "), ";
    return (limit.fits(needed) ? "Fits: " + usage + in_bytes(available - needed) + " free"
                               : "Does not fit: " + usage + in_bytes(needed - available) + " over the limit") +
           (assumptions.empty() ? std::string() : "; with " + std::string(assumptions)) + '\n';
}

LLMCOST_INLINE void write_memory_fit(json_writer& json, const memory_limit& limit, count needed) {
    json.key("available");
    if (!limit.is_set()) {
        json.null().key("fits").null();
        return;
    }
    json.value(count(limit.bytes)).member("fits", limit.fits(needed));
}

}  // namespace llmcost::cli
