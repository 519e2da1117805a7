// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "mutable_prices.hpp"

#include "claims.hpp"
#include "fields.hpp"
#include "layer_subject.hpp"
#include "program_subject.hpp"
#include "rounds.hpp"
#include "subject.hpp"

#include "../golden/heads_file.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace llmcost;
using namespace llmcost::testing;

namespace {

using subjects_of_row = std::map<std::string_view, std::vector<const subject*>>;

const subjects_of_row& by_type() {
    static const subjects_of_row sorted = [] {
        subjects_of_row found;
        for (const subject& s : subjects())
            if (!is_unmutated(s.row().model_type)) found[s.row().model_type].push_back(&s);
        for (auto& [type, of_type] : found)  // most changes turn the first red
            std::stable_sort(of_type.begin(), of_type.end(),
                             [](const subject* a, const subject* b) { return a->length() < b->length(); });
        return found;
    }();
    return sorted;
}

/// What became of a change over all goldens of its type.
struct fate {
    bool red = false;
    bool has_no_effect = true;
};

/// Reports what is green and not claimed, and what is claimed and not green.
void judge(const std::string& label, const fate& f, bool claimed) {
    if (f.red)
        CHECK_MESSAGE(!claimed, label << ": turns a golden red; tests/mutation/claims.hpp says that none does");
    else if (!claimed)
        FAIL_CHECK(label << ": turns no golden red");
}
/// Verifies a field that a trace need not read. If it changes nothing in any workload, no claim is needed.
void judge_read(const std::string& label, const fate& f, bool claimed) {
    if (!claimed && !f.red && f.has_no_effect) return;
    judge(label, f, claimed);
}

/// Whether a price as it is now turns red what executes it: a golden, a program of a few operations, or a layer.
///
/// `inputs`: what the price reads of an operation; where there are fewer, it cannot be tried.
template <class Subjects>
bool some_red(const Subjects& all, op kind, int inputs) {
    const auto index = static_cast<std::size_t>(kind);
    for (const auto& s : all) {
        const int minimum = s.census().min_inputs[index];
        if (s.census().executes[index] && (minimum == 0 || minimum >= inputs) && !s.holds_prices()) return true;
    }
    return false;
}
bool some_price_red(op kind, int inputs = 1) {
    return some_red(program_subjects(), kind, inputs) || some_red(layer_subjects(), kind, inputs) ||
           some_red(subjects(), kind, inputs);
}

bool is_name(const std::string& text) { return text.starts_with("names.") || text == "prefix"; }

/// What an operation is ever given, so far as a price can tell.
struct usage {
    int max_inputs = 0;  ///< where a gradient is asked for
    bool has_work = false;
    bool has_rows = false;
    bool needs_gradient[2]{};  ///< a gradient of its first, of its second input
    bool changes_size = false;
};
usage usage_of(op kind) {
    usage u;
    const auto index = static_cast<std::size_t>(kind);
    const auto add = [&](const operation_census& c) {
        u.max_inputs = std::max(u.max_inputs, c.max_inputs[index]);
        u.has_work = u.has_work || c.has_work[index];
        u.has_rows = u.has_rows || c.has_rows[index];
        for (std::size_t i = 0; i < 2; ++i) u.needs_gradient[i] = u.needs_gradient[i] || c.needs_gradient[i][index];
        u.changes_size = u.changes_size || c.changes_size[index];
    };
    for (const program_subject& s : program_subjects()) add(s.census());
    for (const layer_subject& s : layer_subjects()) add(s.census());
    for (const subject& s : subjects()) add(s.census());
    return u;
}
/// Whether two rules keep the same of whatever the operation is given.
bool same_rule(saved_tensors a, saved_tensors b, usage u) {
    if (u.max_inputs == 0) return true;  // nothing asks for its gradient
    const auto simplest = [u](saved_tensors k) {
        if (u.max_inputs == 1 && (k == saved_tensors::other_operand || k == saved_tensors::divisor_or_both))
            return saved_tensors::none;
        return !u.has_rows && k == saved_tensors::input_and_row_statistics ? saved_tensors::input : k;
    };
    return simplest(a) == simplest(b);
}

bool price_claimed(std::string_view operation, std::string_view change) {
    for (const price_claim& c : price_claims)
        if (contains_word(c.operations, operation) && covers(c.changes, change)) return true;
    return false;
}

bool is_claimed(std::string_view change, std::string_view type) {
    return std::any_of(std::begin(claims), std::end(claims), [&](const claim& c) { return c.holds(change, type); });
}
/// Whether a golden itself differs; a model whose figures have no end does.
bool differs(const golden_file& golden, const model& m) try {
    return compare(golden, m).differences() != 0;
} catch (const std::exception&) {
    return true;
}

/// Changes one number of a price and puts it back.
template <class T>
bool red_with_one_more(op kind, T& number) {
    ++number;
    const bool red = some_price_red(kind);
    --number;
    return red;
}

}  // namespace

