// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "../hub/hub_fixture.hpp"
#include "program.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

// `llmcost formula`: what it prints, evaluated, is what walks count.
using namespace llmcost::testing;

namespace {

/// A row of a table: B, S, P and a figure.
struct counted {
    std::int64_t batch, sequence, past;
    std::string value;
};

/// Rows of a table whose last column but one is a figure; those that a model has no room for left out.
std::vector<counted> rows_of(const std::string& line) {
    const outcome got = llmcost_line(line);
    std::istringstream lines(got.out);
    std::string row;
    std::getline(lines, row);
    std::vector<counted> out;
    while (std::getline(lines, row)) {
        std::vector<std::string> cells(1);
        for (const char c : row) c == ',' ? (void)cells.emplace_back() : (void)(cells.back() += c);
        if (cells.at(6).empty()) continue;
        out.push_back({std::stoll(cells.at(3)), std::stoll(cells.at(4)), std::stoll(cells.at(5)), cells.at(6)});
    }
    return out;
}

/// What walks count at workloads on both sides of what may be an edge.
std::vector<counted> traced_counts(const std::string& model, const std::string& query) {
    return rows_of(model +
                   " --batch 1,2,5 --sequence 1,2,3,4,63,64,65,66,127,128,300,511,512,4095,4096,4097 "
                   "--past 0,1,5,447,448,511,4094,4095,4096,9000 --format csv " +
                   query);
}

/// Reads what the text says: sums of products of numbers and names, squares, halves, conditions.
class reader {
public:
    reader(std::string_view text, std::map<char, std::int64_t> names) : text_(text), names_(std::move(names)) {}

    __extension__ typedef __int128 wide_integer;
    wide_integer sum() {
        wide_integer out = consume("-") ? -product() : product();
        for (;;) {
            if (consume("+"))
                out += product();
            else if (consume("-"))
                out -= product();
            else
                return out;
        }
    }
    /// Conditions between commas, all of which must hold.
    bool holds() {
        bool all = true;
        do {
            wide_integer left = sum();
            if (consume("divides")) {
                const wide_integer right = sum();
                all = all && right % left == 0;
            } else if (consume("does not divide")) {
                const wide_integer right = sum();
                all = all && right % left != 0;
            } else {
                while (true) {
                    const bool minimum = consume("≥"), maximum = !minimum && consume("≤"),
                               equal = !minimum && !maximum && consume("=");
                    if (!minimum && !maximum && !equal) break;
                    const wide_integer right = sum();
                    all = all && (minimum ? left >= right : maximum ? left <= right : left == right);
                    left = right;
                }
            }
        } while (consume(","));
        REQUIRE(text_.empty());
        return all;
    }

private:
    bool consume(std::string_view prefix) {
        while (text_.starts_with(' ')) text_.remove_prefix(1);
        if (!text_.starts_with(prefix)) return false;
        text_.remove_prefix(prefix.size());
        return true;
    }
    wide_integer product() {
        wide_integer out = power();
        while (true) {
            if (consume("·"))
                out *= power();
            else if (consume("/"))
                out /= power();
            else
                return out;
        }
    }
    wide_integer power() {
        wide_integer out = 0;
        if (consume("(")) {
            out = sum();
            REQUIRE(consume(")"));
        } else if (!text_.empty() && names_.count(text_.front()) != 0) {
            out = names_.at(text_.front());
            text_.remove_prefix(1);
        } else {
            REQUIRE((!text_.empty() && text_.front() >= '0' && text_.front() <= '9'));
            for (; !text_.empty() && text_.front() >= '0' && text_.front() <= '9'; text_.remove_prefix(1))
                out = out * 10 + (text_.front() - '0');
        }
        return consume("²") ? out * out : out;
    }

