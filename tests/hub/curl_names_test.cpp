// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cctype>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include <curl/curl.h>

// web/curl/curl.h, for builds without the headers of libcurl, has the values of libcurl's own header.
TEST_CASE("names of libcurl have the values of its binary interface") {
    std::ifstream in(LLMCOST_TEST_DIR "/../web/curl/curl.h");
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    std::map<std::string, long> values;
    for (std::size_t equals = text.find(" = "); equals != std::string::npos; equals = text.find(" = ", equals + 1)) {
        std::size_t begin = equals;
        while (begin > 0 && (std::isalnum(static_cast<unsigned char>(text[begin - 1])) != 0 || text[begin - 1] == '_'))
            --begin;
        values[text.substr(begin, equals - begin)] = std::strtol(text.c_str() + equals + 3, nullptr, 10);
    }
    std::size_t num_checked = 0;
    const auto check = [&](const char* name, long value) {
        REQUIRE_MESSAGE(values.count(name) == 1, name);
        CHECK_MESSAGE(values[name] == value, name);
        ++num_checked;
    };
#define LLMCOST_CHECK_NAME(name) check(#name, static_cast<long>(name))
    LLMCOST_CHECK_NAME(CURLE_OK);
    LLMCOST_CHECK_NAME(CURLE_HTTP2);
    LLMCOST_CHECK_NAME(CURLE_PARTIAL_FILE);
    LLMCOST_CHECK_NAME(CURLE_OPERATION_TIMEDOUT);
    LLMCOST_CHECK_NAME(CURLE_GOT_NOTHING);
    LLMCOST_CHECK_NAME(CURLE_SEND_ERROR);
    LLMCOST_CHECK_NAME(CURLE_RECV_ERROR);
    LLMCOST_CHECK_NAME(CURLE_HTTP2_STREAM);
    LLMCOST_CHECK_NAME(CURLOPT_URL);
    LLMCOST_CHECK_NAME(CURLOPT_FOLLOWLOCATION);
    LLMCOST_CHECK_NAME(CURLOPT_HTTP09_ALLOWED);
    LLMCOST_CHECK_NAME(CURLOPT_NOSIGNAL);
    LLMCOST_CHECK_NAME(CURLOPT_NETRC);
    LLMCOST_CHECK_NAME(CURLOPT_SSL_VERIFYPEER);
    LLMCOST_CHECK_NAME(CURLOPT_SSL_VERIFYHOST);
    LLMCOST_CHECK_NAME(CURLOPT_CAINFO);
    LLMCOST_CHECK_NAME(CURLOPT_NOPROXY);
    LLMCOST_CHECK_NAME(CURLOPT_NOBODY);
    LLMCOST_CHECK_NAME(CURLOPT_USERAGENT);
    LLMCOST_CHECK_NAME(CURLOPT_HTTPHEADER);
    LLMCOST_CHECK_NAME(CURLOPT_HEADEROPT);
    LLMCOST_CHECK_NAME(CURLOPT_CONNECTTIMEOUT_MS);
    LLMCOST_CHECK_NAME(CURLOPT_TIMEOUT_MS);
    LLMCOST_CHECK_NAME(CURLOPT_LOW_SPEED_LIMIT);
    LLMCOST_CHECK_NAME(CURLOPT_LOW_SPEED_TIME);
    LLMCOST_CHECK_NAME(CURLOPT_HEADERFUNCTION);
    LLMCOST_CHECK_NAME(CURLOPT_HEADERDATA);
    LLMCOST_CHECK_NAME(CURLOPT_WRITEFUNCTION);
    LLMCOST_CHECK_NAME(CURLOPT_WRITEDATA);
    LLMCOST_CHECK_NAME(CURLOPT_ERRORBUFFER);
    LLMCOST_CHECK_NAME(CURLUE_OK);
    LLMCOST_CHECK_NAME(CURLUPART_URL);
    LLMCOST_CHECK_NAME(CURLUPART_SCHEME);
    LLMCOST_CHECK_NAME(CURLUPART_HOST);
    LLMCOST_CHECK_NAME(CURLUPART_PORT);
    LLMCOST_CHECK_NAME(CURLUPART_QUERY);
    LLMCOST_CHECK_NAME(CURLUPART_FRAGMENT);
    LLMCOST_CHECK_NAME(CURLPROTO_HTTP);
    LLMCOST_CHECK_NAME(CURLPROTO_HTTPS);
    LLMCOST_CHECK_NAME(CURLHEADER_SEPARATE);
    LLMCOST_CHECK_NAME(CURL_NETRC_IGNORED);
    LLMCOST_CHECK_NAME(CURLU_DEFAULT_PORT);
    LLMCOST_CHECK_NAME(CURLU_DISALLOW_USER);
#undef LLMCOST_CHECK_NAME
    CHECK(num_checked == values.size() - 1);  // all but CURLOPT_LASTENTRY, which bounds the type
    CHECK(text.find("#define CURL_ERROR_SIZE 256") != std::string::npos);
    CHECK(CURL_ERROR_SIZE == 256);
}
