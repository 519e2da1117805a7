// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <llmcost/cli/arguments.hpp>
#include <llmcost/cli/device_options.hpp>
#include <llmcost/report/json_writer.hpp>

// Whether something fits: the memory that a command line names, and the one line that every answer about it ends with.
namespace llmcost::cli {

namespace option {

inline constexpr option_row memory{"--memory", value_kind::text, "SIZE", "or so much memory: 24GB, 80GiB, 24G (binary)"};

}  // namespace option

/// Where memory is asked for: a device, or a size.
inline constexpr std::array room_options{option::device, option::memory};

namespace detail {

/// `24GB` in bytes: KB, MB, GB, TB are powers of 1000; KiB ... and a letter alone are powers of 1024.
inline std::uint64_t read_bytes(std::string_view where, std::string_view text) {
    constexpr std::string_view letters = "KMGT";
    const std::size_t end = text.find_first_not_of("0123456789.");
    const std::string_view number = text.substr(0, end),
                           unit = end == std::string_view::npos ? std::string_view{} : text.substr(end);
    const std::size_t power = unit.empty() ? std::string_view::npos : letters.find(unit.front());
    const bool decimal = unit.size() == 2 && unit[1] == 'B', binary = unit.size() == 1 || unit.substr(1) == "iB";
    const bool bare = unit.empty() || unit == "B";
    if (!bare && (power == std::string_view::npos || (!decimal && !binary)))
        refuse(where, "expected a size like 24GB, 80GiB or 24G, found " + in_quotes(text));
    double bytes = read_real(where, number, 0, 1e15);
    for (std::size_t i = 0; !bare && i <= power; ++i) bytes *= decimal ? 1000 : 1024;
    if (bytes < 1 || bytes > 9e18) refuse(where, "expected a size from 1 byte to 9 EB, found " + in_quotes(text));
    return static_cast<std::uint64_t>(bytes);
}

}  // namespace detail

/// Memory that is asked about; no bytes where the command line names none.
struct room_asked {
    std::uint64_t bytes = 0;
    std::string of{};  ///< printable: `H100 SXM`, `24GB`

    [[nodiscard]] bool asked() const noexcept { return bytes != 0; }
    [[nodiscard]] bool fits(count needed) const { return needed <= count(bytes); }
};

/// The memory of each of some devices; none is asked about where the datasheet says no size.
[[nodiscard]] inline room_asked room_on(const device& on, std::int64_t devices = 1) {
    if (on.memory_gigabytes <= 0) return {};
    const std::string each = devices > 1 ? "each of " + std::to_string(devices) + " x " : std::string();
    return {static_cast<std::uint64_t>(on.memory_gigabytes * 1e9), each + printable(on.title)};
}

/// The memory that `--device` or `--memory` names.
[[nodiscard]] inline room_asked read_room(const arguments& given) {
    if (given.has(option::device) && given.has(option::memory)) refuse("--memory", "cannot stand together with --device");
    if (given.has(option::memory)) {
        const std::string_view text = given.text(option::memory);
        return {detail::read_bytes("--memory", text), printable(text)};
    }
    if (!given.has(option::device)) return {};
    const std::string_view name = given.text(option::device);
    const device* const on = find_device(name);
    if (on == nullptr) {
        nearest_names near(name);
        for (const device& d : devices) near.offer(std::string_view(d.names[0]));
        refuse("--device", "no device " + in_quotes(name) + near.hint(" (see llmcost devices)"));
    }
    if (on->memory_gigabytes <= 0)
        refuse("--device", "the datasheet of " + printable(on->title) + " says no size of memory");
    return room_on(*on);
}

/// `H100 SXM: 25.3 GiB of 74.5 GiB, fits with 49.2 GiB to spare`.
[[nodiscard]] inline std::string line_on_room(const room_asked& room, count needed) {
    if (!room.asked()) return {};
    const count there(room.bytes);
    const std::string both = room.of + ": " + in_bytes(needed) + " of " + in_bytes(there);
    return (room.fits(needed) ? both + ", fits with " + in_bytes(there - needed) + " to spare"
                              : both + ", does not fit: " + in_bytes(needed - there) + " too much") +
           '\n';
}

/// `"available"` and `"fits"`; null where no memory is asked about.
inline void put_room(json_writer& json, const room_asked& room, count needed) {
    json.key("available");
    if (!room.asked()) {
        json.null().key("fits").null();
        return;
    }
    json.value(count(room.bytes)).member("fits", room.fits(needed));
}

/// How a program ends that was asked whether something fits.
[[nodiscard]] inline exit_code code_of(const room_asked& room, count needed) {
    return !room.asked() || room.fits(needed) ? exit_code::ok : exit_code::does_not_fit;
}

}  // namespace llmcost::cli
