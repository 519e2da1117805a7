// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/hub.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <llmcost/base/inline.hpp>
#include <llmcost/hub/cache.hpp>
#include <llmcost/hub/client.hpp>
#include <llmcost/hub/curl.hpp>
#include <llmcost/hub/hash.hpp>
#include <llmcost/hub/headers.hpp>
#include <llmcost/hub/options.hpp>
#include <llmcost/hub/signals.hpp>
#include <llmcost/hub/text.hpp>
#include <llmcost/hub/url.hpp>
#include <llmcost/text/error.hpp>

namespace llmcost {

LLMCOST_INLINE repo_id parse_repo_id(std::string_view text) {
    const std::size_t separator = text.find('@');
    repo_id id{std::string(text.substr(0, separator))};
    detail::hub::check_repo_name(id.name);
    if (separator != std::string_view::npos) {
        id.revision = text.substr(separator + 1);
        detail::hub::check_revision(id.revision);
    }
    return id;
}

}  // namespace llmcost

namespace llmcost::detail::hub {

LLMCOST_INLINE void validate_names(const repo_id& id, std::string_view filename) {
    check_repo_name(id.name);
    check_revision(id.revision);
    check_filename(filename);
}

LLMCOST_INLINE std::string to_string(const repo_id& id) { return id.name + '@' + printable(id.revision); }

/// Throws an error for a response that is not a file. The message names the repository and file, not only the HTTP
/// status.
[[noreturn]] LLMCOST_INLINE void refuse_answer(const hub_client& client, const hub_answer& response, const repo_id& id,
                                               std::string_view filename) {
    const http_header& header = response.answer.header;
    const std::uint64_t status = header.status();
    const std::string_view code = header.get("x-error-code");
    const std::string_view server_message = header.get("x-error-message");
    const std::string token = response.token_sent       ? "use a token that may read it (the one sent may not)"
                              : client.token_withheld() ? "use an https endpoint: over http no token is sent"
                                                        : "set HF_TOKEN to a token that may read it";
    errc kind = errc::not_found;
    std::string message;
    if (code == "EntryNotFound") {
        message = to_string(id) + " has no file \"" + printable(filename) + '"';
    } else if (code == "RevisionNotFound") {
        message = id.name + " has no revision \"" + printable(id.revision) + '"';
    } else if (code == "GatedRepo") {
        kind = errc::no_access;
        message = id.name + " is gated: accept its terms on its page, and " + token;
    } else if (client.is_endpoint(response.url) && (status == 401 || status == 403 || status == 404)) {
        if (status != 404) kind = errc::no_access;
        message = id.name + " is missing, private or gated: check the name, or " + token;
    } else {
        kind = errc::network;
        message = status == 429 ? "too many requests: wait some minutes" : "the Hub did not return the file";
    }
    if (!server_message.empty()) message += " (the server says: " + printable(server_message, 200) + ')';
    throw error(kind, response.url.place, "HTTP " + std::to_string(status) + ": " + message);
}

/// Checks the metadata of a successful HEAD response, which becomes part of cache paths.
///
/// Throws: `error` with `network`.
LLMCOST_INLINE file_facts check_facts(const hub_answer& response, const repo_id& id, std::uint64_t max_size) {
    file_facts facts = read_facts(response.answer.header);
    const auto fail = [&](const std::string& message) { throw error(errc::network, response.url.place, message); };
    if (!is_commit(facts.commit)) {
        fail("the response has no commit in X-Repo-Commit: is this a Hugging Face hub (HF_ENDPOINT, proxy)?");
    }
    if (is_commit(id.revision) && facts.commit != id.revision) fail("the response is for commit " + facts.commit);
    if (!is_blob(facts.blob)) fail("the response has no ETag of 40 or 64 hexadecimal digits");
    if (facts.size && *facts.size > max_size) {
        fail("the file has " + std::to_string(*facts.size) + " bytes, more than " + std::to_string(max_size));
    }
    return facts;
}

/// Downloads the content described by `head` once. Returns it only if its length is complete.
LLMCOST_INLINE std::string get_once(hub_client& client, const hub_answer& head, const file_facts& facts,
                                    const repo_id& id, std::string_view filename, std::uint64_t max_size) {
    hub_answer got = client.send_request(false, head.location, head.token_may_follow);
    const http_header& header = got.answer.header;
    const auto fail = [&](const std::string& message) { throw error(errc::network, got.url.place, message); };
    if (header.status() != 200) refuse_answer(client, got, id, filename);
    if (got.answer.too_large) fail("the file has more than " + std::to_string(max_size) + " bytes");
    const std::string_view encoding = header.get("content-encoding");
    if (!encoding.empty() && encoding != "identity") {
        fail("the response is encoded as " + printable(encoding, 40) + ", which was not requested");
    }
    const std::string_view commit = header.get("x-repo-commit");
    if (!commit.empty() && commit != facts.commit) fail("the revision moved during the download: try again");
    if (!facts.size && !header.has_framed_body())
        fail("the response does not state the length of the file: it may be truncated");
    if (facts.size && *facts.size != got.answer.body.size()) {
        fail("expected " + std::to_string(*facts.size) + " bytes, got " + std::to_string(got.answer.body.size()));
    }
    return std::move(got.answer.body);
}

/// Downloads the content described by `head` and verifies its hash. Repeats the download once on a mismatch.
LLMCOST_INLINE std::string get_content(hub_client& client, const hub_answer& head, const file_facts& facts,
                                       const repo_id& id, std::string_view filename, std::uint64_t max_size) {
    for (int attempt = 1; attempt <= 2; ++attempt) {
        std::string content = get_once(client, head, facts, id, filename, max_size);
        if (is_named(content, facts.blob)) return content;
    }
    throw error(errc::network, head.location.place,
                std::string("the content does not match its ETag, a ") +
                    (is_commit(facts.blob) ? "git SHA-1" : "SHA-256") +
                    ", in two attempts: it was damaged in transit, or the ETag is not its hash");
}

}  // namespace llmcost::detail::hub