    std::string_view text_;
    std::map<char, std::int64_t> names_;
};

std::string digits(reader::wide_integer n) {
    std::string out;
    do out.insert(out.begin(), static_cast<char>('0' + static_cast<int>(n % 10)));
    while ((n /= 10) != 0);
    return out;
}

/// The text's own value at a workload; empty where it says none.
std::string value_in(const std::string& text, const counted& sizes) {
    std::int64_t chunk = 0;
    const std::size_t chunk_position = text.find("N = ⌈S / ");
    if (chunk_position != std::string::npos)
        chunk = std::stoll(text.substr(chunk_position + std::string_view("N = ⌈S / ").size()));
    std::map<char, std::int64_t> names{{'B', sizes.batch}, {'S', sizes.sequence}, {'P', sizes.past}};
    if (chunk > 0) {
        names['N'] = (sizes.sequence + chunk - 1) / chunk;
        names['R'] = sizes.sequence - (names['N'] - 1) * chunk;
    }
    std::istringstream lines(text);
    bool is_matching = true;
    std::string found;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("      ")) continue;  // a term
        if (line.starts_with("    ")) {
            if (is_matching) {
                CHECK(found == "");  // no two pieces meet
                found = digits(reader(std::string_view(line).substr(4), names).sum());
            }
            is_matching = true;
        } else if (line.starts_with("  ") && line.ends_with(":")) {
            is_matching = reader(std::string_view(line).substr(2, line.size() - 3), names).holds();
        }
    }
    return found;
}

/// What the text's terms add up to at a workload; empty where no piece holds.
std::string terms_in(const std::string& text, const counted& sizes) {
    std::int64_t chunk = 0;
    const std::size_t chunk_position = text.find("N = ⌈S / ");
    if (chunk_position != std::string::npos)
        chunk = std::stoll(text.substr(chunk_position + std::string_view("N = ⌈S / ").size()));
    std::map<char, std::int64_t> names{{'B', sizes.batch}, {'S', sizes.sequence}, {'P', sizes.past}};
    if (chunk > 0) {
        names['N'] = (sizes.sequence + chunk - 1) / chunk;
        names['R'] = sizes.sequence - (names['N'] - 1) * chunk;
    }
    std::istringstream lines(text);
    bool is_matching = true, before_terms = true, found = false;
    reader::wide_integer sum = 0;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("      ")) {
            const std::size_t colon = line.find(": "), cross = line.find(" ×");
            REQUIRE(colon != std::string::npos);
            const std::int64_t times =
                cross < colon ? std::stoll(line.substr(cross + std::string_view(" ×").size())) : std::int64_t{1};
            if (is_matching) sum += times * reader(std::string_view(line).substr(colon + 2), names).sum();
        } else if (line.starts_with("    ")) {
            if (before_terms) is_matching = true;  // holds everywhere
            before_terms = true;
            found = found || is_matching;
        } else if (line.starts_with("  ") && line.ends_with(":")) {
            is_matching = reader(std::string_view(line).substr(2, line.size() - 3), names).holds();
            before_terms = false;
        }
    }
    return found ? digits(sum) : std::string();
}

/// LaTeX in the words of the text.
std::string without_latex(std::string text) {
    const auto replace_all = [&](std::string_view old_text, std::string_view to) {
        for (std::size_t i = text.find(old_text); i != std::string::npos; i = text.find(old_text, i + to.size()))
            text.replace(i, old_text.size(), to);
    };
    replace_all("\\left(", "(");
    replace_all("\\right)", ")");
    replace_all("\\cdot ", "·");
    replace_all(" ·", "·");
    replace_all("^2", "²");
    replace_all(" + ", "+");
    replace_all(" - ", "-");
    replace_all(" \\ge ", "≥");
    replace_all(" \\le ", "≤");
    replace_all(",\\ ", ",");
    replace_all(" = ", "=");
    replace_all(" ", "·");
    return text;
}
/// What the terms of a LaTeX formula without halves and chunks add up to.
std::string latex_terms_in(const std::string& text, const counted& sizes) {
    const std::map<char, std::int64_t> names{{'B', sizes.batch}, {'S', sizes.sequence}, {'P', sizes.past}};
    std::istringstream lines(text);
    reader::wide_integer sum = 0;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("    ")) {
            const std::size_t begin = line.find("& ") + 2;
            const std::string term = without_latex(line.substr(begin, line.find(" && ") - begin));
            sum += reader(term, names).sum();
        } else if (line == "  \\end{aligned}") {
            return digits(sum);
        } else if (line.starts_with("  \\end{aligned} & ")) {
            const std::size_t begin = std::string_view("  \\end{aligned} & ").size();
            const std::string condition = without_latex(line.substr(begin, line.rfind(" \\\\") - begin));
            if (condition.empty() || reader(condition, names).holds()) return digits(sum);
            sum = 0;
        }
    }
    return {};
}

