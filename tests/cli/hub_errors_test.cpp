// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// Answers of the Hub for each file of a model: only a file that is not there may be left out.
#include "../hub/hub_fixture.hpp"
#include "program.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>

using namespace llmcost::testing;
namespace fs = std::filesystem;

namespace {

constexpr const char* whisper_config =
    R"({"model_type": "whisper", "d_model": 8, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2,)"
    R"( "decoder_attention_heads": 2, "encoder_ffn_dim": 8, "decoder_ffn_dim": 8, "vocab_size": 97,)"
    R"( "max_source_positions": 750})";
constexpr const char* config_file = "config.json";
constexpr const char* const optional_files[] = {"preprocessor_config.json", "processor_config.json",
                                                "hf_quant_config.json"};

/// A hub with one repository, `org/name`: files, and other answers for single files.
struct model_hub {
    using answer = std::function<server_reply(const server_request&)>;

    std::map<std::string, std::string> files{{config_file, whisper_config}};
    std::map<std::string, answer> answers{};

    server_reply operator()(const server_request& to) const {
        const std::size_t slash = to.target.rfind('/');
        const std::string file = to.target.substr(slash + 1);
        if (const auto found = answers.find(file); found != answers.end()) return found->second(to);
        if (const auto found = files.find(file); found != files.end())
            return small_hub{first_commit, {}, found->second, file}(to);
        return server_reply::make(to, 404, {{"X-Error-Code", "EntryNotFound"}, {"X-Repo-Commit", first_commit}});
    }
};

/// A cache that is filled from a hub.
class hub_user {
public:
    explicit hub_user(model_hub hub) : server_(std::move(hub)) {}

    [[nodiscard]] outcome run(const std::string& home = {}) const {
        const std::string hf_home = home.empty() ? folder_.path().string() : home;
        return llmcost_line(
            "--model org/name --format csv params",
            {.variables = {{"HF_HUB_OFFLINE", "0"}, {"HF_HOME", hf_home}, {"HF_ENDPOINT", server_.url()}}});
    }
    /// Runs twice, as a later run may use what the first one stored; both must fail with this code and print nothing.
    [[nodiscard]] std::string error_of_two_runs(int code) const {
        const outcome first = run(), second = run();
        for (const outcome& got : {first, second}) {
            CHECK(got.code == code);
            CHECK(got.out == "");
            CHECK(got.err.find('\n') == got.err.size() - 1);
        }
        CHECK(first.err == second.err);
        return first.err;
    }
    [[nodiscard]] std::size_t num_requests() const { return server_.requests().size(); }
    [[nodiscard]] const fs::path& home() const { return folder_.path(); }
    [[nodiscard]] std::string url() const { return server_.url(); }

private:
    temporary_folder folder_;
    loopback_server server_;
};

/// An HTTP status, and the exit code of a run that receives it.
struct status_code {
    int status, exit_code;
};

/// A hub that answers requests for one file with a status, without a wait before the next attempt.
model_hub with_status(const std::string& file, int status) {
    model_hub hub;
    hub.answers[file] = [status](const server_request& to) {
        return server_reply::make(to, status, {{"Retry-After", "0"}}, "<html>a page</html>");
    };
    return hub;
}

}  // namespace

TEST_CASE("a status other than 200 for config.json is an error") {
    for (const status_code row : {status_code{401, 3}, {403, 3}, {404, 3}, {429, 4}, {500, 4}, {503, 4}}) {
        const int status = row.status;
        CAPTURE(status);
        const std::string error = hub_user(with_status(config_file, status)).error_of_two_runs(row.exit_code);
        CHECK(has(error, "/org/name/resolve/main/config.json: HTTP " + std::to_string(status) + ": "));
        CHECK(has(error, status == 429   ? "too many requests: wait some minutes"
                         : status >= 500 ? "the Hub did not return the file"
                                         : "org/name is missing, private or gated"));
    }
}

TEST_CASE("of the optional files, only a missing one is left out, in the first run and in later ones") {
    const std::string answer = hub_user(model_hub{}).run().out;
    REQUIRE(answer.starts_with("scope,params\nall,"));
    for (const std::string file : optional_files) {
        CAPTURE(file);
        const hub_user without(with_status(file, 404));
        CHECK(without.run().out == answer);
        CHECK(without.run().out == answer);
        for (const status_code row : {status_code{401, 3}, {403, 3}, {429, 4}, {500, 4}, {503, 4}}) {
            const int status = row.status;
            CAPTURE(status);
            const std::string error = hub_user(with_status(file, status)).error_of_two_runs(row.exit_code);
            CHECK(has(error, "/" + file + ": HTTP " + std::to_string(status) + ": "));
        }
    }
}

