// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/files/system.hpp>

#include <filesystem>
#include <string>
#include <string_view>

// Writing below a folder that others may write to as well: every step from an open folder, never through a link.
namespace llmcost::detail::hub {

/// A file or link under a temporary name, which becomes `directory` in `root` completely or leaves no trace.
class unfinished {
public:
    unfinished(const std::filesystem::path& root, const std::filesystem::path& directory, std::string_view suffix);
    unfinished(const unfinished&) = delete;
    unfinished& operator=(const unfinished&) = delete;
    ~unfinished() {
        if (is_created_) folder_.remove(name_);
    }

    /// Writes `content` and waits until it is on the disk, so that a rename never leads to an empty file.
    void write(std::string_view content);

    /// Makes a link to `to`; false where the file system has none.
    [[nodiscard]] bool link(const std::filesystem::path& to);

    void finish();

private:
    sys::directory folder_;
    std::filesystem::path folder_path_;  ///< for messages
    std::string target_;
    std::string name_;
    bool is_created_ = false;
};

void write_atomically(const std::filesystem::path& root, const std::filesystem::path& directory,
                      std::string_view content, std::string_view suffix);

}  // namespace llmcost::detail::hub

#ifndef LLMCOST_COMPILED
#include <llmcost/hub/impl/folder.ipp>  // IWYU pragma: export
#endif