TEST_CASE("what is compared here is what the golden test compares") {
    REQUIRE(subjects().size() >= 38);
    std::size_t offset = 0, tried = 0;
    for (const subject& s : subjects()) {
        const model& m = s.built();
        CHECK_MESSAGE(compare(s.golden(), m).differences() == 0, s.golden().name);
        CHECK(s.hold(m) == outcome::green);
        CHECK(s.has_no_effect(m));
        for (std::size_t i = offset++ % 40; i < 80; i += 40) {  // a few changes in turn, compared with the golden
            model_spec row = s.row();
            one_change change{i};
            change.visit_fields(row);
            const outcome found = s.hold(row);
            if (found == outcome::refused) continue;
            ++tried;
            model m_changed = s.read(row);
            subject::lend_sizes(m_changed.config);
            CHECK_MESSAGE(differs(s.golden(), m_changed) == (found == outcome::red),
                          s.golden().name << " with " << change.text());
        }
    }
    CHECK(tried > subjects().size());
}

/// Whether only recordings of sound execute it, which are not tried here: "every golden that shows images, videos or
/// sound is exact" holds its price.
bool is_audio_only_op(op kind) { return kind == op::glu || kind == op::weight_norm; }

TEST_CASE("every price is held by what torch executes") {
    for (const program_subject& s : program_subjects()) CHECK(s.holds_prices());
    for (const layer_subject& s : layer_subjects()) CHECK(s.holds_prices());
    for (op_cost& p : prices) {
        const std::string name(p.name);
        const auto check_change = [&](const std::string& change, bool red) {
            judge(name + " " + change, {red, true}, price_claimed(p.name, change));
        };
        const usage used = usage_of(p.kind);
        if (is_audio_only_op(p.kind)) continue;
        if (!used.has_rows) CHECK_MESSAGE(p.per_row == primitives<std::int8_t>{}, name << " has no rows");
        if (!used.has_work) CHECK_MESSAGE(p.per_work == primitives<std::int8_t>{}, name << " has no work");
        for (std::size_t i = 0; i < llmcost::num_primitives; ++i) {
            const auto member = llmcost::primitive_members<std::int8_t>[i];
            const std::string figure = "=" + std::string(figure_names[i]);
            if (used.has_work) check_change("per_work" + figure, red_with_one_more(p.kind, p.per_work.*member));
            if (used.has_rows) check_change("per_row" + figure, red_with_one_more(p.kind, p.per_row.*member));
        }
        if (used.has_work) check_change("torch_flops", red_with_one_more(p.kind, p.torch_flops));
        for (std::size_t i = 0; i < testing::detail::enumerators<saved_tensors>(); ++i) {
            const saved_tensors original = p.saved, candidate = static_cast<saved_tensors>(i);
            const int reads =
                candidate == saved_tensors::both_inputs || candidate == saved_tensors::second_input ? 2 : 1;
            if (reads > used.max_inputs || same_rule(original, candidate, used)) continue;
            p.saved = candidate;
            const bool red = some_price_red(p.kind, reads);
            p.saved = original;
            check_change("kept=" + testing::detail::name_of_value(candidate), red);
        }
    }
}

