// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/mcp.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <istream>
#include <ostream>
#include <span>
#include <sstream>
#include <streambuf>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <llmcost/base/inline.hpp>
#include <llmcost/base/version.hpp>
#include <llmcost/cli/commands/mcp_tool.hpp>
#include <llmcost/cli/commands/program.hpp>
#include <llmcost/cli/pages/help.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/messages.hpp>
#include <llmcost/text/nearest_name.hpp>

namespace llmcost::cli::detail {

using json_value = nlohmann::ordered_json;

/// Error codes. Source: JSON-RPC 2.0, section 5.1; Model Context Protocol 2026-07-28,
/// `UnsupportedProtocolVersionError`.
enum class rpc_error : int {
    parse = -32700,
    invalid_request = -32600,
    unknown_method = -32601,
    invalid_params = -32602,
    internal = -32603,
    unsupported_version = -32022
};

/// A request that has an error response.
struct rpc_problem {
    rpc_error code;
    std::string message;
    json_value data = nullptr;
};

/// A message is at most this long: a configuration of 4 MiB and its escapes.
inline constexpr std::size_t max_message_bytes = std::size_t{16} << 20U;
/// Arrays and objects inside each other: those of a configuration (64), and those around it.
inline constexpr std::size_t max_message_depth = 96;
/// Bytes of the text of a result; the structured result has all figures.
inline constexpr std::size_t max_result_text = 6000;

/// The depth of arrays and objects in a JSON text. The text may be invalid.
LLMCOST_INLINE std::size_t depth_of(std::string_view text) noexcept {
    std::size_t depth = 0, deepest = 0;
    bool is_string = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '"') is_string = !is_string;
        if (is_string && c == '\\') ++i;
        if (is_string) continue;
        if (c == '{' || c == '[') deepest = std::max(deepest, ++depth);
        if ((c == '}' || c == ']') && depth > 0) --depth;
    }
    return deepest;
}

/// The JSON of a value on one line. Text that is not UTF-8 is replaced.
LLMCOST_INLINE std::string dumped(const json_value& value) {
    return value.dump(-1, ' ', false, json_value::error_handler_t::replace);
}

/// The output of a command as one JSON object on one line; the objects of several lines are `rows`.
///
/// The digits of numbers remain: counts have up to 128 bits.
LLMCOST_INLINE std::string structured(std::string_view output) {
    std::string out;
    std::size_t depth = 0, num_objects = 0;
    bool is_string = false;
    for (std::size_t i = 0; i < output.size(); ++i) {
        const char c = output[i];
        if (!is_string && (c == ' ' || c == '\n')) continue;
        if (c == '"') is_string = !is_string;
        if (!is_string && (c == '{' || c == '[') && depth++ == 0 && num_objects++ > 0) out += ',';
        if (!is_string && (c == '}' || c == ']')) --depth;
        out += c;
        if (is_string && c == '\\' && i + 1 < output.size()) out += output[++i];
    }
    return num_objects == 1 && out.starts_with('{') ? out : "{\"rows\":[" + out + "]}";
}

/// The first lines of a text, with a note on the others.
LLMCOST_INLINE std::string shortened(std::string text) {
    while (text.ends_with('\n')) text.pop_back();
    if (text.size() <= max_result_text) return text;
    const std::size_t end = text.rfind('\n', max_result_text);
    const std::size_t size = end == std::string::npos ? max_result_text : end;
    const auto rest = std::count(text.begin() + static_cast<std::ptrdiff_t>(size), text.end(), '\n');
    text.resize(size);
    return text + "\n... " + std::to_string(rest) + " more lines; the structured result is complete";
}

/// What a command printed.
struct captured_output {
    int exit_code = 0;
    std::string text;
    std::string messages;
};

/// Runs a command with streams of its own: a command never writes to the connection.
LLMCOST_INLINE captured_output captured(std::span<const std::string_view> args, const std::string& input,
                                        const program& io, bool is_offline) {
    std::ostringstream out;
    std::ostringstream messages;
    std::istringstream in(input);
    const environment get = [&](const char* name) -> const char* {
        const std::string_view variable(name);
        if (is_offline && variable == "HF_HUB_OFFLINE") return "1";
        return variable == "LC_ALL" ? "C.UTF-8" : io.get(name);  // JSON is UTF-8
    };
    const program tool_io{{out, messages, in, get},
                          io.models,
                          io.bundled,
                          io.commands,
                          io.read,
                          io.place,
                          io.read_each,
                          io.verified,
                          io.chakra};
    const int code = run_commands(args, tool_io);
    return {code, out.str(), messages.str()};
}