/// What a program of the machine writes; empty where there is none.
std::string output_of(const std::string& command, const std::filesystem::path& to) {
    if (std::system((command + " > " + to.string() + " 2> /dev/null").c_str()) != 0) return {};
    return read_file(to);
}

struct formula_case {
    std::string model, query, function;
};
const std::vector<formula_case>& formula_cases() {
    static const std::vector<formula_case> all{
        {"--config " + config_of("meta-llama__Llama-3.2-1B"), "add attn", "add_attn"},
        {"--config " + config_of("meta-llama__Llama-3.2-1B"), "written", "written_all"},
        {"--config " + config_of("google__gemma-2-2b-it"), "mult attn", "mult_attn"},
        {"--config " + config_of("google__gemma-2-2b-it") + " --attention causal", "flops", "flops_all"},
        {"--config " + config_of("variant__qwen3_next_dense"), "flops", "flops_all"},
        {"--config " + config_of("google-bert__bert-base-uncased"), "exp", "exp_all"},
        {"--config " + config_of("state-spaces__mamba-130m-hf"), "add", "add_all"}};
    return all;
}

}  // namespace

TEST_CASE("a figure is a polynomial, with where it holds") {
    CHECK(printed("formula --model meta-llama/Llama-3.2-1B add attn") ==
          "B sequences, S new tokens each, P tokens each in the KV cache\n"
          "\n"
          "add of attn in meta-llama/Llama-3.2-1B, all logits\n"
          "    B·(66560·S² + 66560·S·P + 167697920·S)\n");
    CHECK(printed("formula --model meta-llama/Llama-3.2-1B --format latex cache") ==
          "% cache of all in meta-llama/Llama-3.2-1B, all logits\n"
          "\\[ \\mathrm{cache\\_all}(B, S, P) =\n"
          "  B (16384 S + 16384 P)\n"
          "\\]\n");
    const auto j = nlohmann::json::parse(printed("formula --model google-bert/bert-base-uncased --format json exp"));
    CHECK(j["scope"] == "all");
    CHECK(j["formulas"][0]["figure"] == "exp");
    CHECK(j["formulas"][0]["pieces"].size() > 0);
    for (const auto& piece : j["formulas"][0]["pieces"]) CHECK(piece["sequence"][1] <= 512);
}

TEST_CASE("the text's polynomials are what walks count, on both sides of the edges") {
    for (const formula_case& test_case : formula_cases()) {
        CAPTURE(test_case.model + ' ' + test_case.query);
        const std::string text = printed("formula " + test_case.model + ' ' + test_case.query);
        const std::vector<counted> rows = traced_counts(test_case.model, test_case.query);
        CHECK(rows.size() > 100);
        for (const counted& row : rows) {
            INFO("B " << row.batch << " S " << row.sequence << " P " << row.past);
            CHECK(value_in(text, row) == row.value);
        }
    }
}

TEST_CASE("terms by name add up to what walks count") {
    for (const formula_case& test_case : formula_cases()) {
        CAPTURE(test_case.model + ' ' + test_case.query);
        const std::string line = "formula --terms " + test_case.model + ' ' + test_case.query;
        const std::string text = printed(line), latex = printed(line + " --format latex");
        const bool plain = !has(latex, "tfrac") && !has(latex, "lceil");
        std::string text_without_terms;  // what it is without terms, in the same pieces
        std::istringstream lines(text);
        for (std::string one; std::getline(lines, one);)
            if (!one.starts_with("      ")) text_without_terms += one + '\n';
        CHECK(text_without_terms == printed("formula " + test_case.model + ' ' + test_case.query));
        for (const counted& row : traced_counts(test_case.model, test_case.query)) {
            INFO("B " << row.batch << " S " << row.sequence << " P " << row.past);
            CHECK(terms_in(text, row) == row.value);
            if (plain) CHECK(latex_terms_in(latex, row) == row.value);
        }
    }
    const std::string text = printed("formula --terms --model meta-llama/Llama-3.2-1B mult attn");
    CHECK(has(text, "\n      model.layers.*.self_attn.q_proj ×16: B·4194304·S\n"));
    CHECK(has(text, "\n      model.layers.*.self_attn.batched_matmul ×16: B·(4096·S² + 4096·S·P)\n"));
    const auto j =
        nlohmann::json::parse(printed("formula --terms --format json --model meta-llama/Llama-3.2-1B params attn"));
    const auto& terms = j["formulas"][0]["pieces"][0]["terms"];
    CHECK(terms.size() == 4);
    CHECK(terms[0]["name"] == "model.layers.*.self_attn.q_proj");
    CHECK(terms[0]["times"] == 16);
    CHECK(terms[0]["expression"] == "4194304");
    CHECK(has(refused("formula --terms --dtype int4 --model meta-llama/Llama-3.2-1B weight_bytes"), "--terms:"));
}

