// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/hub.hpp>
#include <llmcost/hub/hash.hpp>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <sys/resource.h>

#include "loopback_server.hpp"

inline const std::string first_commit(40, '1');
inline const std::string second_commit(40, '2');
inline const std::string small_content = R"({"model_type": "llama"})";
inline const std::string first_blob = llmcost::detail::hub::git_name(small_content);
inline const std::string second_blob = llmcost::detail::hub::sha256("{}");
inline const std::string third_blob = llmcost::detail::hub::git_name("{}");
inline const std::string test_token = "hf_TestTokenThatIsNobodysSecret0123456";

/// A folder of its own, which goes with the object.
class temporary_folder {
public:
    temporary_folder() {
        std::string name = (std::filesystem::temp_directory_path() / "llmcost-hub-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
        path_ = name;
    }
    temporary_folder(const temporary_folder&) = delete;
    temporary_folder& operator=(const temporary_folder&) = delete;
    ~temporary_folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

/// A limit on the size of files, while it lives.
class file_size_limit {
public:
    explicit file_size_limit(rlim_t bytes) {
        if (::getrlimit(RLIMIT_FSIZE, &original_limit_) != 0) throw std::runtime_error("no limit of file sizes");
        const rlimit small{bytes, original_limit_.rlim_max};
        if (::setrlimit(RLIMIT_FSIZE, &small) != 0) throw std::runtime_error("no limit of file sizes");
    }
    file_size_limit(const file_size_limit&) = delete;
    file_size_limit& operator=(const file_size_limit&) = delete;
    ~file_size_limit() { ::setrlimit(RLIMIT_FSIZE, &original_limit_); }

private:
    rlimit original_limit_{};
};

inline void write_file(const std::filesystem::path& path, std::string_view content) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream out(path, std::ios::binary);
    out << content;
    if (!out.flush()) throw std::runtime_error("cannot write " + path.string());
}

inline std::string read_file(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) throw std::runtime_error("cannot read " + path.string());
    return {std::istreambuf_iterator<char>(in), {}};
}

/// The paths of all files and links below a folder, relative to it; an empty set where there is none.
inline std::set<std::string> files_below(const std::filesystem::path& folder) {
    std::set<std::string> found;
    if (!std::filesystem::exists(folder)) return found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
        if (!entry.is_directory() || entry.is_symlink()) found.insert(entry.path().lexically_relative(folder).string());
    }
    return found;
}

/// An environment of these variables alone.
inline llmcost::environment variables(std::map<std::string, std::string> values) {
    return [values = std::move(values)](const char* name) -> const char* {
        const auto found = values.find(name);
        return found == values.end() ? nullptr : found->second.c_str();
    };
}

/// The `llmcost::error` that `call` throws; code `usage` and an empty text where it throws none.
template <class Call>
llmcost::error error_of(const Call& call) {
    try {
        static_cast<void>(call());
    } catch (const llmcost::error& thrown) {
        return thrown;
    }
    return {llmcost::errc::usage, "", ""};
}

inline bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// Options that ask `endpoint`, keep to `folder` and note the waits instead of waiting.
struct quick_options : llmcost::hub_options {
    quick_options(const std::string& server_url, const std::filesystem::path& folder) {
        endpoint = server_url;
        cache_dir = folder;
        etag_timeout = std::chrono::milliseconds(2000);
        download_timeout = std::chrono::milliseconds(2000);
        sleep = [this](std::chrono::milliseconds time) { waits.push_back(time.count()); };
    }
    quick_options(const quick_options&) = delete;
    quick_options& operator=(const quick_options&) = delete;

    std::vector<std::chrono::milliseconds::rep> waits;
};

/// A hub that knows one file, `org/name`'s `json.json`, and plays by the rules.
struct small_hub {
    std::string commit = first_commit;
    std::string blob{};  ///< empty: git's name of `content`
    std::string content = small_content;
    std::string file = "config.json";

    server_reply operator()(const server_request& request) const {
        const bool known = request.target == "/org/name/resolve/main/" + file ||
                           request.target == "/org/name/resolve/" + commit + '/' + file;
        if (!known) return server_reply::make(request, 404, {{"X-Error-Code", "RepoNotFound"}});
        const std::string etag = '"' + (blob.empty() ? llmcost::detail::hub::git_name(content) : blob) + '"';
        return server_reply::make(request, 200, {{"X-Repo-Commit", commit}, {"ETag", etag}}, content);
    }
};