/// The description of an exit code other than 0, whose command has printed a result.
LLMCOST_INLINE std::string exit_note(int code) {
    for (const exit_code_description& row : exit_rows)
        if (row.code == std::to_string(code))
            return "Exit code " + std::string(row.code) + ": " + std::string(row.meaning);
    return {};
}

LLMCOST_INLINE json_value text_block(std::string text) { return {{"type", "text"}, {"text", std::move(text)}}; }

/// The result of a failed tool call. Source: Model Context Protocol, server/tools, "Tool Execution Errors".
LLMCOST_INLINE std::string tool_error(std::string message) {
    while (message.ends_with('\n')) message.pop_back();
    return dumped({{"content", json_value::array({text_block(std::move(message))})}, {"isError", true}});
}

/// Runs a tool; returns the result of `tools/call`. Without structured results, the JSON is a second text.
LLMCOST_INLINE std::string call_tool(const mcp_tool& tool, const json_value& arguments, const program& io,
                                     bool is_offline, bool has_structured_result) {
    mcp_command_line line;
    try {
        line = command_line_of(tool, arguments, io);
    } catch (const error& e) {
        return tool_error("llmcost: " + printable(e.what()));
    }
    const captured_output exact = captured(line.with_format("--format=json"), line.input, io, is_offline);
    if (exact.text.empty()) return tool_error(exact.messages);
    captured_output readable = captured(line.with_format("--format=text"), line.input, io, is_offline);
    std::string text = shortened(std::move(readable.text));
    if (exact.exit_code != 0) text.append("\n").append(exit_note(exact.exit_code));
    if (!exact.messages.empty()) text.append("\n").append(shortened(exact.messages));
    json_value content = json_value::array({text_block(std::move(text))});
    const std::string answer = structured(exact.text);
    if (!has_structured_result) content.push_back(text_block(answer));
    std::string result = "{\"content\":" + dumped(content);
    if (has_structured_result) result.append(",\"structuredContent\":").append(answer);
    return result + ",\"isError\":false}";
}

LLMCOST_INLINE std::size_t version_index(std::string_view version) noexcept {
    return static_cast<std::size_t>(std::find(mcp_versions.begin(), mcp_versions.end(), version) -
                                    mcp_versions.begin());
}

LLMCOST_INLINE bool is_at_least(std::string_view version, std::string_view minimum) noexcept {
    return version_index(version) >= version_index(minimum);
}

LLMCOST_INLINE json_value server_info(std::string_view protocol_version) {
    json_value out{{"name", "llmcost"}, {"version", std::string_view(version)}};
    if (is_at_least(protocol_version, "2025-06-18")) out["title"] = "llmcost";
    return out;
}

/// Says what all tools have in common.
inline constexpr std::string_view mcp_instructions =
    "llmcost computes the cost of neural networks from a Hugging Face config.json: exact operation counts, parameters "
    "and memory, and estimates of time. Give a model by its Hugging Face name, or its configuration as an object. "
    "Structured results are the JSON of the command of the same name: counts are exact integers, sizes are bytes, "
    "times are seconds. The text has the main figures with units and assumptions. Counts and memory are computed; "
    "latency, throughput and deployments are estimates. Numbers accept lists such as 1,8,64 or 1024..8192:x2. Texts "
    "name an argument as the option of the command: "
    "--cache-dtype is cache_dtype.";

inline constexpr std::string_view protocol_version_key = "io.modelcontextprotocol/protocolVersion";

/// The member `params` of a request. Throws: `rpc_problem` unless it is an object or missing.
LLMCOST_INLINE json_value params_of(const json_value& request) {
    const auto found = request.find("params");
    if (found == request.end() || found->is_null()) return json_value::object();
    if (!found->is_object()) throw rpc_problem{rpc_error::invalid_params, "params: expected an object"};
    return *found;
}

