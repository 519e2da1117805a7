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
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <curl/curl.h>
#include <dlfcn.h>

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

#ifdef __APPLE__
inline constexpr const char* curl_libraries[] = {"libcurl.4.dylib", "libcurl.dylib"};
#else
inline constexpr const char* curl_libraries[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};
#endif

/// Loads the first of `names` that there is; throws `network` where there is none or it lacks a function.
///
/// The library stays loaded: its threads and its TLS library may outlive any handle.
inline curl_functions load_curl(std::span<const char* const> names) {
    void* library = nullptr;
    std::string tried;
    for (const char* name : names) {
        library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
        if (library != nullptr) break;
        tried += (tried.empty() ? "" : ", ") + std::string(name);
    }
    if (library == nullptr) {
        throw error(errc::network, "libcurl",
                    "cannot load the library (tried " + tried +
                        "): install the package libcurl4 (Debian, Ubuntu), libcurl (Fedora) or curl (Arch, Alpine)");
    }
    const auto bind = [library]<class Function>(Function*& function, const char* name) {
        function = reinterpret_cast<Function*>(dlsym(library, name));
        if (function == nullptr) {
            throw error(errc::network, "libcurl", "the library is too old: it has no " + std::string(name));
        }
    };
    curl_functions curl;
    bind(curl.global_init, "curl_global_init");
    bind(curl.easy_init, "curl_easy_init");
    bind(curl.easy_cleanup, "curl_easy_cleanup");
    bind(curl.easy_reset, "curl_easy_reset");
    bind(curl.easy_setopt, "curl_easy_setopt");
    bind(curl.easy_perform, "curl_easy_perform");
    bind(curl.easy_strerror, "curl_easy_strerror");
    bind(curl.slist_append, "curl_slist_append");
    bind(curl.slist_free_all, "curl_slist_free_all");
    bind(curl.url, "curl_url");
    bind(curl.url_cleanup, "curl_url_cleanup");
    bind(curl.url_set, "curl_url_set");
    bind(curl.url_get, "curl_url_get");
    bind(curl.free, "curl_free");
    if (curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        throw error(errc::network, "libcurl", "the library cannot be initialised");
    }
    return curl;
}

/// libcurl, loaded by the first call.
inline const curl_functions& curl() {
    static const curl_functions functions = load_curl(curl_libraries);
    return functions;
}

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
    http_answer send(const http_request& request) {
        transfer state{request.head ? 0 : request.max_size, {}, false};
        const header_list fields = header_fields(request);
        const std::string agent = "llmcost/" + std::string(version);
        char message[CURL_ERROR_SIZE] = "";
        curl_.easy_reset(easy_.get());
        set(CURLOPT_URL, request.url.c_str());
        set(protocols, static_cast<long>(CURLPROTO_HTTP | CURLPROTO_HTTPS));
        set(CURLOPT_FOLLOWLOCATION, 0L);
        set(CURLOPT_HTTP09_ALLOWED, 0L);
        set(CURLOPT_NOSIGNAL, 1L);
        set(CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
        set(CURLOPT_SSL_VERIFYPEER, 1L);
        set(CURLOPT_SSL_VERIFYHOST, 2L);
        if (!request.ca_file.empty()) set(CURLOPT_CAINFO, request.ca_file.c_str());
        if (request.loopback) set(CURLOPT_NOPROXY, "*");
        set(CURLOPT_NOBODY, request.head ? 1L : 0L);
        set(CURLOPT_USERAGENT, agent.c_str());
        set(CURLOPT_HTTPHEADER, fields.get());
        set(CURLOPT_HEADEROPT, static_cast<long>(CURLHEADER_SEPARATE));
        set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request.connect_timeout.count()));
        set(CURLOPT_TIMEOUT_MS, static_cast<long>(request.total_timeout.count()));
        set(CURLOPT_LOW_SPEED_LIMIT, 1L);
        set(CURLOPT_LOW_SPEED_TIME,
            static_cast<long>(std::chrono::ceil<std::chrono::seconds>(request.silence_timeout).count()));
        set(CURLOPT_HEADERFUNCTION, &http_connection::on_header);
        set(CURLOPT_HEADERDATA, &state);
        set(CURLOPT_WRITEFUNCTION, &http_connection::on_body);
        set(CURLOPT_WRITEDATA, &state);
        set(CURLOPT_ERRORBUFFER, &message[0]);
        state.answer.code = curl_.easy_perform(easy_.get());
        curl_.easy_reset(easy_.get());
        if (state.answer.code != CURLE_OK && !state.stopped) {
            // libcurl quotes a proxy that it cannot use in full, including the password
            const bool is_safe = message[0] != '\0' && std::string_view(message).find('@') == std::string_view::npos;
            state.answer.failure = is_safe ? message : curl_.easy_strerror(state.answer.code);
        }
        return std::move(state.answer);
    }

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

    header_list header_fields(const http_request& request) const {
        header_list fields(nullptr, curl_.slist_free_all);
        append(fields, "Accept-Encoding: identity");  // a compressed answer may unpack to any size
        if (!request.token.empty()) append(fields, "Authorization: Bearer " + request.token);
        return fields;
    }

    void append(header_list& fields, const std::string& line) const {
        curl_slist* const longer = curl_.slist_append(fields.get(), line.c_str());
        if (longer == nullptr) throw std::bad_alloc();
        static_cast<void>(fields.release());
        fields.reset(longer);
    }

    // The callbacks return fewer bytes than they were given to end the transfer; no exception may pass through C.
    static std::size_t on_header(char* data, std::size_t, std::size_t size, void* user) noexcept {
        try {
            http_answer& answer = static_cast<transfer*>(user)->answer;
            return answer.header.add_line({data, size}) ? size : 0;
        } catch (...) {
            return 0;
        }
    }

    static std::size_t on_body(char* data, std::size_t, std::size_t size, void* user) noexcept {
        auto& state = *static_cast<transfer*>(user);
        http_answer& answer = state.answer;
        const bool success = answer.header.status() >= 200 && answer.header.status() < 300;
        answer.too_large = success && size > state.max_size - answer.body.size();
        if (!success || answer.too_large) {
            state.stopped = true;
            return 0;
        }
        try {
            answer.body.append(data, size);
            return size;
        } catch (...) {
            return 0;
        }
    }

    const curl_functions& curl_;
    std::unique_ptr<CURL, decltype(&::curl_easy_cleanup)> easy_;
};

}  // namespace llmcost::detail::hub
