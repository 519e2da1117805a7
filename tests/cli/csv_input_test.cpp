// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <doctest/doctest.h>

#include <ios>
#include <istream>
#include <sstream>
#include <streambuf>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/cli/run.hpp>

using namespace llmcost::testing;

// Tables on the standard input that are not what their header says.

namespace {

/// A text behind which reading fails, as of a disk with an error or a folder.
class failing_text final : public std::streambuf {
public:
    explicit failing_text(std::string text) : text_(std::move(text)) {
        setg(text_.data(), text_.data(), text_.data() + text_.size());
    }

protected:
    int_type underflow() override { throw std::ios_base::failure("error reading the file"); }

private:
    std::string text_;
};

const std::string product = "op gemm --device h200 --calibration none --dtype bf16";

}  // namespace

TEST_CASE("an error of reading is not the end of a table") {
    const std::vector<std::string_view> args{"op", "gemm", "--device", "h200", "--dtype", "bf16"};
    for (const auto& [text, line] : {std::pair{"", "1"}, {"m,n,k\n", "2"}, {"m,n,k\n1,2,3\n1,2", "3"}}) {
        failing_text source(text);
        std::istream in(&source);
        std::ostringstream out, err;
        CHECK(llmcost::cli::run(args, {out, err, in}) == 6);
        CHECK(out.str() == "");
        CHECK(err.str() == "llmcost: standard input: line " + std::string(line) + " cannot be read\n");
    }
}

TEST_CASE("a line of a table has an end") {
    const std::string most(1048576 - 6, 'x');
    CHECK(has(printed(product, {.in = "m,n,k,note\n1,1,1," + most + '\n'}), most + ','));
    CHECK(refused(product, {.in = "m,n,k,note" + most}) == "llmcost: line 1: expected at most 1048576 bytes\n");
}
