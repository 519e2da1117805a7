// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <llmcost/hub/client.hpp>

#include <string>

#include "hub_fixture.hpp"

using namespace llmcost::detail::hub;
using llmcost::errc;

TEST_CASE("a missing libcurl is an error that names library and package") {
    const char* const names[] = {"libllmcost-no-such.so.4", "libllmcost-nor-this.so.4"};
    const llmcost::error thrown = error_of([&] { return load_curl(names); });
    CHECK(thrown.code() == errc::network);
    CHECK(contains(thrown.what(), "libllmcost-no-such.so.4, libllmcost-nor-this.so.4"));
    CHECK(contains(thrown.what(), "install the package libcurl4"));
}

TEST_CASE("a library without the functions is an error that names the first") {
    const char* const names[] = {"libm.so.6"};
    const llmcost::error thrown = error_of([&] { return load_curl(names); });
    CHECK(thrown.code() == errc::network);
    CHECK(contains(thrown.what(), "curl_global_init"));
}

TEST_CASE("a URL is taken apart") {
    const auto url = parse_url(curl(), "HTTPS://Hub.Example/a/b?c=d#e");
    REQUIRE(url);
    CHECK(url->scheme == "https");
    CHECK(url->host == "hub.example");
    CHECK(url->port == "443");
    CHECK(url->place == "https://Hub.Example/a/b");
    CHECK(contains(url->text, "?c=d"));
    CHECK_FALSE(contains(url->text, "#"));
    CHECK(parse_url(curl(), "http://a:8080/")->port == "8080");
}

TEST_CASE("what is no http URL or names a user is none") {
    for (const std::string bad :
         {"", "huggingface.co", "/a", "ftp://a/", "file:///a", "http://", "https://u@a/", "https://u:p@a/",
          "https://:p@a/", "https://a b/", "https://a/\n", "https://a:99999/", "https://a\x7f/"}) {
        CAPTURE(bad);
        CHECK_FALSE(parse_url(curl(), bad));
    }
    CHECK_FALSE(parse_url(curl(), "https://a/" + std::string(8000, 'x')));
}

TEST_CASE("a relative URL is resolved, one with a host of its own is not taken for a path") {
    const auto base = parse_url(curl(), "https://hub.example/a/b?q=1");
    REQUIRE(base);
    CHECK(parse_url(curl(), "/c", &*base)->text == "https://hub.example/c");
    CHECK(parse_url(curl(), "c?d=e", &*base)->text == "https://hub.example/a/c?d=e");
    CHECK(parse_url(curl(), "//evil.example/c", &*base)->host == "evil.example");
    CHECK(parse_url(curl(), "http://evil.example/c", &*base)->scheme == "http");
    CHECK_FALSE(parse_url(curl(), "//u@evil.example/c", &*base));
}

TEST_CASE("an origin is scheme, host and port together") {
    const auto is_same_origin = [](const std::string& a, const std::string& b) {
        return parse_url(curl(), a)->same_origin(*parse_url(curl(), b));
    };
    CHECK(is_same_origin("https://a.example/x", "https://A.example:443/y"));
    CHECK(is_same_origin("http://a.example", "http://a.example:80/"));
    CHECK_FALSE(is_same_origin("https://a.example", "http://a.example"));
    CHECK_FALSE(is_same_origin("https://a.example", "https://a.example:444"));
    CHECK_FALSE(is_same_origin("https://a.example", "https://a.example.evil.example"));
    CHECK_FALSE(is_same_origin("https://a.example", "https://b.a.example"));
    CHECK_FALSE(is_same_origin("https://a.example", "https://a.example./"));
    CHECK_FALSE(is_same_origin("http://a.example:443", "https://a.example"));
}

TEST_CASE("loopback is this machine by name") {
    const auto loopback = [](const std::string& text) { return parse_url(curl(), text)->loopback(); };
    CHECK(loopback("http://localhost/"));
    CHECK(loopback("http://127.0.0.1:1/"));
    CHECK(loopback("http://[::1]:1/"));
    CHECK_FALSE(loopback("http://localhost.example/"));
    CHECK_FALSE(loopback("http://127.0.0.1.example/"));
    CHECK_FALSE(loopback("http://128.0.0.1/"));
    CHECK(loopback("http://127.255.0.9/"));
    // what is no address of four octets is looked up in DNS, which may lead anywhere
    for (const std::string host :
         {"127.0.0.1.1", "127.999.1.1", "127.0.0.256", "127.0.0.1.", "127..0.1", "127.0.0.08"}) {
        CAPTURE(host);
        const auto url = parse_url(curl(), "http://" + host + "/");
        if (url && url->host == host) CHECK_FALSE(url->loopback());
        CHECK_FALSE(is_loopback_address(host));
    }
}

TEST_CASE("a redirect never leaves https and stays at home over http") {
    const auto may = [](const std::string& source, const std::string& to) {
        return may_follow(*parse_url(curl(), source), *parse_url(curl(), to));
    };
    CHECK(may("https://a.example/", "https://b.example/"));
    CHECK(may("http://a.example/", "https://b.example/"));
    CHECK(may("http://a.example/", "http://a.example/x"));
    CHECK(may("http://127.0.0.1:1/", "http://127.0.0.1:2/"));
    CHECK_FALSE(may("https://a.example/", "http://a.example/"));
    CHECK_FALSE(may("https://a.example/", "http://127.0.0.1/"));
    CHECK_FALSE(may("http://a.example/", "http://b.example/"));
    CHECK_FALSE(may("http://a.example/", "http://127.0.0.1/"));
    CHECK_FALSE(may("http://127.0.0.1/", "http://a.example/"));
}

TEST_CASE("an endpoint that is no plain URL is refused without showing it") {
    for (const std::string bad :
         {"", "hub.example", "ftp://hub.example", "https://me:secret@hub.example", "https://hub.example/?a=secret"}) {
        CAPTURE(bad);
        llmcost::hub_options options;
        options.endpoint = bad;
        const llmcost::error thrown = error_of([&] {
            const hub_client client(options);
            return 0;
        });
        CHECK(thrown.code() == errc::bad_value);
        CHECK(thrown.location() == "HF_ENDPOINT");
        CHECK_FALSE(contains(thrown.what(), "secret"));
    }
}

TEST_CASE("a token is withheld from an endpoint over open http") {
    const auto withheld = [](const std::string& endpoint, const std::string& token) {
        llmcost::hub_options options;
        options.endpoint = endpoint;
        options.token = token;
        return hub_client(options).token_withheld();
    };
    CHECK(withheld("http://mirror.example", "t"));
    CHECK_FALSE(withheld("http://mirror.example", ""));
    CHECK(withheld("http://127.0.0.1.1", "t"));
    CHECK(withheld("http://127.999.1.1", "t"));
    CHECK_FALSE(withheld("https://mirror.example", "t"));
    CHECK_FALSE(withheld("http://127.0.0.1:8080", "t"));
    CHECK_FALSE(withheld("http://localhost", "t"));
}
