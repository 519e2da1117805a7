// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <llmcost/hub/options.hpp>

#include <chrono>
#include <map>
#include <string>
#include <string_view>

#include "hub_fixture.hpp"

using llmcost::hub_options;

namespace {

hub_options make_options(std::map<std::string, std::string> values) {
    values.emplace("HOME", "/home/me");
    return hub_options::from_environment(variables(std::move(values)));
}

}  // namespace

TEST_CASE("without variables everything has the defaults of the Hugging Face tools") {
    const hub_options options = make_options({});
    CHECK(options.endpoint == "https://huggingface.co");
    CHECK(options.cache_dir == "/home/me/.cache/huggingface/hub");
    CHECK(options.token.empty());
    CHECK(options.token_file == "/home/me/.cache/huggingface/token");
    CHECK_FALSE(options.offline);
    CHECK(options.symlinks);
    CHECK(options.etag_timeout == std::chrono::seconds(10));
    CHECK(options.download_timeout == std::chrono::seconds(10));
    CHECK(options.max_size == 16777216);
}

TEST_CASE("each variable of the cache folder goes before the next") {
    std::map<std::string, std::string> values = {
        {"HF_HUB_CACHE", "/1"}, {"HUGGINGFACE_HUB_CACHE", "/2"}, {"HF_HOME", "/3"}, {"XDG_CACHE_HOME", "/4"}};
    CHECK(make_options(values).cache_dir == "/1");
    CHECK(make_options(values).token_file == "/3/token");
    values["HF_HUB_CACHE"] = "";
    CHECK(make_options(values).cache_dir == "/2");
    values.erase("HUGGINGFACE_HUB_CACHE");
    CHECK(make_options(values).cache_dir == "/3/hub");
    values.erase("HF_HOME");
    CHECK(make_options(values).cache_dir == "/4/huggingface/hub");
    values.erase("XDG_CACHE_HOME");
    CHECK(make_options(values).cache_dir == "/home/me/.cache/huggingface/hub");
}

TEST_CASE("~ and variables are expanded in every path") {
    CHECK(make_options({{"HF_HUB_CACHE", "~/c"}}).cache_dir == "/home/me/c");
    CHECK(make_options({{"HUGGINGFACE_HUB_CACHE", "~"}}).cache_dir == "/home/me");
    CHECK(make_options({{"HF_HOME", "$DATA/hf"}, {"DATA", "/d"}}).cache_dir == "/d/hf/hub");
    CHECK(make_options({{"XDG_CACHE_HOME", "${DATA}x"}, {"DATA", "/d"}}).cache_dir == "/dx/huggingface/hub");
    CHECK(make_options({{"HF_TOKEN_PATH", "~/t$A$"}, {"A", "b"}}).token_file == "/home/me/tb$");
    CHECK(make_options({{"HF_HUB_CACHE", "/a$NOT_SET/${NOT_SET}/${}/${open"}}).cache_dir ==
          "/a$NOT_SET/${NOT_SET}/${}/${open");
    CHECK(make_options({{"HF_HUB_CACHE", "/a~"}}).cache_dir == "/a~");
}

TEST_CASE("without HOME the home folder is that of the user data base") {
    const hub_options options = hub_options::from_environment(variables({}));
    CHECK(options.cache_dir.is_absolute());
    CHECK(contains(options.cache_dir.string(), "/.cache/huggingface/hub"));
}

TEST_CASE("the token is read, stripped and can be switched off") {
    CHECK(make_options({{"HF_TOKEN", " abc\n"}, {"HUGGING_FACE_HUB_TOKEN", "old"}}).token == "abc");
    CHECK(make_options({{"HUGGING_FACE_HUB_TOKEN", "old"}}).token == "old");
    const hub_options disabled = make_options({{"HF_TOKEN", "abc"}, {"HF_HUB_DISABLE_IMPLICIT_TOKEN", "1"}});
    CHECK(disabled.token.empty());
    CHECK(disabled.token_file.empty());
}

TEST_CASE("offline is on for 1, ON, YES and TRUE in any case") {
    for (const std::string yes : {"1", "ON", "on", "Yes", "TRUE", "true"}) {
        CAPTURE(yes);
        CHECK(make_options({{"HF_HUB_OFFLINE", yes}}).offline);
        CHECK(make_options({{"HF_HUB_OFFLINE", yes}}).offline_source == "HF_HUB_OFFLINE");
        CHECK(make_options({{"TRANSFORMERS_OFFLINE", yes}}).offline);
        CHECK(make_options({{"TRANSFORMERS_OFFLINE", yes}}).offline_source == "TRANSFORMERS_OFFLINE");
        CHECK_FALSE(make_options({{"HF_HUB_DISABLE_SYMLINKS", yes}}).symlinks);
    }
    for (const std::string no : {"", "0", "off", "no", "false", "2", "y"}) {
        CAPTURE(no);
        CHECK_FALSE(make_options({{"HF_HUB_OFFLINE", no}}).offline);
        CHECK(make_options({{"HF_HUB_DISABLE_SYMLINKS", no}}).symlinks);
    }
    CHECK_FALSE(make_options({{"HF_HUB_OFFLINE", "0"}, {"TRANSFORMERS_OFFLINE", "1"}}).offline);
}

TEST_CASE("endpoint, certificates and timeouts") {
    CHECK(make_options({{"HF_ENDPOINT", "https://mirror.example/hf/"}}).endpoint == "https://mirror.example/hf/");
    CHECK(make_options({{"HF_ENDPOINT", ""}}).endpoint == "https://huggingface.co");
    CHECK(make_options({{"SSL_CERT_FILE", "/a"}}).ca_file == "/a");
    CHECK(make_options({{"SSL_CERT_FILE", "/a"}, {"CURL_CA_BUNDLE", "/b"}}).ca_file == "/b");
    CHECK(make_options({{"HF_HUB_ETAG_TIMEOUT", "3"}}).etag_timeout == std::chrono::seconds(3));
    CHECK(make_options({{"HF_HUB_DOWNLOAD_TIMEOUT", " 60 "}}).download_timeout == std::chrono::seconds(60));
    CHECK(make_options({{"HF_HUB_ETAG_TIMEOUT", "0"}}).etag_timeout == std::chrono::seconds(10));
    for (const std::string bad : {"-1", "1.5", "ten", "86401", "99999999999999999999", "1\x1b"}) {
        CAPTURE(bad);
        const llmcost::error thrown = error_of([&] { return make_options({{"HF_HUB_ETAG_TIMEOUT", bad}}); });
        CHECK(thrown.code() == llmcost::errc::bad_value);
        CHECK(thrown.location() == "HF_HUB_ETAG_TIMEOUT");
        CHECK_FALSE(contains(thrown.what(), "\x1b"));
    }
}

TEST_CASE("a token file is read without the blanks around the token") {
    const temporary_folder folder;
    write_file(folder.path() / "token", "  hf_abc\n");
    CHECK(llmcost::read_token_file(folder.path() / "token") == "hf_abc");
    write_file(folder.path() / "empty", "");
    CHECK(llmcost::read_token_file(folder.path() / "empty").empty());
    const auto absent = [&] { return llmcost::read_token_file(folder.path() / "absent"); };
    CHECK(error_of(absent).code() == llmcost::errc::io);
    const auto directory = [&] { return llmcost::read_token_file(folder.path()); };
    CHECK(error_of(directory).code() == llmcost::errc::io);
}