TEST_CASE("the functions in C and Python give what walks count") {
    const temporary_folder folder;
    const auto path = [&](const char* name) { return (folder.path() / name).string(); };
    for (std::size_t i = 0; i < 2 * formula_cases().size(); ++i) {
        const formula_case& test_case = formula_cases()[i / 2];
        const std::string terms_option = i % 2 == 1 ? " --terms" : "";
        CAPTURE(test_case.model + ' ' + test_case.query + terms_option);
        std::string c = "#include <stdio.h>\n" +
                        printed("formula --format c " + test_case.model + ' ' + test_case.query + terms_option) +
                        "static void show(__int128 n) {\n"
                        "    if (n >= 10) show(n/10);\n    putchar('0' + (int)(n % 10));\n}\n"
                        "int main(void) {\n";
        std::string python =
                        printed("formula --format python " + test_case.model + ' ' + test_case.query + terms_option),
                    expected;
        for (const counted& row : traced_counts(test_case.model, test_case.query)) {
            const std::string call = test_case.function + '(' + std::to_string(row.batch) + ", " +
                                     std::to_string(row.sequence) + ", " + std::to_string(row.past) + ')';
            c += "    show(" + call + "), putchar('\\n');\n";
            python += "print(" + call + ")\n";
            expected += row.value + '\n';
        }
        write_file(path("f.c"), c + "    return 0;\n}\n");
        write_file(path("f.py"), python);
        const std::string build = "cc -Wall -Wextra -Werror -o " + path("f") + ' ' + path("f.c") + " && " + path("f");
        if (std::system("cc --version > /dev/null 2>&1") == 0) CHECK(output_of(build, path("c.txt")) == expected);
        if (std::system("python3 --version > /dev/null 2>&1") == 0)
            CHECK(output_of("python3 " + path("f.py"), path("python.txt")) == expected);
    }
}

TEST_CASE("figures of images are polynomials in their number, and in tokens of text beside them") {
    const temporary_folder folder;
    const auto path = [&](const char* name) { return (folder.path() / name).string(); };
    struct image_model {
        std::string model, size, tokens;
    };
    const std::vector<image_model> all{
        {"--model google/vit-base-patch16-224", "224 × 224", ""},
        {"--config " + config_of("microsoft__resnet-101"), "224 × 224", ""},
        {"--config " + config_of("facebook__convnext-base-224"), "224 × 224", ""},
        {"--model torchvision/resnet18 --image 320x256", "256 × 320", ""},
        {"--model torchvision/swin_t", "224 × 224", ""},
        {"--model timm/vit_tiny_patch16_224", "224 × 224", ""},
        {"--model facebook/DiT-XL-2-256", "256 × 256", ""},
        {"--model stabilityai/stable-diffusion-3-medium", "1,024 × 1,024", "1,2,77,333"},
        {"--model stable-diffusion-v1-5/stable-diffusion-v1-5", "512 × 512", "1,2,77,154"},
        {"--config " LLMCOST_TEST_DIR "/../configs/models/unet.json", "", ""}};
    for (const image_model& m : all)
        for (const char* const figure : {"flops", "written", "exp", "params"}) {
            CAPTURE(m.model + ' ' + figure);
            const std::string text = printed("formula " + m.model + " --terms " + figure);
            const bool grows = !m.tokens.empty() && figure != std::string("params");
            if (!m.size.empty())
                CHECK(text.starts_with("B images of " + m.size + (grows ? " with S text tokens each" : "") +
                                       "; height and width are fixed\n"));
            CHECK_FALSE(has(text, "logits"));
            const std::string work = " --batch 1,2,3,17" + (m.tokens.empty() ? "" : " --sequence " + m.tokens);
            std::string python = printed("formula " + m.model + " --format python " + figure), expected;
            for (const counted& row : rows_of(m.model + work + " --format csv " + figure)) {
                INFO("B " << row.batch << " S " << row.sequence);
                CHECK(value_in(text, row) == row.value);
                if (row.value != "0") CHECK(terms_in(text, row) == row.value);
                python += "print(" + std::string(figure) + "_all(" + std::to_string(row.batch) +
                          (grows ? ", " + std::to_string(row.sequence) : "") + "))\n";
                expected += row.value + '\n';
            }
            CHECK(!expected.empty());
            write_file(path("f.py"), python);
            if (std::system("python3 --version > /dev/null 2>&1") == 0)
                CHECK(output_of("python3 " + path("f.py"), path("python.txt")) == expected);
        }
    const auto j = nlohmann::json::parse(printed("formula --format json --model torchvision/resnet18 --image 320x256"));
    CHECK(j["image"]["height"] == 256);
    CHECK(j["image"]["width"] == 320);
}

