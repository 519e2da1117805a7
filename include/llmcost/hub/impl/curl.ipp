// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/hub/curl.hpp>

#include <chrono>
#include <cstddef>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <llmcost/base/inline.hpp>
#include <llmcost/base/version.hpp>
#include <llmcost/files/system.hpp>
#include <llmcost/hub/headers.hpp>
#include <llmcost/text/error.hpp>

namespace llmcost::detail::hub {

LLMCOST_INLINE curl_functions load_curl(std::span<const char* const> names) {
    if (!sys::can_load_libraries)
        throw error(errc::network, "libcurl",
                    "this program was linked statically and cannot load the library: use a file, a cached or a bundled "
                    "configuration, or another build");
    void* library = nullptr;
    std::string tried;
    for (const char* name : names) {
        library = sys::load_library(name);
        if (library != nullptr) break;
        tried += (tried.empty() ? "" : ", ") + std::string(name);
    }
    if (library == nullptr) {
        throw error(errc::network, "libcurl", "cannot load the library (tried " + tried + "): " + curl_advice);
    }
    const auto bind = [library]<class Function>(Function*& function, const char* name) {
        function = reinterpret_cast<Function*>(sys::find_symbol(library, name));
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

LLMCOST_INLINE const curl_functions& curl() {
    static const curl_functions functions = load_curl(curl_libraries);
    return functions;
}

LLMCOST_INLINE http_answer http_connection::send(const http_request& request) {
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

LLMCOST_INLINE http_connection::header_list http_connection::header_fields(const http_request& request) const {
    header_list fields(nullptr, curl_.slist_free_all);
    append(fields, "Accept-Encoding: identity");  // a compressed answer may unpack to any size
    if (!request.token.empty()) append(fields, "Authorization: Bearer " + request.token);
    return fields;
}

LLMCOST_INLINE void http_connection::append(header_list& fields, const std::string& line) const {
    curl_slist* const longer = curl_.slist_append(fields.get(), line.c_str());
    if (longer == nullptr) throw std::bad_alloc();
    static_cast<void>(fields.release());
    fields.reset(longer);
}

LLMCOST_INLINE std::size_t http_connection::on_header(char* data, std::size_t, std::size_t size, void* user) noexcept {
    try {
        http_answer& answer = static_cast<transfer*>(user)->answer;
        return answer.header.add_line({data, size}) ? size : 0;
    } catch (...) {
        return 0;
    }
}

LLMCOST_INLINE std::size_t http_connection::on_body(char* data, std::size_t, std::size_t size, void* user) noexcept {
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

}  // namespace llmcost::detail::hub
