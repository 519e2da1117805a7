// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/custom/library_part.hpp>
#include <llmcost/custom/read_program.hpp>

// Parses the steps of a block.
namespace llmcost::custom {

/// Parses steps with the names of their block.
class step_reader {
public:
    step_reader(program& target_program, const global_names& all, block& current_block, const model_registry* known)
        : p_(target_program),
          block_(current_block),
          names_(all, current_block),
          numbers_(target_program.numbers, names_),
          known_(known) {}

    [[nodiscard]] block_names& names() noexcept { return names_; }

    [[nodiscard]] steps read_steps(config_view at) {
        steps out;
        if (++depth_ > 32) refuse_at(at, "is nested too deeply");
        for (const config_view entry : at.as_array()) out.push_back(read_step(entry.as_object()));
        --depth_;
        if (out.empty()) refuse_at(at, "expected a step");
        return out;
    }
    [[nodiscard]] std::vector<tensor_reference> read_outputs(config_view at) {
        return each_name(at, [&](config_view name) { return names_.define(name); });
    }
    [[nodiscard]] std::vector<tensor_reference> read_inputs(config_view at) {
        return each_name(at, [&](config_view name) { return names_.find_tensor(name); });
    }
    [[nodiscard]] tensor_reference define_input(string_ref name) { return names_.define_name(as_view(name)); }
    [[nodiscard]] expression number(config_view at) {
        const expression e = numbers_.read(at);
        if (!e.constant() && e.bends) (e.uses_workload ? p_.bends : block_.bends) = true;
        return e;
    }
    [[nodiscard]] std::vector<expression> number_list(config_view at) {
        std::vector<expression> out;
        if (!at.is_array()) return {number(at)};
        for (const config_view entry : at) out.push_back(number(entry));
        return out;
    }

    /// Whether steps include modules and functions, except those in child modules.
    [[nodiscard]] block_contents contents_of(const steps& all) const {
        block_contents c;
        for (const step& s : all) {
            const bool is_scope = s.kind == step_kind::container || s.kind == step_kind::block;
            c.modules =
                c.modules || s.kind == step_kind::module || s.kind == step_kind::part || (is_scope && !s.inlined);
            c.functions = c.functions || s.kind == step_kind::function;
            if (s.kind == step_kind::block && s.inlined) c.add(p_.blocks[s.block].contents);
            if (is_scope && !s.inlined) continue;
            c.add(contents_of(s.body));
            c.add(contents_of(s.alternative_body));
            for (const steps& branch : s.branches) c.add(contents_of(branch));
        }
        return c;
    }

private:
    static constexpr std::array<std::string_view, 8> kinds{"type", "function",  "residual", "parallel",
                                                           "if",   "parameter", "buffer",   "refuse"};

    template <class Place>
    static std::vector<tensor_reference> each_name(config_view at, Place find) {
        std::vector<tensor_reference> out;
        if (at.is_string()) return {find(at)};
        for (const config_view entry : at.as_array()) out.push_back(find(entry));
        return out;
    }

    step read_step(config_view at) {
        step s;
        s.pointer = pointer_of(at);
        std::string_view kind = at.find("layers") ? "layers" : "";
        for (const std::string_view k : kinds)
            if (at.find(string_ref(k.data(), k.size()))) {
                if (!kind.empty() && !(kind == "layers" && k == "type"))
                    refuse_at(at, "is of two kinds: " + std::string(kind) + " and " + std::string(k));
                kind = k;
            }
        if (kind.empty())
            refuse_at(at, "expected one of type, function, layers, residual, parallel, if, parameter, buffer, refuse");
        const bool repeats = at.find("repeat").has_value();
        const std::size_t outer_first = names_.first_inside();
        block_names::repetition_names opened{};
        if (repeats) {
            s.repeated = true;
            s.times = number(*at.find("repeat"));
            if (const auto first = at.find("first")) s.first = number(*first);
            opened = names_.open_repetition(at.find("index") ? parse_name(*at.find("index")) : std::string_view{});
            s.index_slot = opened.slot;
        } else if (const auto index = at.find("index")) {
            refuse_at(*index, "requires repeat");
        }
        if (const auto in = at.find("input")) s.inputs = read_inputs(*in);
        read_kind(at, kind, s);
        if (repeats) s.indexed = names_.close_repetition(opened, outer_first) || s.differs;
        const std::uint16_t slots = block_.slots, lists = block_.lists;
        if (const auto out = at.find("output")) s.outputs = read_outputs(*out);
        // A tensor that a repetition names is an input of the next one.
        for (const tensor_reference& p : s.outputs)
            s.indexed = s.indexed || (repeats && p.slot < (p.list ? lists : slots));
        check_results(at, s);
        return s;
    }