TEST_CASE("what is no polynomial is refused") {
    const std::string model = "formula --model meta-llama/Llama-3.2-1B ";
    CHECK(refused(model + "saved_bytes") ==
          "llmcost: saved_bytes: not supported: it is not a polynomial, because tensors share storage\n");
    CHECK(has(refused(model + "paramz"), "no metric or scope 'paramz'"));
    CHECK(has(refused(model + "--sequence 8 add"), "no option '--sequence'"));
}

// one polynomial for all workloads has no cases: neither braces nor a condition
TEST_CASE("a formula with one case has no condition") {
    const std::string model = "formula --model meta-llama/Llama-3.2-1B flops --format ";
    for (const char* language : {"latex", "python", "c"}) {
        const std::string terms = printed(model + language + " --terms");
        for (const std::string& text : {printed(model + language), terms})
            for (const char* part : {"cases", "if True", "if (1)", "raise", "return -1", "-1 where", " &  "})
                CHECK_MESSAGE(!has(text, part), language << ' ' << part);
    }
    CHECK(has(printed("formula --model google-bert/bert-base-uncased flops --format latex"), "\\begin{cases}"));
}

// matrix products of a decoder layer: 2 FLOPs per weight and token, 4 per score and element of a head
TEST_CASE("coefficients in named sizes are those of the layers") {
    CHECK(printed("formula --named-sizes --model meta-llama/Llama-3.2-1B torch_flops") ==
          "B sequences, S new tokens each, P tokens each in the KV cache\n"
          "\n"
          "torch_flops of all in meta-llama/Llama-3.2-1B, all logits\n"
          "  L = 16 layers, h = 2048 hidden size, k = 8 key/value heads, d = 64 head size, f = 8192 MLP size, "
          "V = 128256 vocabulary\n"
          "    4·B·S²·L·h\n"
          "    + 4·B·S·P·L·h\n"
          "    + B·S·(4·L·h·k·d + 4·L·h² + 6·L·h·f + 2·h·V)\n");
    CHECK(has(printed("formula --named-sizes --model meta-llama/Llama-3.2-1B --format latex cache"),
              "% L = 16 layers, k = 8 key/value heads, d = 64 head size\n"
              "\\[ \\mathrm{cache} =\n"
              "  2 B S L k d\n"
              "  + 2 B P L k d\n"
              "\\]\n"));
    // attention, MLP, two norms; embeddings of 512 positions and two segments, their norm, pooler, head
    CHECK(
        has(printed("formula --named-sizes --model google-bert/bert-base-uncased params"), "4·L·h² + 2·L·h·f + 9·L·h"));
    // routed experts: t of E
    CHECK(has(printed("formula --named-sizes --model Qwen/Qwen3-30B-A3B torch_flops"),
              "B·S·(4·L·h·a·d + 4·L·h·k·d + 6·L·h·t·e + 2·L·h·E + 2·h·V)"));
    CHECK(has(refused("formula --named-sizes --format c --model meta-llama/Llama-3.2-1B"), "--named-sizes"));
    CHECK(has(refused("formula --named-sizes --terms --model meta-llama/Llama-3.2-1B"), "--terms"));
}
