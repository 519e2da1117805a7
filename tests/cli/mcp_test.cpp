// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "../hub/hub_fixture.hpp"
#include "program.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include <cstddef>
#include <iostream>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/version.hpp>
#include <llmcost/cli/commands/mcp.hpp>
#include <llmcost/cli/commands/mcp_tool.hpp>

#include "parts.hpp"

// `llmcost mcp`: messages of the Model Context Protocol, and answers equal to those of the commands.
using namespace llmcost::testing;
namespace cli = llmcost::cli;
using nlohmann::json;

namespace {

/// The lines that `llmcost mcp` writes for the messages of a client, which must be its whole output.
std::vector<std::string> lines_of_mcp(const std::string& messages, const std::string& options = {}) {
    std::istringstream lines(printed("mcp" + options, {.in = messages}));
    std::vector<std::string> out;
    for (std::string line; std::getline(lines, line);) out.push_back(line);
    return out;
}

std::string mcp_request(const json& id, const std::string& method, const json& params = json::object()) {
    return json{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}}.dump() + '\n';
}

std::string mcp_initialize(const std::string& version) {
    return mcp_request(0, "initialize",
                       {{"protocolVersion", version},
                        {"capabilities", json::object()},
                        {"clientInfo", {{"name", "test"}, {"version", "1"}}}});
}

/// The only response to a message.
json mcp_response(const std::string& message) {
    const std::vector<std::string> lines = lines_of_mcp(message);
    REQUIRE(lines.size() == 1);
    return json::parse(lines.front());
}

int mcp_error_code(const std::string& message) { return mcp_response(message + '\n')["error"]["code"].get<int>(); }

json mcp_call(const std::string& tool, const json& arguments) {
    return mcp_response(mcp_request(1, "tools/call", {{"name", tool}, {"arguments", arguments}}))["result"];
}

/// The text of a tool call that must fail.
std::string mcp_failure(const std::string& tool, const json& arguments) {
    const json result = mcp_call(tool, arguments);
    CHECK(result["isError"] == true);
    CHECK_FALSE(result.contains("structuredContent"));
    return result["content"][0]["text"].get<std::string>();
}

}  // namespace

