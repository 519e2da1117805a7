// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include <unistd.h>

#include "weight_bytes.hpp"

// Files of weights, written into a folder that goes with the test.
namespace llmcost::testing {

class scratch_folder {
public:
    scratch_folder() {
        static int made = 0;
        path_ = std::filesystem::temp_directory_path() /
                ("llmcost_weights_" + std::to_string(::getpid()) + '_' + std::to_string(made++));
        std::filesystem::create_directories(path_);
    }
    scratch_folder(const scratch_folder&) = delete;
    scratch_folder& operator=(const scratch_folder&) = delete;
    ~scratch_folder() {
        std::error_code none;
        std::filesystem::remove_all(path_, none);
    }

    [[nodiscard]] std::string path() const { return path_.string(); }
    [[nodiscard]] std::string path(const std::string& name) const { return (path_ / name).string(); }
    std::string write(const std::string& name, std::string_view bytes) const {
        std::ofstream(path(name), std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        return path(name);
    }

private:
    std::filesystem::path path_;
};

}  // namespace llmcost::testing