TEST_CASE("every price of backward is held by what torch executes") {
    for (backward_op_cost& p : backward_prices) {
        const std::string name(op_cost_of(p.kind).name);
        if (is_audio_only_op(p.kind)) continue;
        const auto check_change = [&](const std::string& change, bool red) {
            judge(name + " backward " + change, {red, true}, price_claimed(name, "backward " + change));
        };
        const usage used = usage_of(p.kind);
        const auto hold_all = [&](const std::string& part, primitives<std::int8_t>& price, bool can_be) {
            if (!can_be && p.kind != op::acos)  // an arc cosine stands under YOSO's own backward alone
                CHECK_MESSAGE(price == primitives<std::int8_t>{}, name << " has no backward " << part);
            for (std::size_t i = 0; can_be && i < num_primitives; ++i)
                check_change(part + "=" + std::string(figure_names[i]),
                             red_with_one_more(p.kind, price.*primitive_members<std::int8_t>[i]));
        };
        hold_all("first", p.first, used.has_work && used.needs_gradient[0]);
        hold_all("second", p.second, used.has_work && used.needs_gradient[1]);
        hold_all("per_row", p.per_row, used.has_rows && used.needs_gradient[0]);
        if (used.needs_gradient[0]) check_change("mult_per_element", red_with_one_more(p.kind, p.mult_per_element));
        for (const gradient_size_kind candidate :
             {gradient_size_kind::as_input, gradient_size_kind::as_output, gradient_size_kind::already_summed}) {
            const gradient_size_kind original = p.gradient_size;
            const bool is_equivalent = !used.changes_size && original != gradient_size_kind::already_summed &&
                                       candidate != gradient_size_kind::already_summed;
            if (candidate == original || is_equivalent || !used.needs_gradient[0]) continue;
            p.gradient_size = candidate;
            const bool red = some_price_red(p.kind);
            p.gradient_size = original;
            check_change("gradient=" + testing::detail::name_of_value(candidate), red);
        }
    }
}

TEST_CASE("every field of a row is held by a golden") {
    for (const auto& [type, of_type] : by_type()) {
        const model_spec& row = of_type.front()->row();
        const class_reader classes(type);
        const auto hold = [&, &type = type, &of_type = of_type](std::size_t i) {
            model_spec changed = row;
            one_change change{i};
            change.visit_fields(changed);
            fate f;
            const bool names = is_name(change.text());
            for (std::size_t claim_index = 0; claim_index < of_type.size() && !f.red; ++claim_index)
                f.red = of_type[claim_index]->hold(changed, names) != outcome::green;
            f.red = f.red || !classes.differences(changed).empty();
            const bool claimed = is_claimed(change.text(), type);
            if (!f.red && !claimed)
                for (const subject* s : of_type)
                    f.has_no_effect = f.has_no_effect && s->has_no_effect(s->read(changed));
            judge_read(std::string(type) + " with " + change.text(), f, claimed);
        };
        rounds_of_changes names, others;
        for (std::size_t i = 0;; ++i) {
            model_spec changed = row;
            one_change change{i};
            change.visit_fields(changed);
            if (change.text().empty()) break;
            (is_name(change.text()) ? names : others).add(i, change.text());
        }
        for (const rounds_of_changes* rounds : {&names, &others}) {
            const auto silent = [&, &of_type = of_type](std::span<const std::size_t> changes) {
                model_spec changed = row;
                for (const std::size_t i : changes) one_change{i}.visit_fields(changed);
                const bool green = std::all_of(of_type.begin(), of_type.end(), [&](const subject* s) {
                    return s->hold(changed, rounds == &names) == outcome::green && s->has_no_effect(s->read(changed));
                });
                return green && classes.differences(changed).empty();
            };
            for (const auto& round : rounds->all()) by_halves(round, silent, hold);
        }
    }
}