    void read_kind(config_view at, std::string_view kind, step& s) {
        if (kind == "type" || kind == "layers") return read_module(at, s);
        if (kind == "function") return read_function(at, s);
        std::vector<std::string_view> known{kind, "input", "output", "repeat", "first", "index"};
        if (kind == "residual") {
            s.kind = step_kind::residual;
            s.body = read_steps(*at.find("residual"));
            if (const auto shortcut = at.find("around")) s.alternative_body = read_steps(*shortcut);
            s.in_place = at.boolean("inplace", false);
            known.insert(known.end(), {"around", "inplace"});
        } else if (kind == "parallel") {
            s.kind = step_kind::parallel;
            for (const config_view branch : at.find("parallel")->as_array()) s.branches.push_back(read_steps(branch));
            if (s.branches.empty()) refuse_at(at, "expected a branch");
            const std::string_view join_kind = as_view(at.string("join", "cat"));
            if (join_kind != "none") s.row = find_row(function_table, join_kind);
            if (join_kind != "none" && (s.row == nullptr || s.row->max_inputs < 2))
                throw_invalid_value(*at.find("join"), "cat, stack, add, mul or none");
            if (join_kind == "cat" || join_kind == "stack")
                s.arguments.push_back({0, {at.find("dim") ? number(*at.find("dim")) : expression{.number = 1}}});
            known.insert(known.end(), {"join", "dim"});
        } else if (kind == "if") {
            s.kind = step_kind::choice;
            s.condition = number(*at.find("if"));
            s.body = read_steps(at.array("then"));
            if (const auto otherwise = at.find("else")) s.alternative_body = read_steps(*otherwise);
            known.insert(known.end(), {"then", "else"});
        } else if (kind == "refuse") {
            s.kind = step_kind::refusal;
            s.type = p_.keep(as_view(at.find("refuse")->as_string()));
        } else {
            s.kind = kind == "parameter" ? step_kind::parameter : step_kind::buffer;
            s.name = p_.keep(parse_name(*at.find(string_ref(kind.data(), kind.size()))));
            if (kind == "buffer") {
                s.integers = parse_integers(at);
                known.push_back("dtype");
            }
            s.arguments.push_back({0, number_list(at.array("shape"))});
            if (s.arguments[0].numbers.size() > max_rank) throw_invalid_value(*at.find("shape"), "at most six sizes");
            known.push_back("shape");
        }
        check_keys(at, known);
    }