TEST_CASE("mcp negotiates each version of the protocol") {
    for (const std::string version : {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}) {
        CAPTURE(version);
        const json result = mcp_response(mcp_initialize(version))["result"];
        CHECK(result["protocolVersion"] == version);
        CHECK(result["serverInfo"]["name"] == "llmcost");
        CHECK(result["serverInfo"]["version"] == std::string(std::string_view(llmcost::version)));
        CHECK(result["capabilities"].contains("tools"));
        // structured results exist from 2025-06-18: the older versions have the JSON as a second text
        const std::vector<std::string> lines =
            lines_of_mcp(mcp_initialize(version) + mcp_request(1, "tools/list") +
                         mcp_request(2, "tools/call", {{"name", "models"}, {"arguments", {{"name", "qwen3_moe"}}}}));
        REQUIRE(lines.size() == 3);
        const bool is_structured = version >= "2025-06-18";
        for (const json& tool : json::parse(lines[1])["result"]["tools"])
            CHECK(tool.contains("outputSchema") == is_structured);
        const json called = json::parse(lines[2])["result"];
        CHECK(called.contains("structuredContent") == is_structured);
        REQUIRE(called["content"].size() == (is_structured ? 1 : 2));
        const json known =
            is_structured ? called["structuredContent"] : json::parse(called["content"][1]["text"].get<std::string>());
        CHECK(known == json_of("models qwen3_moe"));
    }
    CHECK(mcp_response(mcp_initialize("2020-01-01"))["result"]["protocolVersion"] == "2025-11-25");
    // from 2026-07-28, each request has the version
    const json meta{{"_meta", {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"}}}};
    const json discovered = mcp_response(mcp_request(1, "server/discover", meta))["result"];
    CHECK(discovered["resultType"] == "complete");
    CHECK(discovered["supportedVersions"] == json(cli::mcp_versions));
    CHECK(discovered["cacheScope"] == "public");
    CHECK(discovered["ttlMs"].get<int>() > 0);
    CHECK(mcp_response(mcp_request(1, "tools/list", meta))["result"]["resultType"] == "complete");
    CHECK_FALSE(mcp_response(mcp_request(1, "tools/list"))["result"].contains("resultType"));
    const json unknown = mcp_response(mcp_request(
        1, "tools/list", {{"_meta", {{"io.modelcontextprotocol/protocolVersion", "2031-01-01"}}}}))["error"];
    CHECK(unknown["code"] == -32022);
    CHECK(unknown["data"]["requested"] == "2031-01-01");
    CHECK(unknown["data"]["supported"] == json(cli::mcp_versions));
}

TEST_CASE("mcp answers errors of the protocol by the codes of JSON-RPC") {
    CHECK(mcp_error_code("{\"jsonrpc\"") == -32700);
    CHECK(mcp_error_code("nonsense") == -32700);
    CHECK(mcp_error_code("{} {}") == -32700);
    CHECK(mcp_error_code("[]") == -32600);
    CHECK(mcp_error_code("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]") == -32600);
    CHECK(mcp_error_code("7") == -32600);
    CHECK(mcp_error_code("{\"id\":1,\"method\":\"ping\"}") == -32600);
    CHECK(mcp_error_code("{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}") == -32600);
    CHECK(mcp_error_code("{\"jsonrpc\":\"2.0\",\"id\":[1],\"method\":\"ping\"}") == -32600);
    CHECK(mcp_error_code("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}") == -32600);
    CHECK(mcp_error_code("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/list\"}") == -32601);
    CHECK(mcp_error_code("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":[1]}") == -32602);
    CHECK(mcp_error_code("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{}}") == -32602);
    CHECK(mcp_error_code("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\"}") == -32602);
    CHECK(mcp_error_code(std::string(100'000, '[')) == -32600);
    CHECK(mcp_error_code(std::string(100, '[') + std::string(100, ']')) == -32600);
    CHECK(mcp_error_code('"' + std::string(std::size_t{17} << 20U, 'x') + '"') == -32600);
    const json unknown = mcp_response(mcp_request(3, "tools/call", {{"name", "memori"}}));
    CHECK(unknown["error"]["code"] == -32602);
    CHECK(unknown["error"]["message"] == "Unknown tool: memori; nearest: memory");
    CHECK(unknown["id"] == 3);
    // an id returns as it came
    for (const char* id : {"\"a\\u0000b\"", "0", "-1", "18446744073709551615", "1.5"})
        CHECK(has(lines_of_mcp(std::string("{\"jsonrpc\":\"2.0\",\"method\":\"ping\",\"id\":") + id + "}\n").front(),
                  std::string("\"id\":") + id + ",\"result\":{}}"));
}

TEST_CASE("mcp is silent about notifications, responses and blank lines, and continues after errors") {
    const std::string silent =
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n\n \r\n"
        "{\"jsonrpc\":\"2.0\",\"method\":\"tools/call\"}\n"
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":5}}\n"
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n"
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":1,\"message\":\"\"}}\n";
    CHECK(lines_of_mcp(silent).empty());
    const std::vector<std::string> lines = lines_of_mcp(silent + "broken\n" + silent + mcp_request("last", "ping"));
    REQUIRE(lines.size() == 2);
    CHECK(lines[1] == R"({"jsonrpc":"2.0","id":"last","result":{}})");
    // the last line may lack its end
    CHECK(lines_of_mcp(R"({"jsonrpc":"2.0","id":1,"method":"ping"})").size() == 1);
    CHECK(llmcost_program({"mcp"}, {.in = mcp_request(1, "ping"), .full = true}).code == 1);
}

TEST_CASE("mcp answers batches of the one version that has them") {
    const std::vector<std::string> lines = lines_of_mcp(
        mcp_initialize("2025-03-26") +
        "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"},{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"},7]\n"
        "[{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}]\n[]\n");
    REQUIRE(lines.size() == 3);
    const json batch = json::parse(lines[1]);
    REQUIRE(batch.size() == 2);
    CHECK(batch[0]["id"] == 1);
    CHECK(batch[1]["error"]["code"] == -32600);
    CHECK(json::parse(lines[2])["error"]["code"] == -32600);
}

TEST_CASE("the tools of mcp are commands with options of their tables") {
    const json tools = mcp_response(mcp_request(1, "tools/list"))["result"]["tools"];
    CHECK(tools.size() <= 8);
    REQUIRE(tools.size() == cli::mcp_tools.size());
    const cli::program program = parts::full_program({std::cout, std::cerr, std::cin});
    for (std::size_t i = 0; i < tools.size(); ++i) {
        const cli::mcp_tool& tool = cli::mcp_tools[i];
        const json& listed = tools[i];
        CAPTURE(tool.name);
        CHECK(listed["name"] == std::string(tool.name));
        CHECK(listed["annotations"]["readOnlyHint"] == true);
        CHECK(listed["description"].get<std::string>().size() > 100);
        const json& schema = listed["inputSchema"];
        CHECK(schema["type"] == "object");
        CHECK(schema["additionalProperties"] == false);
        std::set<std::string> names;
        for (const cli::mcp_option& row : cli::options_of(tool, program)) {
            CAPTURE(row.name);
            CHECK(names.insert(row.name).second);
            const json& property = schema["properties"][row.name];
            for (const cli::option_spec* const o : {row.option, row.alternative}) {
                if (o == nullptr) continue;
                CHECK(has(property["description"].get<std::string>(), o->help));
                // a tool reads: it has no option that writes a file
                CHECK(o->type != cli::value_type::image);
                CHECK(o->type != cli::value_type::directory);
            }
            const cli::option_spec& o = row.option == nullptr ? *row.alternative : *row.option;
            if (o.type == cli::value_type::none) CHECK(property["type"] == "boolean");
            if (o.type == cli::value_type::number && o.value == "N" && row.alternative == nullptr)
                CHECK(property["type"] == "integer");
            if (o.value == "N|LIST") CHECK(property["anyOf"][1]["type"] == "string");
            if (o.type == cli::value_type::choice) CHECK(property["enum"].size() > 1);
        }
    }
    CHECK(tools[1]["inputSchema"]["properties"]["device"]["examples"][0] == "h100_sxm");
    CHECK(tools[0]["inputSchema"]["properties"]["logits"]["enum"] == json({"all", "last", "none"}));
}

TEST_CASE("a tool's structured result is the JSON of its command, and its text is the command's") {
    const json llama = {{"model", "meta-llama/Llama-3.2-1B"}};
    const auto with = [&](json more) {
        more.update(llama);
        return more;
    };
    const std::string model = " --model meta-llama/Llama-3.2-1B ";
    const struct {
        std::string tool;
        json arguments;
        std::string line;
    } cases[]{
        {"count", with({{"batch", 16}, {"sequence", 200.0}, {"past", nullptr}}), model + "--batch 16 --sequence 200"},
        {"count", with({{"metrics", {"mult", "flops"}}, {"scope", "attn"}}), model + "mult flops attn"},
        {"count", with({{"set", {"num_hidden_layers=2", "vocab_size=10"}}, {"scopes", true}, {"tensors", false}}),
         model + "--set num_hidden_layers=2 --set vocab_size=10 --scopes"},
        {"memory", with({{"cache-dtype", "fp8_e4m3"}, {"isl", nullptr}, {"seq_len", "8k"}}),
         "memory" + model + "--cache-dtype fp8_e4m3 --sequence 8k"},
        {"memory", with({{"device", {"h100", "rtx_4090"}}}), "memory" + model + "--device h100,rtx_4090"},
        {"fit", with({{"memory", "24GB"}, {"sequence", 8192}}), "fit" + model + "--memory 24GB --sequence 8192"},
        {"train", with({{"zero", 2}, {"shards", 4}, {"sequence", 64}}),
         "train" + model + "--zero 2 --shards 4 --sequence 64"},
        {"latency", with({{"device", "h200"}, {"engine", "vllm"}, {"memory_share", nullptr}}),
         "latency" + model + "--device h200 --engine vllm"},
        {"serve", with({{"device", "h200"}, {"engine", "vllm"}, {"concurrency", 16}, {"plan", false}}),
         "serve" + model + "--device h200 --engine vllm --concurrency 16"},
        {"compare",
         {{"models", {"meta-llama/Llama-3.2-1B", "Qwen/Qwen3-0.6B"}}, {"metrics", "flops"}},
         "compare meta-llama/Llama-3.2-1B Qwen/Qwen3-0.6B flops"},
        {"models", {{"name", "llama"}}, "models llama"},
        {"models", {{"devices", true}}, "devices"},
    };
    for (const auto& c : cases) {
        CAPTURE(c.line);
        const json result = mcp_call(c.tool, c.arguments);
        CHECK(result["isError"] == false);
        CHECK(result["structuredContent"] == json_of(c.line));
        const auto text = result["content"][0]["text"].get<std::string>();
        CHECK(text.size() < 6200);
        CHECK(has(printed(c.line, {.variables = {{"LC_ALL", "C.UTF-8"}}}), text.substr(0, text.rfind("\n..."))));
    }
    // rows of a list
    const json rows =
        mcp_call("count", with({{"batch", {1, 2}}, {"sequence", "1..4:x2"}}))["structuredContent"]["rows"];
    CHECK(rows.size() == 6);
    std::istringstream lines(printed(model + "--batch 1,2 --sequence 1..4:x2 --format json"));
    for (const json& row : rows) {
        std::string line;
        std::getline(lines, line);
        CHECK(row == json::parse(line));
    }
    // an exit code with a result is a note, and no error
    const json large = mcp_call("memory", with({{"sequence", 131072}, {"batch", 64}, {"memory", "24GB"}}));
    CHECK(large["isError"] == false);
    CHECK(large["structuredContent"]["fits"] == false);
    CHECK(has(large["content"][0]["text"].get<std::string>(), "Exit code 8: does not fit"));
}

TEST_CASE("mcp keeps all digits of counts above 64 bits") {
    const std::string line =
        lines_of_mcp(
            mcp_request(1, "tools/call",
                        {{"name", "count"},
                         {"arguments",
                          {{"model", "meta-llama/Llama-3.2-1B"}, {"batch", 2'000'000'000}, {"metrics", {"flops"}}}}}))
            .front();
    const std::string exact = printed("--model meta-llama/Llama-3.2-1B --batch 2000000000 --format csv flops");
    const std::string digits = exact.substr(exact.rfind(',') + 1, exact.size() - exact.rfind(',') - 2);
    CHECK(digits.size() > 20);
    CHECK(has(line, ':' + digits));
}

TEST_CASE("mcp reads a configuration from the arguments") {
    const std::string text = read_file(config_of("meta-llama__Llama-3.2-1B"));
    json expected = json_of(llama);
    expected["model"]["name"] = "standard input";
    expected["model"]["source"] = "configuration from standard input";
    CHECK(mcp_call("count", {{"config", json::parse(text)}})["structuredContent"] == expected);
    CHECK(mcp_call("count", {{"config", text}})["structuredContent"] == expected);
    CHECK(mcp_failure("count", {{"config", 7}}) == "llmcost: config: expected an object, found number");
    CHECK(has(mcp_failure("count", {{"config", json::object()}}), "standard input: /model_type"));
    CHECK(has(mcp_failure("count", {{"config", json::object()}, {"model", "gpt2"}}),
              "--model: cannot be combined with --config"));
}

TEST_CASE("errors of a command are errors of the tool, with the nearest names") {
    const json model = "meta-llama/Llama-3.2-1B";
    CHECK(mcp_failure("memory", {{"model", model}, {"bach", 2}}) ==
          "llmcost: memory: no argument 'bach'; nearest: batch");
    CHECK(mcp_failure("memory", {{"model", model}, {"num_gpus", 2}}) ==
          "llmcost: memory: no argument 'num_gpus'; use --tp N");
    CHECK(has(mcp_failure("memory", {{"model", model}, {"plot", "x.svg"}}), "memory: no argument 'plot'"));
    CHECK(has(mcp_failure("count", {}), "a model is required"));
    CHECK(has(mcp_failure("latency", {{"model", model}, {"device", "h10"}}), "nearest: "));
    CHECK(has(mcp_failure("count", {{"model", "meta-llama/Llama-3.2-1C"}}), "meta-llama/Llama-3.2-1B"));
    CHECK(mcp_failure("memory", {{"model", model}, {"batch", "many"}}) ==
          "llmcost: --batch: expected a whole number from 1 to 2147483647, found 'many'");
    CHECK(mcp_failure("memory", {{"model", model}, {"batch", {{"a", 1}}}}) ==
          "llmcost: batch: expected a string or a number, found an object");
    CHECK(mcp_failure("train", {{"model", model}, {"fsdp", "maybe"}}) ==
          "llmcost: fsdp: expected true or false, found 'maybe'");
    CHECK(mcp_failure("serve", {{"model", model}, {"top", 2}}) == "llmcost: top: requires plan");
    CHECK(mcp_failure("serve", {{"model", model}, {"sweep", true}, {"plan", true}}) ==
          "llmcost: sweep: cannot be combined with plan");
    // a value never becomes an option
    CHECK(has(mcp_failure("count", {{"model", model}, {"metrics", {"--plot=x.svg"}}}), "--plot"));
    CHECK(has(mcp_failure("models", {{"name", "--layers"}}), "contains '--layers'"));
}

TEST_CASE("mcp survives messages that are changed at random") {
    std::mt19937 random(1);  // NOLINT: equal messages in each run
    const std::string valid = mcp_request(
        1, "tools/call",
        {{"name", "memory"},
         {"arguments", {{"config", json::parse(read_file(config_of("openai-community__gpt2")))}, {"batch", 2}}}});
    const std::string_view pieces[]{"{",
                                    "}",
                                    "[",
                                    "]",
                                    "\"",
                                    "\\",
                                    ":",
                                    ",",
                                    "null",
                                    "-1",
                                    "1e999",
                                    "\xff",
                                    "\\ud800",
                                    "true",
                                    "18446744073709551616",
                                    "\"config\"",
                                    "\"arguments\"",
                                    "\0",
                                    "\t"};
    std::string messages;
    std::size_t num_messages = 0;
    for (; num_messages < 400; ++num_messages) {
        std::string message = valid.substr(0, valid.size() - 1);
        for (unsigned change = 0; change <= random() % 3; ++change) {
            const std::size_t position = random() % message.size();
            const std::string_view piece = pieces[random() % std::size(pieces)];
            if (random() % 2 == 0)
                message.insert(position, piece);
            else
                message.replace(position, random() % 8, piece);
        }
        messages += message + '\n';
    }
    const std::vector<std::string> lines = lines_of_mcp(messages);
    CHECK(lines.size() <= num_messages);
    std::size_t num_parse_errors = 0, num_results = 0;
    for (const std::string& line : lines) {
        const json response = json::parse(line);
        CHECK(response["jsonrpc"] == "2.0");
        REQUIRE(response.contains("result") != response.contains("error"));
        num_results += response.contains("result");
        num_parse_errors += response.contains("error") && response["error"]["code"] == -32700;
    }
    CHECK(num_results > 20);
    CHECK(num_parse_errors > 100);
}
