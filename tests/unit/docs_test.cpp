// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/bundled/bundled_config.hpp>
#include <llmcost/bundled/verified_type.hpp>
#include <llmcost/config/model_registry.hpp>

#include <doctest/doctest.h>

#include <cctype>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "registry.hpp"

// What the pages in docs/ point at is there, and code that they quote is the code.
namespace {

const std::filesystem::path top = std::filesystem::path(LLMCOST_TEST_DIR).parent_path();

std::string text_of(const std::filesystem::path& path) {
    std::ifstream in(path);
    std::ostringstream all;
    all << in.rdbuf();
    return all.str();
}

std::vector<std::filesystem::path> pages() {
    std::vector<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::directory_iterator(top / "docs"))
        if (entry.path().extension() == ".md") found.push_back(entry.path());
    for (const char* name : {"README.md", "CHANGELOG.md", "tests/oracle/README.md"})
        if (std::filesystem::exists(top / name)) found.push_back(top / name);
    return found;
}

/// What stands in code fences that open with this line, fence by fence.
std::vector<std::string> fenced(const std::string& page, const std::string& opening) {
    std::vector<std::string> blocks;
    for (std::size_t position = 0; (position = page.find("\n" + opening + "\n", position)) != std::string::npos;) {
        const std::size_t begin = position + opening.size() + 2, end = page.find("\n```", begin);
        blocks.push_back(page.substr(begin, end + 1 - begin));
        position = end;
    }
    return blocks;
}

/// The anchors of a page's headings, as GitHub makes them: small letters, hyphens for spaces, no punctuation.
std::set<std::string> anchors_of(const std::string& page) {
    std::set<std::string> anchors;
    std::istringstream lines(page);
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with('#')) continue;
        std::string anchor;
        for (const char c : line.substr(line.find_first_not_of("# ")))
            if (c == ' ' || c == '-')
                anchor += '-';
            else if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' ||
                     static_cast<unsigned char>(c) > 127)
                anchor += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        anchors.insert(anchor);
    }
    return anchors;
}

/// Targets of `[text](target)` that are no addresses of the web.
std::vector<std::string> links_of(const std::string& page) {
    std::vector<std::string> links;
    for (std::size_t position = 0; (position = page.find("](", position)) != std::string::npos; ++position) {
        const std::string target = page.substr(position + 2, page.find(')', position) - position - 2);
        if (target.find("://") == std::string::npos && target.find(' ') == std::string::npos) links.push_back(target);
    }
    return links;
}

}  // namespace

TEST_CASE("links between pages and to files lead somewhere") {
    std::size_t followed = 0;
    for (const std::filesystem::path& page : pages()) {
        const std::string text = text_of(page);
        CAPTURE(page.filename().string());
        for (const std::string& link : links_of(text)) {
            CAPTURE(link);
            const std::size_t hash = link.find('#');
            const std::filesystem::path target = hash == 0 ? page : page.parent_path() / link.substr(0, hash);
            CHECK(std::filesystem::exists(target));
            if (hash != std::string::npos) CHECK(anchors_of(text_of(target)).contains(link.substr(hash + 1)));
            ++followed;
        }
    }
    CHECK(followed > 20);
}

TEST_CASE("rows and readers that adding-a-model.md quotes are in the library") {
    std::string headers;
    for (const auto& entry : std::filesystem::directory_iterator(top / "include/llmcost/arch"))
        headers += text_of(entry.path());
    const std::vector<std::string> quoted = fenced(text_of(top / "docs/adding-a-model.md"), "```cpp");
    CHECK(quoted.size() >= 2);
    for (const std::string& code : quoted) CHECK_MESSAGE(headers.find(code) != std::string::npos, code);
}

// what the program lists: models --format json
TEST_CASE("the README's counts are those of the program") {
    std::size_t types = 0, verified = 0;
    for (const llmcost::model_spec* spec : parts::registry) {
        ++types;
        const llmcost::verified_type* const found = llmcost::find_verified(parts::verified, spec->model_type);
        verified += found != nullptr && !found->configurations.empty() ? 1 : 0;
    }
    const std::string readme = text_of(top / "README.md");
    CHECK(readme.find("They cover " + std::to_string(verified) + " of the " + std::to_string(types) +
                      " [supported model types]") != std::string::npos);
    CHECK(readme.find(std::to_string(parts::configurations.size()) + " configurations are bundled") !=
          std::string::npos);
}