/// The protocol version of a request: that of its `_meta`, or that of the connection. Throws: `rpc_problem`.
LLMCOST_INLINE std::string_view version_of(const json_value& params, std::string_view connection_version) {
    const auto meta = params.find("_meta");
    if (meta == params.end() || !meta->is_object()) return connection_version;
    const auto requested = meta->find(protocol_version_key);
    if (requested == meta->end()) return connection_version;
    const std::string text = requested->is_string() ? requested->get<std::string>() : dumped(*requested);
    const std::size_t index = version_index(text);
    if (index < mcp_versions.size()) return mcp_versions[index];
    throw rpc_problem{rpc_error::unsupported_version,
                      "Unsupported protocol version",
                      {{"supported", mcp_versions}, {"requested", text}}};
}

/// The result of `initialize`: the requested version, or the newest that `initialize` negotiates.
LLMCOST_INLINE std::string initialized(const json_value& params, std::string_view& version) {
    const auto requested = params.find("protocolVersion");
    if (requested == params.end() || !requested->is_string())
        throw rpc_problem{rpc_error::invalid_params, "protocolVersion: expected a string"};
    constexpr std::size_t num_negotiated = mcp_versions.size() - 1;
    const std::size_t index = version_index(requested->get<std::string>());
    version = mcp_versions[std::min(index, num_negotiated - 1)];
    return dumped({{"protocolVersion", version},
                   {"capabilities", {{"tools", {{"listChanged", false}}}}},
                   {"serverInfo", server_info(version)},
                   {"instructions", mcp_instructions}});
}

/// The members that a version from 2026-07-28 adds to a result. Lists are equal for all clients of one program.
LLMCOST_INLINE std::string completed(std::string result, std::string_view version, bool is_list) {
    if (!is_at_least(version, "2026-07-28")) return result;
    constexpr std::int64_t list_milliseconds = 3'600'000;
    json_value more{{"resultType", "complete"},
                    {"_meta", {{"io.modelcontextprotocol/serverInfo", server_info(version)}}}};
    if (is_list) more.update({{"ttlMs", list_milliseconds}, {"cacheScope", "public"}});
    const std::string members = dumped(more);
    return members.substr(0, members.size() - 1) + (result == "{}" ? "" : ",") + result.substr(1);
}

LLMCOST_INLINE std::string listed_tools(const program& io, std::string_view version) {
    std::string out = "{\"tools\":[";
    for (const mcp_tool& tool : mcp_tools) {
        if (!out.ends_with('[')) out += ',';
        out += tool_json(tool, io, is_at_least(version, "2025-06-18"));
    }
    return out + "]}";
}

/// The result of `tools/call`. Throws: `rpc_problem` for an unknown tool.
LLMCOST_INLINE std::string called(const json_value& params, const program& io, bool is_offline,
                                  std::string_view version) {
    const auto name = params.find("name");
    if (name == params.end() || !name->is_string())
        throw rpc_problem{rpc_error::invalid_params, "name: expected a string"};
    const auto text = name->get<std::string>();
    const mcp_tool* const tool = find_mcp_tool(text);
    if (tool == nullptr) {
        name_suggestions near(text);
        for (const mcp_tool& known : mcp_tools) near.add_candidate(known.name);
        throw rpc_problem{rpc_error::invalid_params, "Unknown tool: " + printable(text) + near.suggestion_or_list()};
    }
    const auto found = params.find("arguments");
    const bool has_arguments = found != params.end() && !found->is_null();
    if (has_arguments && !found->is_object())
        throw rpc_problem{rpc_error::invalid_params, "arguments: expected an object"};
    return call_tool(*tool, has_arguments ? *found : json_value::object(), io, is_offline,
                     is_at_least(version, "2025-06-18"));
}

LLMCOST_INLINE std::string response(const json_value& id, std::string_view member, std::string_view value) {
    std::string out = R"({"jsonrpc":"2.0","id":)" + dumped(id) + ",\"";
    return out.append(member).append("\":").append(value) + '}';
}

LLMCOST_INLINE std::string error_response(const json_value& id, const rpc_problem& problem) {
    json_value out{{"code", static_cast<int>(problem.code)}, {"message", problem.message}};
    if (!problem.data.is_null()) out["data"] = problem.data;
    return response(id, "error", dumped(out));
}

/// Reads a line of at most `max_message_bytes`; the rest of a longer line is skipped. Returns whether there was one.
LLMCOST_INLINE bool read_message(std::istream& in, std::string& line, bool& is_complete) {
    using traits = std::streambuf::traits_type;
    line.clear();
    is_complete = true;
    std::streambuf& buffer = *in.rdbuf();
    for (traits::int_type c = buffer.sbumpc(); c != '\n'; c = buffer.sbumpc()) {
        if (traits::eq_int_type(c, traits::eof())) return !line.empty();
        if (line.size() < max_message_bytes)
            line += traits::to_char_type(c);
        else
            is_complete = false;
    }
    return true;
}