    void read_module(config_view at, step& s) {
        s.is_leaf = false;
        const auto type = at.find("type");
        const std::string_view name = type ? without_module(as_view(type->as_string())) : std::string_view{};
        read_module_name(at, s);
        std::vector<std::string_view> known{"type",  "name", "input", "output", "repeat", "first",
                                            "index", "role", "idle",  "class",  "again"};
        s.is_not_executed = at.boolean("idle", false);
        s.reuses_parameters = at.boolean("again", false);
        if (const auto layers = at.find("layers")) {
            s.kind = step_kind::container;
            s.inlined = !type;
            s.numbered = s.numbered && type;
            if (!type && (at.find("name") || at.find("role")))
                refuse_at(at, "layers with a name or role require a type, the class name");
            s.body = read_steps(*layers);
            s.is_leaf = is_leaf(s.body);
            known.push_back("layers");
            check_keys(at, known);
        } else if (const std::size_t b = block_called(as_view(type->as_string())); b < p_.blocks.size()) {
            read_block_call(at, s, b, known);
        } else if (const layer_row* row = find_row(layer_table, name)) {
            s.kind = step_kind::module;
            s.row = row;
            s.is_leaf = row->is_leaf;
            s.module_role = row->module_role;
            read_arguments(at, s, known);
        } else if (const library_module part = class_of_library(name); part.row != nullptr) {
            s.kind = step_kind::part;
            s.block = static_cast<std::uint16_t>(p_.parts.size());
            p_.parts.push_back(parse_library_part(*known_, part, at.object("config"), names_));
            s.differs = p_.parts.back().full_model.config.layers.is_heterogeneous();
            if (s.numbered) refuse_at(at, std::string(name) + " needs a name");
            known.push_back("config");
            check_keys(at, known);
        } else {
            refuse_later_block(*type);
            name_suggestions near(name);
            for (const layer_row& r : layer_table) near.add_candidate(r.name);
            for (std::size_t i = 1; i < p_.blocks.size(); ++i) near.add_candidate(p_.blocks[i].name);
            refuse_at(*type,
                      "unknown layer or block \"" + std::string(name.substr(0, 60)) + "\"" + near.suggestion_text(""));
        }
        s.type = p_.keep(at.find("class") ? as_view(at.string("class")) : name);
        if (const auto role = at.find("role")) {
            s.module_role = role_from(role->as_string());
            if (s.module_role == role::none || s.module_role == role::all || s.module_role == role::transformer) {
                name_suggestions near(as_view(role->as_string()));
                for (const literal r : role_names) near.add_candidate(r);
                refuse_at(*role, "unknown role" + near.suggestion_or_list());
            }
        }
    }
    /// Parses `"fc"`, `"layers.3"`, `"layers.{i}"` or `"layer{i + 1}"`. Without a name: the index in the container.
    void read_module_name(config_view at, step& s) {
        const auto name = at.find("name");
        if (!name) {
            s.numbered = true;
            return;
        }
        std::string_view rest = as_view(name->as_string());
        if (rest.find('{') == std::string_view::npos) {
            const std::size_t dot = rest.rfind('.');
            const bool listed = dot != std::string_view::npos && dot + 1 < rest.size() && rest.size() - dot < 10 &&
                                rest.find_first_not_of("0123456789", dot + 1) == std::string_view::npos;
            s.name = p_.keep(parse_name(*name, listed ? rest.substr(0, dot) : rest));
            if (!listed) return;
            if (s.repeated) refuse_at(*name, "repetitions are numbered; use first for the first number");
            for (const char c : rest.substr(dot + 1)) s.in_list = std::max<std::int64_t>(s.in_list, 0) * 10 + (c - '0');
            return;
        }
        if (const std::size_t list = rest.find(".{"); list == rest.find('{') - 1 && rest.ends_with('}')) {
            if (s.repeated) refuse_at(*name, "repetitions are numbered; use first for the first number");
            s.name = p_.keep(parse_name(*name, rest.substr(0, list)));
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
    [[nodiscard]] literal name_piece(config_view at, std::string_view text) {
        for (const char c : text)
            if (!is_of_name(c) && c != '-')
                throw_invalid_value(at, "a name of letters, digits, _ and -, with expressions between { and }");
        return p_.keep(text);
    }
    [[nodiscard]] expression number_in(config_view at, std::string_view text) {
        const config_node node{.type = config_node::kind::string, .string = {text.data(), text.size()}};
        try {
            return number(config_view{&node, 0});
        } catch (const config_error& e) {
            refuse_at(at, as_view(e.message()));
        }
    }

    [[nodiscard]] library_module class_of_library(std::string_view name) const {
        return known_ == nullptr ? library_module{} : find_library_class(*known_, name);
    }
    /// True if a module of these steps computes its output itself, without child modules.
    ///
    /// A module with parameters only is not called.
    [[nodiscard]] bool is_leaf(const steps& all) const {
        const block_contents c = contents_of(all);
        return c.functions && !c.modules;
    }
    [[nodiscard]] std::size_t block_called(std::string_view name) const {
        std::size_t i = 1;
        while (i < p_.blocks.size() && p_.blocks[i].name != name) ++i;
        return i;
    }
    /// Throws if a block is described at or after the step that calls it.
    static void refuse_later_block(config_view at) {
        const auto all = config_view{at.nodes(), 0}.find("blocks");
        if (all && all->is_object() && all->find(at.as_string()))
            refuse_at(at, "a block must be defined before the blocks that call it");
    }
    void read_block_call(config_view at, step& s, std::size_t b, std::vector<std::string_view> known) {
        const block& called = p_.blocks[b];
        s.kind = step_kind::block;
        s.block = static_cast<std::uint16_t>(b);
        s.is_leaf = called.contents.functions && !called.contents.modules;
        for (std::size_t i = 0; i < called.arguments.size(); ++i) {
            const std::string& name = called.arguments[i];
            known.push_back(name);
            if (const auto argument = at.find(string_ref(name.data(), name.size()))) {
                const expression e = number(*argument);
                if (!e.constant() && called.bends) (e.uses_workload ? p_.bends : block_.bends) = true;
                s.arguments.push_back({static_cast<std::uint8_t>(i), {e}});
            } else if (called.otherwise[i].empty())
                refuse_at(at, "block " + called.name + " needs " + name);
        }
        check_keys(at, known);
    }

    void read_function(config_view at, step& s) {
        const config_view named = *at.find("function");
        const std::string_view qualified_name = as_view(named.as_string()), name = without_module(qualified_name);
        std::vector<std::string_view> known{"function", "input", "output", "repeat", "first", "index"};
        if (const std::size_t b = block_called(qualified_name); b < p_.blocks.size()) {
            s.inlined = true;
            return read_block_call(at, s, b, known);
        }
        s.kind = step_kind::function;
        s.row = find_row(function_table, name);
        if (s.row == nullptr) {
            refuse_later_block(named);
            name_suggestions near(name);
            for (const layer_row& r : function_table) near.add_candidate(r.name);
            for (std::size_t i = 1; i < p_.blocks.size(); ++i) near.add_candidate(p_.blocks[i].name);
            refuse_at(named, "unknown function or block \"" + std::string(name.substr(0, 60)) + "\"" +
                                 near.suggestion_text(""));
        }
        read_arguments(at, s, known);
    }

    void read_arguments(config_view at, step& s, std::vector<std::string_view> known) {
        const layer_row& row = *s.row;
        for (std::size_t i = 0; i < row.argument_count(); ++i) {
            const argument_row& a = row.arguments[i];
            known.push_back(a.name);
            const auto argument = at.find(a.name);
            if (!argument || argument->is_null()) {
                if (a.required) refuse_at(at, std::string(row.name) + " needs " + a.name);
                continue;
            }
            if (a.kind == argument_kind::no_figure) continue;
            s.arguments.push_back({static_cast<std::uint8_t>(i), read_argument(*argument, a)});
        }
        check_keys(at, known);
    }
    [[nodiscard]] std::vector<expression> read_argument(config_view at, const argument_row& a) {
        if (a.kind == argument_kind::rate && at.is_number()) {
            const double rate = at.as_real();
            if (rate < 0 || rate > 1) throw_invalid_value(at, "a rate from 0 to 1");
            return {{.number = rate > 0}};
        }
        if (a.kind == argument_kind::choice) {
            const std::string_view choices = a.choices, name = as_view(at.as_string());
            std::int64_t n = 0;
            for (std::size_t begin = 0; begin < choices.size(); ++n) {
                const std::size_t end = std::min(choices.find(' ', begin), choices.size());
                if (choices.substr(begin, end - begin) == name) return {{.number = n}};
                begin = end + 1;
            }
            refuse_at(
                at, "expected one of " + std::string(choices) + ", found \"" + std::string(name.substr(0, 40)) + "\"");
        }
        if (at.is_array() && !a.is_list) throw_invalid_value(at, "one number");
        std::vector<expression> out = number_list(at);
        if (out.size() > max_rank * 2) throw_invalid_value(at, "fewer numbers");
        for (const expression& e : out)
            if (e.constant()) check_argument(e.number, a, at);
        return out;
    }

public:
    /// Throws if a number is not a valid value of an argument.
    static void check_argument(std::int64_t n, const argument_row& a, config_view at) {
        if (const literal expected = expected_of(n, a); !is_empty(expected)) throw_invalid_value(at, expected);
    }
    [[nodiscard]] static literal expected_of(std::int64_t n, const argument_row& a) noexcept {
        if (n > max_input || n < -max_input) return "a number of at most 31 bits";
        if (a.kind == argument_kind::size && n < 1) return "a positive integer";
        if (a.kind == argument_kind::amount && n < 0) return "a non-negative integer";
        if (a.kind == argument_kind::shape && n < -1) return "sizes, at most one of which is -1";
        return "";
    }

private:
    void check_results(config_view at, const step& s) const {
        const int n = s.row == nullptr || s.kind == step_kind::parallel ? 0 : s.row->results;
        const auto named = static_cast<int>(s.outputs.size());
        if (s.row != nullptr && s.kind != step_kind::parallel) {
            if (n == 0 && named < 1)
                refuse_at(at, std::string(s.row->name) + " requires output, the names of its results");
            if (n > 0 && named > n)
                refuse_at(at, std::string(s.row->name) + " has " + std::to_string(n) + " results, not " +
                                  std::to_string(named));
            if (named > trace::max_cat_inputs) refuse_at(at, "has too many results");
            const auto in = static_cast<int>(s.inputs.size());
            const bool lists =
                std::any_of(s.inputs.begin(), s.inputs.end(), [](const tensor_reference& p) { return p.list; });
            if (in != 0 && !lists && (in < s.row->min_inputs || in > s.row->max_inputs))
                refuse_at(
                    *at.find("input"),
                    std::string(s.row->name) + " reads " + std::to_string(s.row->min_inputs) +
                        (s.row->max_inputs > s.row->min_inputs ? " to " + std::to_string(s.row->max_inputs) : "") +
                        " tensors, not " + std::to_string(in));
            if (in == 0 && s.row->min_inputs > 1)
                refuse_at(at, std::string(s.row->name) + " reads " + std::to_string(s.row->min_inputs) +
                                  " tensors: name them as input");
        }
        if (s.kind == step_kind::parameter && named != 1)
            refuse_at(at, "a parameter requires output, its name for other steps");
    }

    program& p_;
    block& block_;
    block_names names_;
    expression_reader numbers_;
    const model_registry* known_;
    int depth_ = 0;
};

}  // namespace llmcost::custom