namespace {

/// The sizes of a model's text model, or of an additional model; null if there is none.
model_config* part_of(model& m, std::size_t part) {
    if (part == 0) return &m.config;
    return part <= max_components && m.components[part - 1].spec != nullptr ? &m.components[part - 1].config : nullptr;
}

/// Changes one size after the other of a part, and adds to what became of each.
void change_sizes(const subject& s, std::size_t part, std::map<std::string, fate>& fates) {
    const std::string prefix = part == 0 ? "" : "beside " + std::to_string(part) + " ";
    const auto hold = [&](std::size_t i) {
        model changed = s.built();
        one_change change{i};
        change.visit_fields(*part_of(changed, part));
        fate& f = fates[prefix + change.text()];
        outcome found = s.hold(changed);
        // one more may be no size, or share a half with this one
        if (found != outcome::red && change.integer() && change.original_value() != 0) {
            model twice = s.built();
            one_change{i, true}.visit_fields(*part_of(twice, part));
            const bool is_size = found != outcome::refused;
            found = s.hold(twice);
            if (!is_size) changed = twice;
        }
        f.red = found != outcome::green;
        if (!f.red && !is_claimed(change.text(), s.row().model_type))
            f.has_no_effect = f.has_no_effect && s.has_no_effect(changed);
    };
    const auto silent = [&](std::span<const std::size_t> changes) {
        for (const bool doubles : {false, true}) {
            model changed = s.built();
            for (const std::size_t i : changes) one_change{i, doubles}.visit_fields(*part_of(changed, part));
            if (s.hold(changed) != outcome::green || !s.has_no_effect(changed)) return false;
        }
        return true;
    };
    rounds_of_changes rounds;
    for (std::size_t i = 0;; ++i) {
        model changed = s.built();
        model_config* const config = part_of(changed, part);
        if (config == nullptr) return;
        one_change change{i};
        change.visit_fields(*config);
        if (change.text().empty()) break;
        if (!fates[prefix + change.text()].red) rounds.add(i, change.text());
    }
    for (const auto& round : rounds.all()) by_halves(round, silent, hold);
}

}  // namespace

TEST_CASE("every size is held by a golden") {
    for (const auto& [type, of_type] : by_type()) {
        std::map<std::string, fate> fates;
        for (const subject* s : of_type)
            for (std::size_t part = 0; part <= max_components; ++part) change_sizes(*s, part, fates);
        for (const auto& [change, f] : fates) {
            const std::string bare = change.substr(change.starts_with("beside ") ? change.find(' ', 7) + 1 : 0);
            judge_read(std::string(type) + " with " + change, f, is_claimed(bare, type));
        }
    }
}

TEST_CASE("every default that a row states reaches the sizes") {
    for (const model_spec* row : parts::registry) {
        const std::string type(row->model_type);
        if (!is_empty(row->text_model.key) || is_unmutated(type)) continue;  // its sizes are those of its text model
        if (row->draft != draft_kind::none) continue;  // has no class without a head: tests/golden/draft_heads.txt
        const std::string keys = required_keys(type);
        // a head that is stated is that of a configuration without `architectures`
        const std::string head = type == "trocr" ? "ForCausalLM" : "Model";
        const config_document named = parse_config(R"({"architectures": [")" + std::string(row->class_prefix) + head +
                                                       R"("])" + (keys.empty() ? "" : ", ") + keys + "}",
                                                   type);
        const config_document nameless = parse_config("{" + keys + "}", type);
        const auto read_from = [&](const config_document& document, const model_spec& spec) {
            return document.read_with(
                [&](config_view root) { return parse_sizes(spec, root, spec.supported_heads.bits == 0); });
        };
        for (std::size_t i = 0;; ++i) {
            model_spec changed = *row;
            model_config unstated;
            one_change change{i}, of_none{i};
            change.visit_fields(changed.defaults);
            of_none.visit_fields(unstated);
            if (change.text().empty()) break;
            if (change.original_value() == of_none.original_value()) continue;
            const bool is_head = change.text().starts_with("head=");
            if (is_head && type == "blenderbot") continue;  // its other defaults refuse this one
            const config_document& document = is_head ? nameless : named;
            const auto read = [&](const model_spec& spec) { return read_from(document, spec); };
            model_config as_stated;
            try {
                as_stated = read(*row);
            } catch (const std::exception& problem) {
                FAIL_CHECK(type << ": " << std::string(problem.what()));
                break;
            }
            model_spec doubled = *row;
            one_change{i, true}.visit_fields(doubled.defaults);
            fate f;
            try {
                f.red = read(changed) != as_stated || read(doubled) != as_stated;  // one more may be lost in rounding
            } catch (const std::exception&) {
                f.red = true;
            }
            bool claimed = false;
            for (const default_claim& c : default_claims)
                claimed = claimed || (covers(c.changes, change.text()) && contains_word(c.types, type));
            judge("default of " + type + ", " + change.text(), f, claimed);
        }
    }
}
