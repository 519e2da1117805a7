// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/hub/folder.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <llmcost/base/inline.hpp>
#include <llmcost/files/regular_file.hpp>
#include <llmcost/files/system.hpp>
#include <llmcost/hub/text.hpp>
#include <llmcost/text/error.hpp>

namespace llmcost::detail::hub {

[[noreturn]] LLMCOST_INLINE void fail_io(const std::filesystem::path& path, std::string_view action,
                                         std::error_code code) {
    throw error(errc::io, printable(path.string()), std::string(action) + ": " + printable(code.message()));
}

[[noreturn]] LLMCOST_INLINE void fail_io(const std::filesystem::path& path, std::string_view action) {
    fail_io(path, action, {errno, std::generic_category()});
}

/// Opens the folder `directory` in `root`. Creates both if they are missing.
///
/// `root` is the user's own choice and may be a link; below it a link may be another user's, who leads elsewhere.
LLMCOST_INLINE sys::directory open_folder(const std::filesystem::path& root, const std::filesystem::path& directory) {
    std::error_code failure;
    std::filesystem::create_directories(root, failure);
    if (failure) fail_io(root, "cannot create the folder", failure);
    sys::directory folder(root);
    if (!folder) fail_io(root, "cannot open the folder");
    std::filesystem::path current = root;
    for (const std::filesystem::path& name : directory) {
        current /= name;
        sys::directory next = folder.open_folder(name);
        if (!next && errno == ENOENT) {
            if (!folder.create_folder(name)) fail_io(current, "cannot create the folder");
            next = folder.open_folder(name);
        }
        if (!next) fail_io(current, "expected a folder of the cache that is no link");
        folder = std::move(next);
    }
    return folder;
}

/// A unique name next to `name`, in the spelling of the Hugging Face tools.
LLMCOST_INLINE std::string make_temporary_name(const std::filesystem::path& name, std::string_view suffix) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::random_device random;
    std::string out = name.string() + '.';
    for (auto bits = random(), count = 8U; count > 0; --count, bits >>= 4U) out += digits[bits & 0xfU];
    return out + std::string(suffix);
}

LLMCOST_INLINE unfinished::unfinished(const std::filesystem::path& root, const std::filesystem::path& directory,
                                      std::string_view suffix)
    : folder_(open_folder(root, directory.parent_path())),
      folder_path_((root / directory).parent_path()),
      target_(directory.filename().string()),
      name_(make_temporary_name(target_, suffix)) {}

LLMCOST_INLINE void unfinished::write(std::string_view content) {
    open_file file(folder_.create_file(name_));
    if (!file) fail_io(folder_path_ / name_, "cannot create the file");
    is_created_ = true;
    int failure = 0;
    while (!content.empty() && failure == 0) {
        const std::int64_t written = sys::write(file.get(), content.data(), content.size());
        if (written >= 0) content.remove_prefix(static_cast<std::size_t>(written));
        if (written < 0 && errno != EINTR) failure = errno;
    }
    if (failure == 0 && sys::flush_to_disk(file.get()) != 0) failure = errno;
    if (const int closed = file.close(); failure == 0) failure = closed;
    if (failure != 0) fail_io(folder_path_ / name_, "cannot write the file", {failure, std::generic_category()});
}

LLMCOST_INLINE bool unfinished::link(const std::filesystem::path& to) {
    is_created_ = folder_.create_link(to, name_);
    return is_created_;
}

LLMCOST_INLINE void unfinished::finish() {
    if (!folder_.rename(name_, target_)) {
        fail_io(folder_path_ / target_, "cannot put the file in its place");
    }
    is_created_ = false;
}

LLMCOST_INLINE void write_atomically(const std::filesystem::path& root, const std::filesystem::path& directory,
                                     std::string_view content, std::string_view suffix) {
    unfinished file(root, directory, suffix);
    file.write(content);
    file.finish();
}

}  // namespace llmcost::detail::hub
