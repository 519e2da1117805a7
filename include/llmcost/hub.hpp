// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/base/error.hpp>
#include <llmcost/hub/cache.hpp>
#include <llmcost/hub/client.hpp>
#include <llmcost/hub/options.hpp>  // IWYU pragma: export
#include <llmcost/hub/signals.hpp>
#include <llmcost/hub/text.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

// Files of the Hugging Face hub, by way of the cache that its tools share.
//
//   parse_repo_id   "org/name@revision" -> repo_id
//   find_in_cache   the file where it is cached; never uses the network
//   download        the file as the hub has it now
//   fetch           the cached file, else a download
namespace llmcost {

/// A model repository at one revision.
struct repo_id {
    std::string name;               ///< "org/name", or "name" for the oldest ones
    std::string revision = "main";  ///< a branch, a tag, "refs/pr/N" or a commit
};

/// A file in the cache.
struct hub_file {
    std::filesystem::path path;
    std::string commit;  ///< of the repository, 40 hexadecimal digits
};

/// Reads `org/name` or `org/name@revision`; throws `bad_value` for a spelling that the hub has no repository for.
[[nodiscard]] inline repo_id parse_repo_id(std::string_view text) {
    const std::size_t at = text.find('@');
    repo_id id{std::string(text.substr(0, at))};
    detail::hub::check_repo_name(id.name);
    if (at != std::string_view::npos) {
        id.revision = text.substr(at + 1);
        detail::hub::check_revision(id.revision);
    }
    return id;
}

namespace detail::hub {

inline void validate_names(const repo_id& id, std::string_view filename) {
    check_repo_name(id.name);
    check_revision(id.revision);
    check_filename(filename);
}

inline std::string to_string(const repo_id& id) { return id.name + '@' + printable(id.revision); }

/// Throws for an answer that is no file, in the words of `id` rather than of HTTP.
[[noreturn]] inline void refuse_answer(const hub_client& client, const hub_answer& response, const repo_id& id,
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
        message = id.name + " is gated: accept its terms on its page, and " + token;
    } else if (client.is_endpoint(response.url) && (status == 401 || status == 403 || status == 404)) {
        message = id.name + " is missing, private or gated: check the name, or " + token;
    } else {
        kind = errc::network;
        message = status == 429 ? "too many requests: wait some minutes" : "the hub does not give the file";
    }
    if (!server_message.empty()) message += " (the server says: " + printable(server_message, 200) + ')';
    throw error(kind, response.url.place, "HTTP " + std::to_string(status) + ": " + message);
}

/// The facts of a successful HEAD, checked: everything that becomes a path in the cache.
inline file_facts check_facts(const hub_answer& response, const repo_id& id, std::uint64_t max_size) {
    file_facts facts = read_facts(response.answer.header);
    const auto fail = [&](const std::string& message) { throw error(errc::network, response.url.place, message); };
    if (!is_commit(facts.commit)) {
        fail("the answer has no commit in X-Repo-Commit: is this a Hugging Face hub (HF_ENDPOINT, proxy)?");
    }
    if (is_commit(id.revision) && facts.commit != id.revision) fail("the answer is about commit " + facts.commit);
    if (!is_blob(facts.blob)) fail("the answer has no ETag of 40 or 64 hexadecimal digits");
    if (facts.size && *facts.size > max_size) {
        fail("the file has " + std::to_string(*facts.size) + " bytes, more than " + std::to_string(max_size));
    }
    return facts;
}

/// One attempt at the content that `head` tells of, whole in length or not at all.
inline std::string get_once(hub_client& client, const hub_answer& head, const file_facts& facts, const repo_id& id,
                            std::string_view filename, std::uint64_t max_size) {
    hub_answer got = client.send_request(false, head.location, head.token_may_follow);
    const http_header& header = got.answer.header;
    const auto fail = [&](const std::string& message) { throw error(errc::network, got.url.place, message); };
    if (header.status() != 200) refuse_answer(client, got, id, filename);
    if (got.answer.too_large) fail("the file has more than " + std::to_string(max_size) + " bytes");
    const std::string_view encoding = header.get("content-encoding");
    if (!encoding.empty() && encoding != "identity") {
        fail("the answer is encoded as " + printable(encoding, 40) + ", which was not asked for");
    }
    const std::string_view commit = header.get("x-repo-commit");
    if (!commit.empty() && commit != facts.commit) fail("the revision moved during the download: try again");
    if (!facts.size && !header.has_framed_body()) fail("the length of the file is told nowhere: it may be cut");
    if (facts.size && *facts.size != got.answer.body.size()) {
        fail("expected " + std::to_string(*facts.size) + " bytes, got " + std::to_string(got.answer.body.size()));
    }
    return std::move(got.answer.body);
}

/// Downloads the content that `head` tells of and holds it against its name; a second time where it is another one.
inline std::string get_content(hub_client& client, const hub_answer& head, const file_facts& facts, const repo_id& id,
                               std::string_view filename, std::uint64_t max_size) {
    for (int attempt = 1; attempt <= 2; ++attempt) {
        std::string content = get_once(client, head, facts, id, filename, max_size);
        if (is_named(content, facts.blob)) return content;
    }
    throw error(errc::network, head.location.place,
                std::string("the content is not what its ETag says, a ") +
                    (is_commit(facts.blob) ? "git SHA-1" : "SHA-256") +
                    ", in two attempts: it is damaged on the way or the server's ETag is no hash of it");
}

/// Calls `write`, a convenience for later, and goes on where the cache cannot be written to.
template <class Write>
void if_possible(const Write& write) {
    try {
        write();
    } catch (const error&) {
        return;
    }
}

}  // namespace detail::hub

