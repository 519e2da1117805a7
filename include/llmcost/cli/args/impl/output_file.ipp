// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/args/output_file.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <llmcost/base/inline.hpp>
#include <llmcost/files/regular_file.hpp>
#include <llmcost/files/system.hpp>
#include <llmcost/hub/signals.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::detail {

/// Writes a text; returns the error number, or 0.
[[nodiscard]] LLMCOST_INLINE int write_text(const open_file& file, std::string_view text) {
    int failure = 0;
    while (!text.empty() && failure == 0) {
        const std::int64_t written = sys::write(file.get(), text.data(), text.size());
        if (written >= 0) text.remove_prefix(static_cast<std::size_t>(written));
        if (written < 0 && errno != EINTR) failure = errno;
    }
    return failure;
}

/// Closes a file; returns an earlier error number, or that of closing.
[[nodiscard]] LLMCOST_INLINE int close_after(int failure, open_file& file) {
    const int closed = file.close();
    return failure != 0 ? failure : closed;
}

/// The file that a path leads to through links, and whether it may be replaced by another one.
struct output_place {
    std::string path;
    bool is_replaceable = false;
    unsigned mode = 0;  ///< permissions of the former file; 0: there is none
};

[[nodiscard]] LLMCOST_INLINE output_place find_output_place(const std::string& path) {
    output_place place{path, true, 0};
    std::error_code failure;
    if (const auto target = std::filesystem::canonical(path, failure); !failure) place.path = target.string();
    const sys::file_facts facts = sys::facts_of(place.path);
    if (facts.kind != sys::file_kind::missing) {
        place.is_replaceable =
            facts.kind == sys::file_kind::regular && facts.links == 1 && sys::is_writable(place.path);
        place.mode = facts.mode;
    } else {
        place.is_replaceable = !std::filesystem::is_symlink(path, failure);
    }
    return place;
}

/// The content of a regular file of at most 1 GiB; nothing for other files.
[[nodiscard]] LLMCOST_INLINE std::optional<std::string> former_content(const std::string& path) {
    constexpr std::size_t maximum = std::size_t{1} << 30;
    std::string reason;
    bool is_complete = false;
    const open_file file = open_regular(path, reason);
    std::string text = file ? read_prefix(file, maximum + 1, is_complete) : std::string();
    return is_complete && text.size() <= maximum ? std::optional(std::move(text)) : std::nullopt;
}

/// Writes the file directly. If that fails, a regular file gets its former content back, which needs no further space.
/// Returns the error number, or 0.
[[nodiscard]] LLMCOST_INLINE int overwrite(const std::string& path, std::string_view text) {
    const std::optional<std::string> former = former_content(path);
    open_file file(sys::open(path, former ? sys::open_mode::update : sys::open_mode::overwrite));
    if (!file) return errno;
    int failure = write_text(file, text);
    if (former) {
        const bool is_restored = failure != 0 && sys::rewind(file.get()) == 0 && write_text(file, *former) == 0;
        const int cut = sys::truncate(file.get(), is_restored ? former->size() : text.size());
        if (failure == 0 && cut != 0) failure = errno;
    }
    return close_after(failure, file);
}

/// Writes the text next to the file and gives it the file's name. Returns the error number, or 0.
[[nodiscard]] LLMCOST_INLINE int replace(const output_place& place, std::string_view text) {
    const std::string temporary = place.path + ".llmcost-" + std::to_string(sys::process_id());
    open_file file(sys::open(temporary, sys::open_mode::create));
    if (!file) return errno == ENOENT || errno == ENAMETOOLONG ? errno : overwrite(place.path, text);
    if (place.mode != 0) sys::set_permissions(file.get(), place.mode);
    int failure = close_after(write_text(file, text), file);
    if (failure == 0 && sys::rename(temporary, place.path) != 0) failure = errno;
    if (failure != 0) sys::remove(temporary);
    return failure;
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE void write_output_file(const std::string& path, std::string_view text) {
    const detail::hub::write_signal_guard guard({detail::hub::file_size_signal});
    const detail::output_place place = detail::find_output_place(path);
    const int failure = place.is_replaceable ? detail::replace(place, text) : detail::overwrite(place.path, text);
    if (failure != 0)
        throw error(errc::output, printable(path), "cannot be written: " + std::generic_category().message(failure));
}

}  // namespace llmcost
