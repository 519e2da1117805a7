// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/base/version.hpp>
#include <llmcost/hub/headers.hpp>
#include <llmcost/text/error.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include <llmcost/files/windows_api.hpp>

#include <curl/curl.h>

// libcurl, loaded when the network is first used: a program that never does so needs no libcurl at run time.
namespace llmcost::detail::hub {

/// The functions of libcurl that are used here.
struct curl_functions {
    decltype(&::curl_global_init) global_init = nullptr;
    decltype(&::curl_easy_init) easy_init = nullptr;
    decltype(&::curl_easy_cleanup) easy_cleanup = nullptr;
    decltype(&::curl_easy_reset) easy_reset = nullptr;
    decltype(&::curl_easy_setopt) easy_setopt = nullptr;
    decltype(&::curl_easy_perform) easy_perform = nullptr;
    decltype(&::curl_easy_strerror) easy_strerror = nullptr;
    decltype(&::curl_slist_append) slist_append = nullptr;
    decltype(&::curl_slist_free_all) slist_free_all = nullptr;
    decltype(&::curl_url) url = nullptr;
    decltype(&::curl_url_cleanup) url_cleanup = nullptr;
    decltype(&::curl_url_set) url_set = nullptr;
    decltype(&::curl_url_get) url_get = nullptr;
    decltype(&::curl_free) free = nullptr;
};

#ifdef _WIN32
inline constexpr const char* curl_libraries[] = {"libcurl.dll", "libcurl-4.dll", "libcurl-x64.dll"};
inline constexpr const char* curl_advice = "put libcurl.dll next to the program or into a directory of PATH";
#else
inline constexpr const char* curl_advice =
    "install the package libcurl4 (Debian, Ubuntu), libcurl (Fedora) or curl (Arch, Alpine)";
#ifdef __APPLE__
inline constexpr const char* curl_libraries[] = {"libcurl.4.dylib", "libcurl.dylib"};
#else
inline constexpr const char* curl_libraries[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};
#endif
#endif

/// Loads the first of `names` that there is; throws `network` where there is none or it lacks a function.
///
/// The library stays loaded: its threads and its TLS library may outlive any handle.
curl_functions load_curl(std::span<const char* const> names);

/// libcurl, loaded by the first call.
const curl_functions& curl();

/// One request, complete: nothing of it is taken from the environment but the proxy.
struct http_request {
    bool head = false;  ///< ask for the header alone
    std::string url;
    std::string token;    ///< empty: anonymous
    std::string ca_file;  ///< empty: libcurl's own choice
    bool loopback = false;
    std::uint64_t max_size = 0;  ///< bytes of a body
    std::chrono::milliseconds connect_timeout{0};
    std::chrono::milliseconds silence_timeout{0};  ///< rounded up to seconds
    std::chrono::milliseconds total_timeout{0};
};

/// What came of a request.
struct http_answer {
    CURLcode code = CURLE_OK;  ///< libcurl's result of the transfer
    std::string failure;       ///< the result as text; empty where the answer is complete
    http_header header;
    std::string body;  ///< of a success alone
    bool too_large = false;
};

/// A connection to one server after another.
class http_connection {
public:
    explicit http_connection(const curl_functions& curl) : curl_(curl), easy_(curl.easy_init(), curl.easy_cleanup) {
        if (!easy_) throw error(errc::network, "libcurl", "no handle");
    }

    /// Sends one request and reads the answer; redirects are answers like others.
    http_answer send(const http_request& request);

private:
    using header_list = std::unique_ptr<curl_slist, decltype(&::curl_slist_free_all)>;

    struct transfer {
        std::uint64_t max_size;
        http_answer answer;
        bool stopped;  ///< by us, since the rest of the answer is of no use
    };

    // CURLOPT_PROTOCOLS by its number: CURLOPT_PROTOCOLS_STR is younger than the oldest libcurl in use.
    static constexpr auto protocols = static_cast<CURLoption>(181);

    template <class Value>
    void set(CURLoption option, Value value) {
        if (curl_.easy_setopt(easy_.get(), option, value) != CURLE_OK) {
            throw error(errc::network, "libcurl",
                        "the library refuses option " + std::to_string(static_cast<int>(option)) + " (too old?)");
        }
    }

    header_list header_fields(const http_request& request) const;

    void append(header_list& fields, const std::string& line) const;

    // The callbacks return fewer bytes than they were given to end the transfer; no exception may pass through C.
    static std::size_t on_header(char* data, std::size_t, std::size_t size, void* user) noexcept;

    static std::size_t on_body(char* data, std::size_t, std::size_t size, void* user) noexcept;

    const curl_functions& curl_;
    std::unique_ptr<CURL, decltype(&::curl_easy_cleanup)> easy_;
};

}  // namespace llmcost::detail::hub

#ifndef LLMCOST_COMPILED
#include <llmcost/hub/impl/curl.ipp>  // IWYU pragma: export
#endif