/// The file of exactly this revision where the cache has it; never uses the network and never writes.
///
/// A branch or tag is what it was when it was last downloaded. No other revision is ever taken instead. A damaged
/// ref or file counts as none. Throws `bad_value` for a name that cannot be one.
[[nodiscard]] inline std::optional<hub_file> find_in_cache(const repo_id& id, std::string_view filename,
                                                           const hub_options& options) {
    detail::hub::validate_names(id, filename);
    if (options.cache_dir.empty()) return std::nullopt;
    const detail::hub::repo_cache cache(options.cache_dir, id.name);
    const auto commit = cache.commit_of(id.revision);
    if (!commit || cache.lookup(*commit, filename, options.max_size) != detail::hub::found::complete)
        return std::nullopt;
    return hub_file{cache.snapshot(*commit, filename), *commit};
}

/// The file as the hub has it now, put into the cache unless it is there already.
///
/// Throws `not_found` for what is missing, private or gated, `network` where the hub cannot be asked or does not
/// answer as agreed, `io` where the cache cannot be written to. What is in the cache is whole, whatever happens.
inline hub_file download(const repo_id& id, std::string_view filename, const hub_options& options) {
    using namespace detail::hub;
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
                    "cannot ask the hub for \"" + detail::hub::printable(filename) + "\", since " +
                        options.offline_source + " is set; the cache is " + detail::hub::printable(cache_dir) +
                        (damaged ? ", where the file is damaged" : ""));
    }
    // A `~` that is still there had no home folder to stand for.
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
    const hub_file file{cache.snapshot(facts.commit, filename), facts.commit};
    if (cache.has(facts.commit, filename, facts.blob, options.max_size)) {
        if_possible([&] { cache.store_ref(id.revision, facts.commit); });
        return file;
    }
    auto content = cache.read_blob(facts.blob, options.max_size);
    if (!content) content = get_content(client, head, facts, id, filename, options.max_size);
    cache.store(facts.commit, filename, facts.blob, *content, options.symlinks);
    cache.store_ref(id.revision, facts.commit);
    return file;
}

/// The cached file where there is one, else a download; this is what a command that names a model wants.
///
/// Throws `not_found` without asking where the hub has said before that this commit has no such file; of a branch or
/// tag, which may have moved since, only where the hub cannot be asked.
inline hub_file fetch(const repo_id& id, std::string_view filename, const hub_options& options) {
    if (auto cached = find_in_cache(id, filename, options)) return *cached;
    const detail::hub::repo_cache cache(options.cache_dir, id.name);
    const auto commit = options.cache_dir.empty() ? std::nullopt : cache.commit_of(id.revision);
    const bool lasting = detail::hub::is_commit(id.revision) || options.offline;
    if (lasting && commit && cache.known_absent(*commit, filename)) {
        throw error(errc::not_found, detail::hub::to_string(id),
                    "has no file \"" + detail::hub::printable(filename) + "\" (so the cache remembers of commit " +
                        *commit + ')');
    }
    return download(id, filename, options);
}

}  // namespace llmcost
