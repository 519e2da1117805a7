// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/hub.hpp>
#include <llmcost/hub/hash.hpp>

#include <chrono>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "hub_fixture.hpp"

using milliseconds = std::vector<std::chrono::milliseconds::rep>;

/// What came of one download of `json.json` of `org/name` into an empty cache.
struct outcome {
    llmcost::error thrown{llmcost::errc::usage, "", ""};
    std::size_t heads = 0;
    std::size_t gets = 0;
    milliseconds waits;
    std::set<std::string> files;
};

template <class Prepare>
outcome try_download(const loopback_server& server, const Prepare& prepare) {
    const temporary_folder folder;
    quick_options options(server.url(), folder.path());
    prepare(options);
    outcome result;
    result.thrown = error_of([&] { return llmcost::download({"org/name"}, "config.json", options); });
    result.heads = server.count("HEAD");
    result.gets = server.count("GET");
    result.waits = options.waits;
    result.files = files_below(folder.path());
    return result;
}

inline outcome try_download(const loopback_server& server) {
    return try_download(server, [](llmcost::hub_options&) {});
}

/// A server that answers all requests in the same way.
inline loopback_server::handler make_fixed_reply(int status, const server_reply::field_list& fields) {
    return [=](const server_request& to) { return server_reply::make(to, status, fields, "<html>a page</html>"); };
}

/// A hub that answers HEAD well, telling of `size` bytes, and GET with these very bytes.
inline loopback_server::handler get_sends(const std::string& size, const std::string& bytes) {
    return [=](const server_request& to) -> server_reply {
        if (to.method == "GET") return {bytes};
        const std::size_t head = bytes.find("\r\n\r\n");
        const std::string body = head == std::string::npos ? "" : bytes.substr(head + 4);
        return {"HTTP/1.1 200 OK\r\nConnection: close\r\nX-Repo-Commit: " + first_commit + "\r\nETag: \"" +
                llmcost::detail::hub::git_name(body) + "\"\r\n" +
                (size.empty() ? "" : "Content-Length: " + size + "\r\n") + "\r\n"};
    };
}