/// The response to one message of a connection; empty for a notification and for a response.
LLMCOST_INLINE std::string answer_to(const json_value& message, const program& io, bool is_offline,
                                     std::string_view& connection_version) {
    if (!message.is_object()) return error_response(nullptr, {rpc_error::invalid_request, "expected an object"});
    const auto id = message.find("id");
    const bool has_id = id != message.end();
    const auto method = message.find("method");
    if (method == message.end() && (message.contains("result") || message.contains("error"))) return {};
    if (has_id && !id->is_string() && !id->is_number())
        return error_response(nullptr, {rpc_error::invalid_request, "id: expected a string or a number"});
    const json_value known_id = has_id ? *id : json_value();
    const auto protocol = message.find("jsonrpc");
    if (protocol == message.end() || *protocol != "2.0")
        return error_response(known_id, {rpc_error::invalid_request, "jsonrpc: expected \"2.0\""});
    if (method == message.end() || !method->is_string())
        return error_response(known_id, {rpc_error::invalid_request, "method: expected a string"});
    if (!has_id) return {};
    try {
        const auto name = method->get<std::string>();
        const json_value params = params_of(message);
        if (name == "initialize") return response(known_id, "result", initialized(params, connection_version));
        const std::string_view version = version_of(params, connection_version);
        if (name == "ping") return response(known_id, "result", completed("{}", version, false));
        if (name == "tools/list")
            return response(known_id, "result", completed(listed_tools(io, version), version, true));
        if (name == "tools/call")
            return response(known_id, "result", completed(called(params, io, is_offline, version), version, false));
        if (name == "server/discover") {
            const json_value discovered{{"supportedVersions", mcp_versions},
                                        {"capabilities", {{"tools", json_value::object()}}},
                                        {"instructions", mcp_instructions}};
            return response(known_id, "result", completed(dumped(discovered), mcp_versions.back(), true));
        }
        return error_response(known_id, {rpc_error::unknown_method, "Method not found: " + printable(name)});
    } catch (const rpc_problem& problem) {
        return error_response(known_id, problem);
    } catch (const std::exception& e) {
        return error_response(known_id, {rpc_error::internal, printable(e.what())});
    }
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE std::string mcp_connection::answer(std::string_view message) {
    using detail::error_response, detail::rpc_error;
    if (detail::depth_of(message) > detail::max_message_depth)
        return error_response(
            nullptr, {rpc_error::invalid_request, "expected at most " + std::to_string(detail::max_message_depth) +
                                                      " arrays and objects inside each other"});
    const detail::json_value parsed = detail::json_value::parse(message, nullptr, false);
    if (parsed.is_discarded())
        return error_response(nullptr, {rpc_error::parse, "Parse error: expected one JSON value per line"});
    if (!parsed.is_array()) return detail::answer_to(parsed, *io_, is_offline_, version_);
    // only this version has batches: its changelog adds them, that of 2025-06-18 removes them
    if (version_ != "2025-03-26" || parsed.empty())
        return error_response(nullptr, {rpc_error::invalid_request, "expected an object, found a batch"});
    std::string out;
    for (const detail::json_value& item : parsed)
        if (const std::string one = detail::answer_to(item, *io_, is_offline_, version_); !one.empty())
            out += (out.empty() ? "[" : ",") + one;
    return out.empty() ? out : out + ']';
}

LLMCOST_INLINE command_output run_mcp(const arguments& args, const program& io) {
    mcp_connection client(io, args.has(option::offline));
    std::string line;
    bool is_complete = true;
    while (detail::read_message(io.in, line, is_complete)) {
        if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
        const std::string out =
            is_complete ? client.answer(line)
                        : detail::error_response(nullptr, {detail::rpc_error::invalid_request,
                                                           "expected a message of at most " +
                                                               std::to_string(detail::max_message_bytes) + " bytes"});
        if (out.empty()) continue;
        io.out << out << '\n';
        io.out.flush();
        if (!io.out) throw error(errc::output, "mcp", "the output cannot be written");
    }
    return {};
}

}  // namespace llmcost::cli