namespace llmcost {

LLMCOST_INLINE std::optional<hub_file> find_in_cache(const repo_id& id, std::string_view filename,
                                                     const hub_options& options) {
    detail::hub::validate_names(id, filename);
    if (options.cache_dir.empty()) return std::nullopt;
    const detail::hub::repo_cache cache(options.cache_dir, id.name);
    const auto commit = cache.commit_of(id.revision);
    if (!commit || cache.lookup(*commit, filename, options.max_size) != detail::hub::found::complete)
        return std::nullopt;
    return hub_file{cache.snapshot(*commit, filename), *commit, {}};
}

}  // namespace llmcost

namespace llmcost::detail::hub {

/// Downloads a file. If the cache cannot be written, `requires_cache` decides between an error and the content alone.
LLMCOST_INLINE hub_file download_file(const repo_id& id, std::string_view filename, const hub_options& options,
                                      bool requires_cache) {
    validate_names(id, filename);
    if (is_commit(id.revision)) {
        if (auto cached = find_in_cache(id, filename, options)) return *cached;
    }
    const std::string cache_dir = options.cache_dir.string();
    const repo_cache cache(options.cache_dir, id.name);
    if (options.offline) {
        const auto commit = cache_dir.empty() ? std::nullopt : cache.commit_of(id.revision);
        const bool damaged = commit && cache.lookup(*commit, filename, options.max_size) == found::damaged;
        throw error(errc::network, to_string(id),
                    "cannot download \"" + detail::hub::printable(filename) + "\", since " + options.offline_source +
                        " is set; the cache is " + detail::hub::printable(cache_dir) +
                        (damaged ? ", where the file is damaged" : ""));
    }
    // A remaining `~` could not be expanded, because there is no home folder.
    if (cache_dir.empty() || cache_dir.front() == '~') {
        throw error(errc::io, to_string(id), "there is no cache folder: set HF_HUB_CACHE, HF_HOME or HOME");
    }
    const write_signal_guard signal_guard;
    hub_client client(options);
    const http_url url =
        client.url_of(id.name + "/resolve/" + percent_encode(id.revision) + '/' + percent_encode(filename, "/"));
    const hub_answer head = client.send_request(true, url, true);
    const http_header& header = head.answer.header;
    if (header.status() != 200 && !is_redirect(header.status())) {
        const std::string commit(header.get("x-repo-commit"));
        if (header.get("x-error-code") == "EntryNotFound" && is_commit(commit)) {
            if_possible([&] {
                cache.store_absent(commit, filename);
                cache.store_ref(id.revision, commit);
            });
        }
        refuse_answer(client, head, id, filename);
    }
    const file_facts facts = check_facts(head, id, options.max_size);
    hub_file file{cache.snapshot(facts.commit, filename), facts.commit, {}};
    if (cache.has(facts.commit, filename, facts.blob, options.max_size)) {
        if_possible([&] { cache.store_ref(id.revision, facts.commit); });
        return file;
    }
    auto content = cache.read_blob(facts.blob, options.max_size);
    if (!content) content = get_content(client, head, facts, id, filename, options.max_size);
    try {
        cache.store(facts.commit, filename, facts.blob, *content, options.symlinks);
        cache.store_ref(id.revision, facts.commit);
    } catch (const error& e) {
        if (requires_cache || e.code() != errc::io) throw;
        file.content = std::move(*content);
    }
    return file;
}

}  // namespace llmcost::detail::hub

namespace llmcost {

LLMCOST_INLINE hub_file download(const repo_id& id, std::string_view filename, const hub_options& options) {
    return detail::hub::download_file(id, filename, options, true);
}

LLMCOST_INLINE hub_file fetch(const repo_id& id, std::string_view filename, const hub_options& options) {
    if (auto cached = find_in_cache(id, filename, options)) return *cached;
    const detail::hub::repo_cache cache(options.cache_dir, id.name);
    const auto commit = options.cache_dir.empty() ? std::nullopt : cache.commit_of(id.revision);
    const bool lasting = detail::hub::is_commit(id.revision) || options.offline;
    if (lasting && commit && cache.is_known_absent(*commit, filename)) {
        throw error(errc::not_found, detail::hub::to_string(id),
                    "has no file \"" + detail::hub::printable(filename) + "\" (recorded in the cache for commit " +
                        *commit + ')');
    }
    return detail::hub::download_file(id, filename, options, false);
}

}  // namespace llmcost
