// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/custom/read_steps.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/config_error.hpp>
#include <llmcost/base/config_view.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/maybe.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/custom/arguments.hpp>
#include <llmcost/custom/expression.hpp>
#include <llmcost/custom/function_table.hpp>
#include <llmcost/custom/layer_table.hpp>
#include <llmcost/custom/library_part.hpp>
#include <llmcost/custom/program.hpp>
#include <llmcost/custom/read_expression.hpp>
#include <llmcost/custom/read_program.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/text/nearest_name.hpp>
#include <llmcost/trace/layer_plan.hpp>
#include <llmcost/trace/scope.hpp>
#include <llmcost/trace/tensor.hpp>
#include <llmcost/trace/trace.hpp>

namespace llmcost::custom {

LLMCOST_INLINE step_reader::step_reader(program& target_program, const global_names& all, block& current_block,
                                        const model_registry* known)
    : program_(target_program),
      block_(current_block),
      names_(all, current_block),
      numbers_(target_program.numbers, names_),
      registry_(known) {}

LLMCOST_INLINE steps step_reader::read_steps(config_view node) {
    steps out;
    if (++depth_ > 32) refuse_at(node, "is nested too deeply");
    for (const config_view entry : node.as_array()) out.push_back(read_step(entry.as_object()));
    --depth_;
    if (out.empty()) refuse_at(node, "expected a step");
    return out;
}

LLMCOST_INLINE expression step_reader::number(config_view node) {
    const expression e = numbers_.read(node);
    if (!e.constant() && e.is_nonlinear) (e.uses_workload ? program_.is_nonlinear : block_.is_nonlinear) = true;
    return e;
}

LLMCOST_INLINE std::vector<expression> step_reader::number_list(config_view node) {
    std::vector<expression> out;
    if (!node.is_array()) return {number(node)};
    for (const config_view entry : node) out.push_back(number(entry));
    return out;
}

LLMCOST_INLINE block_contents step_reader::contents_of(const steps& all) const {
    block_contents c;
    for (const step& s : all) {
        const bool is_scope = s.kind == step_kind::container || s.kind == step_kind::block;
        c.modules = c.modules || s.kind == step_kind::module || s.kind == step_kind::part || (is_scope && !s.inlined);
        c.functions = c.functions || s.kind == step_kind::function;
        if (s.kind == step_kind::block && s.inlined) c.add(program_.blocks[s.block].contents);
        if (is_scope && !s.inlined) continue;
        c.add(contents_of(s.body));
        c.add(contents_of(s.alternative_body));
        for (const steps& branch : s.branches) c.add(contents_of(branch));
    }
    return c;
}

LLMCOST_INLINE step step_reader::read_step(config_view node) {
    step s;
    s.pointer = pointer_of(node);
    std::string_view kind = node.find("layers") ? "layers" : "";
    for (const std::string_view k : kinds)
        if (node.find(string_ref(k.data(), k.size()))) {
            if (!kind.empty() && !(kind == "layers" && k == "type"))
                refuse_at(node, "is of two kinds: " + std::string(kind) + " and " + std::string(k));
            kind = k;
        }
    if (kind.empty())
        refuse_at(node, "expected one of type, function, layers, residual, parallel, if, parameter, buffer, refuse");
    const bool repeats = node.find("repeat").has_value();
    const std::size_t outer_first = names_.first_inside();
    block_names::repetition_names opened{};
    if (repeats) {
        s.repeated = true;
        s.times = number(*node.find("repeat"));
        if (const auto first = node.find("first")) s.first = number(*first);
        opened = names_.open_repetition(node.find("index") ? parse_name(*node.find("index")) : std::string_view{});
        s.index_slot = opened.slot;
    } else if (const auto index = node.find("index")) {
        refuse_at(*index, "requires repeat");
    }
    if (const auto in = node.find("input")) s.inputs = read_inputs(*in);
    read_kind(node, kind, s);
    if (repeats) s.indexed = names_.close_repetition(opened, outer_first) || s.differs;
    const std::uint16_t slots = block_.slots, lists = block_.lists;
    if (const auto out = node.find("output")) s.outputs = read_outputs(*out);
    // A tensor that a repetition names is an input of the next one.
    for (const tensor_reference& p : s.outputs) s.indexed = s.indexed || (repeats && p.slot < (p.list ? lists : slots));
    check_results(node, s);
    return s;
}

LLMCOST_INLINE void step_reader::read_kind(config_view node, std::string_view kind, step& s) {
    if (kind == "type" || kind == "layers") return read_module(node, s);
    if (kind == "function") return read_function(node, s);
    std::vector<std::string_view> known{kind, "input", "output", "repeat", "first", "index"};
    if (kind == "residual") {
        s.kind = step_kind::residual;
        s.body = read_steps(*node.find("residual"));
        if (const auto shortcut = node.find("around")) s.alternative_body = read_steps(*shortcut);
        s.in_place = node.boolean("inplace", false);
        known.insert(known.end(), {"around", "inplace"});
    } else if (kind == "parallel") {
        s.kind = step_kind::parallel;
        for (const config_view branch : node.find("parallel")->as_array()) s.branches.push_back(read_steps(branch));
        if (s.branches.empty()) refuse_at(node, "expected a branch");
        const std::string_view join_kind = as_view(node.string("join", "cat"));
        if (join_kind != "none") s.row = find_row(function_table, join_kind);
        if (join_kind != "none" && (s.row == nullptr || s.row->max_inputs < 2))
            throw_invalid_value(*node.find("join"), "cat, stack, add, mul or none");
        if (join_kind == "cat" || join_kind == "stack")
            s.arguments.push_back({0, {node.find("dim") ? number(*node.find("dim")) : expression{.number = 1}}});
        known.insert(known.end(), {"join", "dim"});
    } else if (kind == "if") {
        s.kind = step_kind::choice;
        s.condition = number(*node.find("if"));
        s.body = read_steps(node.array("then"));
        if (const auto else_steps = node.find("else")) s.alternative_body = read_steps(*else_steps);
        known.insert(known.end(), {"then", "else"});
    } else if (kind == "refuse") {
        s.kind = step_kind::refusal;
        s.type = program_.keep(as_view(node.find("refuse")->as_string()));
    } else {
        s.kind = kind == "parameter" ? step_kind::parameter : step_kind::buffer;
        s.name = program_.keep(parse_name(*node.find(string_ref(kind.data(), kind.size()))));
        if (kind == "buffer") {
            s.integers = parse_integers(node);
            known.push_back("dtype");
        }
        s.arguments.push_back({0, number_list(node.array("shape"))});
        if (s.arguments[0].numbers.size() > max_rank) throw_invalid_value(*node.find("shape"), "at most six sizes");
        known.push_back("shape");
    }
    check_keys(node, known);
}

LLMCOST_INLINE void step_reader::read_module(config_view node, step& s) {
    s.is_leaf = false;
    const auto type = node.find("type");
    const std::string_view name = type ? without_module(as_view(type->as_string())) : std::string_view{};
    read_module_name(node, s);
    std::vector<std::string_view> known{"type",  "name", "input", "output", "repeat", "first",
                                        "index", "role", "idle",  "class",  "again"};
    s.is_not_executed = node.boolean("idle", false);
    s.reuses_parameters = node.boolean("again", false);
    if (const auto layers = node.find("layers")) {
        s.kind = step_kind::container;
        s.inlined = !type;
        s.numbered = s.numbered && type;
        if (!type && (node.find("name") || node.find("role")))
            refuse_at(node, "layers with a name or role require a type, the class name");
        s.body = read_steps(*layers);
        s.is_leaf = is_leaf(s.body);
        known.push_back("layers");
        check_keys(node, known);
    } else if (const std::size_t b = block_called(as_view(type->as_string())); b < program_.blocks.size()) {
        read_block_call(node, s, b, known);
    } else if (const layer_row* row = find_row(layer_table, name)) {
        s.kind = step_kind::module;
        s.row = row;
        s.is_leaf = row->is_leaf;
        s.module_role = row->module_role;
        read_arguments(node, s, known);
    } else if (const library_module part = class_of_library(name); part.row != nullptr) {
        s.kind = step_kind::part;
        s.block = static_cast<std::uint16_t>(program_.parts.size());
        program_.parts.push_back(parse_library_part(*registry_, part, node.object("config"), names_));
        s.differs = program_.parts.back().full_model.config.layers.is_heterogeneous();
        if (s.numbered) refuse_at(node, std::string(name) + " needs a name");
        known.push_back("config");
        check_keys(node, known);
    } else {
        refuse_later_block(*type);
        name_suggestions near(name);
        for (const layer_row& r : layer_table) near.add_candidate(r.name);
        for (std::size_t i = 1; i < program_.blocks.size(); ++i) near.add_candidate(program_.blocks[i].name);
        refuse_at(*type,
                  "unknown layer or block \"" + std::string(name.substr(0, 60)) + "\"" + near.suggestion_text(""));
    }
    const auto named_class = node.find("class");
    s.type = program_.keep(named_class ? as_view(named_class->as_string()) : name);
    if (!s.inlined && !is_class_name(std::string_view(s.type)))
        refuse_at(named_class ? *named_class : *type, "expected the name of a class: letters, digits, _ and .");
    if (const auto role = node.find("role")) {
        s.module_role = role_from(role->as_string());
        if (s.module_role == role::none || s.module_role == role::all || s.module_role == role::transformer) {
            name_suggestions near(as_view(role->as_string()));
            for (const literal r : role_names) near.add_candidate(r);
            refuse_at(*role, "unknown role" + near.suggestion_or_list());
        }
    }
}

LLMCOST_INLINE void step_reader::read_module_name(config_view node, step& s) {
    const auto name = node.find("name");
    if (!name) {
        s.numbered = true;
        return;
    }
    std::string_view rest = as_view(name->as_string());
    if (rest.find('{') == std::string_view::npos) {
        const std::size_t dot = rest.rfind('.');
        const bool listed = dot != std::string_view::npos && dot + 1 < rest.size() && rest.size() - dot < 10 &&
                            rest.find_first_not_of("0123456789", dot + 1) == std::string_view::npos;
        s.name = program_.keep(parse_name(*name, listed ? rest.substr(0, dot) : rest));
        if (!listed) return;
        if (s.repeated) refuse_at(*name, "repetitions are numbered; use first for the first number");
        for (const char c : rest.substr(dot + 1)) s.in_list = std::max<std::int64_t>(s.in_list, 0) * 10 + (c - '0');
        return;
    }
    if (const std::size_t list = rest.find(".{"); list == rest.find('{') - 1 && rest.ends_with('}')) {
        if (s.repeated) refuse_at(*name, "repetitions are numbered; use first for the first number");
        s.name = program_.keep(parse_name(*name, rest.substr(0, list)));
        s.first = number_in(*name, rest.substr(list + 2, rest.size() - list - 3));
        s.counted = true;
        return;
    }
    for (std::size_t open = rest.find('{'); open != std::string_view::npos; open = rest.find('{')) {
        const std::size_t close = rest.find('}', open);
        if (close == std::string_view::npos) throw_invalid_value(*name, "an expression between { and }");
        s.name_parts.push_back(
            {name_piece(*name, rest.substr(0, open)), number_in(*name, rest.substr(open + 1, close - open - 1))});
        rest.remove_prefix(close + 1);
    }
    s.name = name_piece(*name, rest);
}

LLMCOST_INLINE literal step_reader::name_piece(config_view node, std::string_view text) {
    for (const char c : text)
        if (!is_of_name(c) && c != '-')
            throw_invalid_value(node, "a name of letters, digits, _ and -, with expressions between { and }");
    return program_.keep(text);
}

LLMCOST_INLINE expression step_reader::number_in(config_view value, std::string_view text) {
    const config_node node{.type = config_node::kind::string, .string = {text.data(), text.size()}};
    try {
        return number(config_view{&node, 0});
    } catch (const config_error& e) {
        refuse_at(value, as_view(e.message()));
    }
}

LLMCOST_INLINE bool step_reader::is_leaf(const steps& all) const {
    const block_contents c = contents_of(all);
    return c.functions && !c.modules;
}

LLMCOST_INLINE std::size_t step_reader::block_called(std::string_view name) const {
    std::size_t i = 1;
    while (i < program_.blocks.size() && program_.blocks[i].name != name) ++i;
    return i;
}

LLMCOST_INLINE void step_reader::refuse_later_block(config_view node) {
    const auto all = config_view{node.nodes(), 0}.find("blocks");
    if (all && all->is_object() && all->find(node.as_string()))
        refuse_at(node, "a block must be defined before the blocks that call it");
}

LLMCOST_INLINE void step_reader::read_block_call(config_view node, step& s, std::size_t b,
                                                 std::vector<std::string_view> known) {
    const block& called = program_.blocks[b];
    s.kind = step_kind::block;
    s.block = static_cast<std::uint16_t>(b);
    s.is_leaf = called.contents.functions && !called.contents.modules;
    for (std::size_t i = 0; i < called.arguments.size(); ++i) {
        const std::string& name = called.arguments[i];
        known.push_back(name);
        if (const auto argument = node.find(string_ref(name.data(), name.size()))) {
            const expression e = number(*argument);
            if (!e.constant() && called.is_nonlinear)
                (e.uses_workload ? program_.is_nonlinear : block_.is_nonlinear) = true;
            s.arguments.push_back({static_cast<std::uint8_t>(i), {e}});
        } else if (called.default_arguments[i].empty())
            refuse_at(node, "block " + called.name + " needs " + name);
    }
    check_keys(node, known);
}

LLMCOST_INLINE void step_reader::read_function(config_view node, step& s) {
    const config_view named = *node.find("function");
    const std::string_view qualified_name = as_view(named.as_string()), name = without_module(qualified_name);
    std::vector<std::string_view> known{"function", "input", "output", "repeat", "first", "index"};
    if (const std::size_t b = block_called(qualified_name); b < program_.blocks.size()) {
        s.inlined = true;
        return read_block_call(node, s, b, known);
    }
    s.kind = step_kind::function;
    s.row = find_row(function_table, name);
    if (s.row == nullptr) {
        refuse_later_block(named);
        name_suggestions near(name);
        for (const layer_row& r : function_table) near.add_candidate(r.name);
        for (std::size_t i = 1; i < program_.blocks.size(); ++i) near.add_candidate(program_.blocks[i].name);
        refuse_at(named,
                  "unknown function or block \"" + std::string(name.substr(0, 60)) + "\"" + near.suggestion_text(""));
    }
    read_arguments(node, s, known);
}

LLMCOST_INLINE void step_reader::read_arguments(config_view node, step& s, std::vector<std::string_view> known) {
    const layer_row& row = *s.row;
    for (std::size_t i = 0; i < row.argument_count(); ++i) {
        const argument_row& a = row.arguments[i];
        known.push_back(a.name);
        const auto argument = node.find(a.name);
        if (!argument || argument->is_null()) {
            if (a.required) refuse_at(node, std::string(row.name) + " needs " + a.name);
            continue;
        }
        if (a.kind == argument_kind::no_figure) continue;
        s.arguments.push_back({static_cast<std::uint8_t>(i), read_argument(*argument, a)});
    }
    check_keys(node, known);
}

LLMCOST_INLINE std::vector<expression> step_reader::read_argument(config_view node, const argument_row& a) {
    if (a.kind == argument_kind::rate && node.is_number()) {
        const double rate = node.as_real();
        if (rate < 0 || rate > 1) throw_invalid_value(node, "a rate from 0 to 1");
        return {{.number = rate > 0}};
    }
    if (a.kind == argument_kind::choice) {
        const std::string_view choices = a.choices, name = as_view(node.as_string());
        std::int64_t n = 0;
        for (std::size_t begin = 0; begin < choices.size(); ++n) {
            const std::size_t end = std::min(choices.find(' ', begin), choices.size());
            if (choices.substr(begin, end - begin) == name) return {{.number = n}};
            begin = end + 1;
        }
        refuse_at(node,
                  "expected one of " + std::string(choices) + ", found \"" + std::string(name.substr(0, 40)) + "\"");
    }
    if (node.is_array() && !a.is_list) throw_invalid_value(node, "one number");
    std::vector<expression> out = number_list(node);
    if (out.size() > max_rank * 2) throw_invalid_value(node, "fewer numbers");
    for (const expression& e : out)
        if (e.constant()) check_argument(e.number, a, node);
    return out;
}

LLMCOST_INLINE literal step_reader::expected_of(std::int64_t n, const argument_row& a) noexcept {
    if (n > max_input || n < -max_input) return "a number of at most 31 bits";
    if (a.kind == argument_kind::size && n < 1) return "a positive integer";
    if (a.kind == argument_kind::amount && n < 0) return "a non-negative integer";
    if (a.kind == argument_kind::shape && n < -1) return "sizes, at most one of which is -1";
    return "";
}

LLMCOST_INLINE void step_reader::check_results(config_view node, const step& s) const {
    const int n = s.row == nullptr || s.kind == step_kind::parallel ? 0 : s.row->results;
    const auto named = static_cast<int>(s.outputs.size());
    if (s.row != nullptr && s.kind != step_kind::parallel) {
        if (n == 0 && named < 1)
            refuse_at(node, std::string(s.row->name) + " requires output, the names of its results");
        if (const int maximum = std::max(n, s.row->max_results); n > 0 && named > maximum)
            refuse_at(node, std::string(s.row->name) + " has " + std::to_string(maximum) + " results, not " +
                                std::to_string(named));
        if (named > trace::max_cat_inputs) refuse_at(node, "has too many results");
        const auto in = static_cast<int>(s.inputs.size());
        const bool lists =
            std::any_of(s.inputs.begin(), s.inputs.end(), [](const tensor_reference& p) { return p.list; });
        if (in != 0 && !lists && (in < s.row->min_inputs || in > s.row->max_inputs))
            refuse_at(*node.find("input"),
                      std::string(s.row->name) + " reads " + std::to_string(s.row->min_inputs) +
                          (s.row->max_inputs > s.row->min_inputs ? " to " + std::to_string(s.row->max_inputs) : "") +
                          " tensors, not " + std::to_string(in));
        if (in == 0 && s.row->min_inputs > 1)
            refuse_at(node, std::string(s.row->name) + " reads " + std::to_string(s.row->min_inputs) +
                                " tensors: name them as input");
    }
    if (s.kind == step_kind::parameter && named != 1)
        refuse_at(node, "a parameter requires output, its name for other steps");
}

}  // namespace llmcost::custom
