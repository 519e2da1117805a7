// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/check.hpp>

#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/commands/engine_log_check.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/files/check_tensors.hpp>
#include <llmcost/files/stored_tensor.hpp>
#include <llmcost/report/json_report.hpp>
#include <llmcost/report/json_writer.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::cli::detail {

LLMCOST_INLINE std::string sizes_text(const std::vector<std::uint64_t>& sizes) {
    std::string out;
    for (const std::uint64_t n : sizes) out += (out.empty() ? "" : " x ") + digits(count(n));
    return out.empty() ? "a scalar" : out;
}

LLMCOST_INLINE std::string check_page(const checked_file& c) {
    std::string out = c.name + "\n" + grouped(count(c.weights.tensors.size())) + " tensors, " +
                      grouped(c.weights.elements()) + " elements, " + in_bytes(c.weights.bytes()) + "\n\n";
    table types{{{"type"}, {"tensors", true}, {"elements", true}, {"bytes", true}}, {}};
    for (const bytes_by_type& t : c.weights.totals)
        types.rows.push_back({printable(t.type), digits(t.tensors), digits(t.elements), digits(t.bytes)});
    out += plain(types) + '\n' + grouped(count(c.found.agree)) + " tensors match the configuration";
    if (!c.found.tied.empty()) out += ", " + grouped(count(c.found.tied.size())) + " are tied to them";
    if (!c.found.packed.empty())
        out += ", " + grouped(count(c.found.packed.size())) + " are parts of quantized weights";
    if (!c.found.buffers.empty()) out += ", " + grouped(count(c.found.buffers.size())) + " are buffers";
    out += c.found.has_no_mismatch() ? ": no differences\n" : "\n";
    if (!c.head.empty()) out += "Language model head: " + c.head + '\n';
    const auto list = [&](std::string_view title, const std::vector<std::string>& lines) {
        if (lines.empty()) return;
        out += '\n' + std::string(title) + ": " + grouped(count(lines.size())) + '\n';
        for (std::size_t i = 0; i < lines.size() && i < 10; ++i) out += "  " + lines[i] + '\n';
        if (lines.size() > 10) out += "  and " + grouped(count(lines.size() - 10)) + " more (--format json)\n";
    };
    const auto printable_names = [](const std::vector<std::string>& names) {
        std::vector<std::string> all;
        for (const std::string& n : names) all.push_back(printable(n));
        return all;
    };
    std::vector<std::string> others;
    for (const tensor_mismatch& m : c.found.other_sizes)
        others.push_back(printable(m.name) + ": " + sizes_text(m.stored) + ", predicted " + sizes_text(m.predicted));
    list("different sizes", others);
    list("only in the file", printable_names(c.found.not_predicted));
    list("only in the configuration", printable_names(c.found.absent));
    return out;
}

LLMCOST_INLINE std::string check_json(const checked_file& c) {
    json_writer json;
    json.object().member("model", c.name).member("tensors", count(c.weights.tensors.size()));
    json.member("elements", c.weights.elements()).member("bytes", c.weights.bytes()).key("types").array();
    for (const bytes_by_type& t : c.weights.totals) {
        json.object().member("type", t.type).member("tensors", t.tensors).member("elements", t.elements);
        json.member("bytes", t.bytes).end_object();
    }
    json.end_array();
    if (!c.head.empty()) json.member("head", c.head);
    json.member("agrees", c.found.has_no_mismatch()).member("agree", count(c.found.agree));
    const auto list = [&](std::string_view key, const std::vector<std::string>& names) {
        json.key(key).array();
        for (const std::string& n : names) json.value(n);
        json.end_array();
    };
    list("not_predicted", c.found.not_predicted);
    list("absent", c.found.absent);
    list("buffers", c.found.buffers);
    list("tied", c.found.tied);
    list("packed", c.found.packed);
    json.key("other_sizes").array();
    for (const tensor_mismatch& m : c.found.other_sizes) {
        json.object().member("name", m.name).key("stored").array(true);
        for (const std::uint64_t n : m.stored) json.value(count(n));
        json.end_array().key("predicted").array(true);
        for (const std::uint64_t n : m.predicted) json.value(count(n));
        json.end_array().end_object();
    }
    json.end_array().end_object();
    return json.text() + "\n";
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE command_output run_check(const arguments& args, const program& io) {
    if (args.has(option::engine_log)) return run_engine_log_check(args, io);
    for (const option_spec& o : engine_log_overrides)
        if (args.has(o)) throw_usage(o.name, "requires --engine-log");
    const auto format = static_cast<output_format>(args.choice(option::format));
    if (format != output_format::text && format != output_format::json)
        throw_usage(option::format.name, "csv, markdown and latex are supported only with --engine-log");
    const parsed_model read = io.read(args, io);
    if (!read.found.weights) throw_usage("check", "requires --gguf FILE or --safetensors FILE, or --engine-log FILE");
    if (!read.checked) throw error(errc::unsupported, read.found.name_of_model.name, read.stored.mismatch_warning);
    const detail::checked_file c{read.found.name_of_model.name, read.found.weights->tensors, *read.checked, read.head};
    const exit_code code = c.found.has_no_mismatch() ? exit_code::ok : exit_code::mismatch;
    if (format == output_format::text) return {detail::check_page(c), code};
    return {detail::check_json(c), code};
}

}  // namespace llmcost::cli