TEST_CASE("a missing optional file of a commit is asked for once") {
    const hub_user user{model_hub{}};
    CHECK(user.run().code == 0);
    const std::size_t num_requests = user.num_requests();
    CHECK(num_requests == 5);  // two for config.json, one for each optional file
    CHECK(user.run().code == 0);
    // the processor files of this commit are recorded as missing, as is the quantization
    CHECK(user.num_requests() == num_requests);
}

TEST_CASE("a damaged, cut or large file is an error, whichever file it is") {
    const std::string large((std::size_t{16} << 20U) + 1, ' ');
    const auto headers = [](std::size_t size, std::string_view blob) {
        return "HTTP/1.1 200 OK\r\nConnection: close\r\nX-Repo-Commit: " + first_commit + "\r\nETag: \"" +
               std::string(blob) + "\"\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n";
    };
    const model_hub::answer cut = [&](const server_request& to) -> server_reply {
        const std::string head = headers(100, first_blob);
        return {to.method == "HEAD" ? head : head + "{\"model_type\""};
    };
    const model_hub::answer damaged = [&](const server_request& to) -> server_reply {
        return {headers(2, first_blob) + (to.method == "HEAD" ? "" : "{}")};
    };
    const model_hub::answer too_large = [&](const server_request& to) -> server_reply {
        return {headers(large.size(), first_blob) + (to.method == "HEAD" ? "" : large)};
    };
    const model_hub::answer beyond_limit = [&](const server_request& to) -> server_reply {
        return small_hub{first_commit,
                         {},
                         std::string((std::size_t{4} << 20U) + 1, ' '),
                         to.target.substr(to.target.rfind('/') + 1)}(to);
    };
    for (const std::string file : {config_file, optional_files[0], optional_files[1], optional_files[2]}) {
        CAPTURE(file);
        const auto error_with = [&](const model_hub::answer& answer, int code) {
            model_hub hub;
            hub.answers[file] = answer;
            return hub_user(hub).error_of_two_runs(code);
        };
        CHECK(has(error_with(damaged, 4), "/" + file + ": the content does not match its ETag, a git SHA-1"));
        CHECK(has(error_with(too_large, 4), "/" + file + ": the file has 16777217 bytes, more than 16777216"));
        CHECK(has(error_with(beyond_limit, 3), "/" + file + ": expected at most 4194304 bytes"));
    }
    // with waits of 1.5 s between the attempts; tests/hub has the other files
    model_hub hub;
    hub.answers = {{optional_files[0], cut}};
    const outcome got = hub_user(hub).run();
    CHECK(got.code == 4);
    CHECK(got.out == "");
    CHECK(has(got.err, "/preprocessor_config.json: "));
    CHECK(has(got.err, "(3 attempts)"));
}

TEST_CASE("a cache that cannot be written costs no answer") {
    model_hub hub;
    hub.files["preprocessor_config.json"] = R"({"chunk_length": 15})";
    const hub_user user(hub);
    write_file(user.home() / "file", "");
    const std::string home = (user.home() / "file/home").string();
    const outcome got = user.run(home), with_cache = user.run();
    CHECK(got.code == 0);
    CHECK(got.err == "");
    CHECK(got.out == with_cache.out);
    // what was downloaded is checked all the same
    hub.files["preprocessor_config.json"] = R"({"chunk_length": 30})";
    const hub_user wrong(hub);
    write_file(wrong.home() / "file", "");
    const outcome refused = wrong.run((wrong.home() / "file/home").string());
    CHECK(refused.code == 3);
    CHECK(refused.out == "");
}

TEST_CASE("a processor file that the hub has is used") {
    model_hub hub;
    hub.files["preprocessor_config.json"] = R"({"chunk_length": 30})";
    CHECK(has(hub_user(hub).error_of_two_runs(3), "/preprocessor_config/chunk_length: expected chunk_length"));
}

TEST_CASE("offline, a processor file that is not cached is left out, and one that is cached must be readable") {
    model_hub hub;
    hub.files["preprocessor_config.json"] = R"({"chunk_length": 15})";
    const hub_user user(hub);
    CHECK(user.run().code == 0);
    const surroundings offline{.variables = {{"HF_HUB_OFFLINE", "1"}, {"HF_HOME", user.home().string()}}};
    const std::string query = "--model org/name --format csv params";
    const std::size_t num_requests = user.num_requests();
    CHECK(printed(query, offline) == user.run().out);
    const fs::path file = user.home() / "hub/models--org--name/snapshots" / first_commit / "preprocessor_config.json";
    const fs::path blob = fs::canonical(file);
    write_file(blob, "{}");
    CHECK(has(refused(query, offline, 4), "where the file is damaged"));
    fs::remove(file);
    CHECK(printed(query, offline) == user.run().out);
    CHECK(user.num_requests() > num_requests);  // online only
}
