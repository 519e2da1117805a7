// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/files/regular_file.hpp>
#include <llmcost/hub/text.hpp>
#include <llmcost/text/error.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace llmcost {

/// Looks an environment variable up, as `std::getenv` does: null where it is not set.
using environment = std::function<const char*(const char*)>;

/// Locations of the hub and its cache, the user's token, and timeouts.
struct hub_options {
    std::string endpoint = "https://huggingface.co";  ///< plain http only where this or its redirect is on loopback
    std::filesystem::path cache_dir;                  ///< the folder that holds `models--org--name`
    std::string token;                                ///< sent to the endpoint's host alone; empty: `token_file`
    std::filesystem::path token_file;                 ///< read when the network is used; a missing file means no token
    std::string ca_file;                              ///< PEM certificates to trust; empty: libcurl's own choice
    bool offline = false;                             ///< never use the network
    std::string offline_source = "hub_options::offline";  ///< what to name in the error when `offline` is in the way
    bool symlinks = true;                                 ///< false: real files in `snapshots`, nothing in `blobs`
    std::uint64_t max_size = std::uint64_t{16} << 20U;    ///< bytes; a larger file is an error

    std::chrono::milliseconds etag_timeout{10'000};      ///< for one question about a file
    std::chrono::milliseconds download_timeout{10'000};  ///< for connecting, and for silence within a download
    std::chrono::milliseconds total_timeout{
        120'000};                                    ///< for all questions, attempts and waits of one download together
    int attempts = 3;                                ///< per request; at least 1
    std::chrono::milliseconds first_wait{500};       ///< before the second attempt; doubles with each
    std::chrono::milliseconds longest_wait{10'000};  ///< a server that requests more gets no further attempt
    std::function<void(std::chrono::milliseconds)> sleep = [](std::chrono::milliseconds time) {
        std::this_thread::sleep_for(time);
    };

    /// The options that the environment variables of the Hugging Face tools set; an empty variable counts as not set.
    ///
    /// Throws `bad_value` for a timeout that is not an integral number of seconds. Source: huggingface_hub
    /// constants.py.
    [[nodiscard]] static hub_options from_environment(const environment& get);
    /// The options that the environment of this process sets.
    [[nodiscard]] static hub_options from_environment() {
        return from_environment([](const char* name) { return std::getenv(name); });
    }
};

/// The token that the file at `path` holds, without blanks around it; throws `io` where it is no regular file.
[[nodiscard]] std::string read_token_file(const std::filesystem::path& path);

namespace detail::hub {

/// Reads the variables of one environment the way the Hugging Face tools do.
class environment_reader {
public:
    explicit environment_reader(const environment& get) : get_(get) {}

    /// The first of the variables that is set and not empty; an empty text where none is.
    template <class... Names>
    std::string first(const Names*... names) const {
        std::string found;
        static_cast<void>(((found = value(names), !found.empty()) || ...));
        return found;
    }

    /// True for 1, ON, YES and TRUE in any case.
    bool is_true(const char* name) const;

    /// An integral number of seconds; 0 and an unset variable leave `fallback`.
    std::chrono::milliseconds seconds(const char* name, std::chrono::milliseconds fallback) const;

    /// `text` with a leading `~` as the home folder and `$NAME`, `${NAME}` as the variables' values.
    ///
    /// What has no value stays as it is written, as with os.path.expanduser and os.path.expandvars.
    std::string expand(std::string text) const;

    /// The folder of the Hugging Face tools: `$HF_HOME`, else below `$XDG_CACHE_HOME`, else below `~/.cache`.
    std::string hugging_face_home() const;

private:
    std::string value(const char* name) const;

    std::string home() const;

    /// The variable that `text` begins with and the length of its spelling; length 0 where it begins with none.
    static std::pair<std::string, std::size_t> variable_at(std::string_view text);

    const environment& get_;
};

}  // namespace detail::hub

inline hub_options hub_options::from_environment(const environment& get) {
    const detail::hub::environment_reader env(get);
    hub_options options;
    if (const std::string endpoint = env.first("HF_ENDPOINT"); !endpoint.empty()) options.endpoint = endpoint;

    const std::string home = env.hugging_face_home();
    const std::string cache = env.first("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE");
    options.cache_dir = cache.empty() ? home + "/hub" : env.expand(cache);

    if (!env.is_true("HF_HUB_DISABLE_IMPLICIT_TOKEN")) {
        const std::string path = env.first("HF_TOKEN_PATH");
        options.token = detail::hub::trim(env.first("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"));
        options.token_file = path.empty() ? home + "/token" : env.expand(path);
    }

    // A HF_HUB_OFFLINE that is false hides TRANSFORMERS_OFFLINE, as in huggingface_hub.
    const char* const offline = env.first("HF_HUB_OFFLINE").empty() ? "TRANSFORMERS_OFFLINE" : "HF_HUB_OFFLINE";
    if (env.is_true(offline)) {
        options.offline = true;
        options.offline_source = offline;
    }
    options.symlinks = !env.is_true("HF_HUB_DISABLE_SYMLINKS");
    options.ca_file = env.first("CURL_CA_BUNDLE", "SSL_CERT_FILE");
    options.etag_timeout = env.seconds("HF_HUB_ETAG_TIMEOUT", options.etag_timeout);
    options.download_timeout = env.seconds("HF_HUB_DOWNLOAD_TIMEOUT", options.download_timeout);
    return options;
}

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/hub/impl/options.ipp>  // IWYU pragma: export
#endif
