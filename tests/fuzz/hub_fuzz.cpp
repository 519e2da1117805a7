// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// Feeds the hub's readers of foreign text: repository ids, refs, headers, the cache and the environment.
#include <llmcost/hub.hpp>
#include <llmcost/hub/hash.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include <unistd.h>

namespace {

namespace fs = std::filesystem;
namespace hub = llmcost::detail::hub;

void promise(bool is_satisfied, const char* message) {
    if (is_satisfied) return;
    std::fprintf(stderr, "broken promise: %s\n", message);
    std::abort();
}

bool is_printable(std::string_view text) {
    for (const char c : text) {
        if (c < 0x20 || c > 0x7e) return false;
    }
    return true;
}

/// True where `path`, taken word by word, is below `folder`.
bool is_below(const fs::path& path, const fs::path& folder) {
    const std::string normal = path.lexically_normal().string();
    return normal.starts_with(folder.lexically_normal().string() + '/') && path == path.lexically_normal();
}

/// Calls `call`; an error of ours must be fit to be shown, and nothing else may be thrown.
template <class Call>
void expect_answer_or_error(const Call& call) {
    try {
        call();
    } catch (const llmcost::error& thrown) {
        promise(is_printable(thrown.what()), "a message is printable");
    }
}

void read_name(std::string_view text) {
    expect_answer_or_error([&] {
        const llmcost::repo_id id = llmcost::parse_repo_id(text);
        promise(text == id.name || text == id.name + '@' + id.revision, "an id is what was written");
        const hub::repo_cache cache("/cache", id.name);
        const fs::path path = cache.snapshot(std::string(40, '0'), "config.json");
        promise(is_below(path, "/cache"), "a repository stays in the cache");
        promise(is_below(fs::path("/cache/refs") / id.revision, "/cache/refs"), "a ref stays in its folder");
        promise(is_printable(hub::percent_encode(id.revision)), "an encoded revision is printable");
    });
    expect_answer_or_error([&] {
        hub::check_filename(text);
        promise(is_below(fs::path("/cache") / text, "/cache"), "a file stays in its folder");
    });
    expect_answer_or_error([&] { hub::check_token(text, text); });
}

void read_header(std::string_view text) {
    hub::http_header header;
    hub::split(text, '\n', [&](std::string_view line) { static_cast<void>(header.add_line(line)); });
    const hub::file_facts facts = hub::read_facts(header);
    promise(!hub::is_blob(facts.blob) || facts.blob.find_first_of("./\\") == std::string::npos,
            "a blob is a plain name");
    static_cast<void>(hub::wanted_wait(header));
    static_cast<void>(header.has_framed_body());
    promise(is_printable(hub::printable(header.get("x-error-message"))), "a server's words are printable");
}

class temporary_folder {
public:
    temporary_folder() {
        std::string name = (fs::temp_directory_path() / "llmcost-hub-fuzz-XXXXXX").string();
        promise(::mkdtemp(name.data()) != nullptr, "there is a temporary folder");
        path_ = name;
    }
    temporary_folder(const temporary_folder&) = delete;
    temporary_folder& operator=(const temporary_folder&) = delete;
    ~temporary_folder() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    const fs::path& path() const { return path_; }

private:
    fs::path path_;
};

/// Looks up in a cache whose ref is `text`: nothing but the one snapshot may be found.
void exercise_cache_lookup(std::string_view text) {
    static const temporary_folder temporary;
    static const std::string commit(40, '1');
    const fs::path& folder = temporary.path();
    const hub::repo_cache cache(folder, "org/name");
    const std::string blob = hub::git_name("{}");
    if (!cache.has(commit, "config.json", blob, 2)) cache.store(commit, "config.json", blob, "{}", true);
    fs::create_directories(folder / "models--org--name/refs");
    std::ofstream(folder / "models--org--name/refs/main", std::ios::binary) << text;

    llmcost::hub_options options;
    options.cache_dir = folder;
    const auto found = llmcost::find_in_cache({"org/name"}, "config.json", options);
    promise(found.has_value() == (hub::trim(text) == commit), "a ref is a commit or nothing");
    expect_answer_or_error([&] {
        if (const auto revision_file =
                llmcost::find_in_cache({"org/name", std::string(text)}, "config.json", options)) {
            promise(revision_file->commit == commit, "no other revision is found");
        }
    });
}

void read_environment(std::string_view text) {
    const std::string value(text.substr(0, text.find('\0')));
    expect_answer_or_error([&] {
        const auto options = llmcost::hub_options::from_environment([&](const char*) { return value.c_str(); });
        promise(value.empty() || options.endpoint == value, "an endpoint is taken as it is");
    });
}

}  // namespace

/// The first byte chooses the reader, the rest is its input.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
    switch (data[0] % 4) {
        case 0: read_name(text); break;
        case 1: read_header(text); break;
        case 2: exercise_cache_lookup(text); break;
        default: read_environment(text); break;
    }
    return 0;
}
