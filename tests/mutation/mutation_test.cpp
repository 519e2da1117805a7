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
    bool changes_nothing = true;
};

/// Reports what is green and not claimed, and what is claimed and not green.
void judge(const std::string& what, const fate& f, bool claimed) {
    if (f.red)
        CHECK_MESSAGE(!claimed, what << ": turns a golden red; tests/mutation/claims.hpp says that none does");
    else if (!claimed)
        FAIL_CHECK(what << ": turns no golden red");
}
/// The same of a field that a walk need not read: where it changes nothing in any workload, no claim is needed.
void judge_read(const std::string& what, const fate& f, bool claimed) {
    if (!claimed && !f.red && f.changes_nothing) return;
    judge(what, f, claimed);
}

/// Whether a price as it is now turns red what executes it: a golden, a program of a few operations, or a layer.
///
/// `inputs`: what the price reads of an operation; where there are fewer, it cannot be tried.
template <class Subjects>
bool some_red(const Subjects& all, op kind, int inputs) {
    const auto at = static_cast<std::size_t>(kind);
    for (const auto& s : all) {
        const int least = s.census().least_inputs[at];
        if (s.census().executes[at] && (least == 0 || least >= inputs) && !s.holds_prices()) return true;
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
    int most_inputs = 0;  ///< where a gradient is asked for
    bool has_work = false;
    bool has_rows = false;
    bool wants[2]{};  ///< a gradient of its first, of its second input
    bool changes_size = false;
};
usage usage_of(op kind) {
    usage u;
    const auto at = static_cast<std::size_t>(kind);
    const auto add = [&](const operation_census& c) {
        u.most_inputs = std::max(u.most_inputs, c.most_inputs[at]);
        u.has_work = u.has_work || c.has_work[at];
        u.has_rows = u.has_rows || c.has_rows[at];
        for (std::size_t i = 0; i < 2; ++i) u.wants[i] = u.wants[i] || c.wants[i][at];
        u.changes_size = u.changes_size || c.changes_size[at];
    };
    for (const program_subject& s : program_subjects()) add(s.census());
    for (const layer_subject& s : layer_subjects()) add(s.census());
    for (const subject& s : subjects()) add(s.census());
    return u;
}
/// Whether two rules keep the same of whatever the operation is given.
bool same_rule(keeps a, keeps b, usage u) {
    if (u.most_inputs == 0) return true;  // nothing asks for its gradient
    const auto simplest = [u](keeps k) {
        if (u.most_inputs == 1 && (k == keeps::other_operand || k == keeps::dividend)) return keeps::nothing;
        return !u.has_rows && k == keeps::input_and_2_rows ? keeps::input : k;
    };
    return simplest(a) == simplest(b);
}

bool price_claimed(std::string_view operation, std::string_view change) {
    for (const price_claim& c : price_claims)
        if (stands_in(c.operations, operation) && covers(c.changes, change)) return true;
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
    std::size_t turn = 0, tried = 0;
    for (const subject& s : subjects()) {
        const model& m = s.built();
        CHECK_MESSAGE(compare(s.golden(), m).differences() == 0, s.golden().name);
        CHECK(s.hold(m) == outcome::green);
        CHECK(s.changes_nothing(m));
        for (std::size_t i = turn++ % 40; i < 80; i += 40) {  // a few changes in turn, held against the golden itself
            architecture row = s.row();
            one_change change{i};
            change.of(row);
            const outcome found = s.hold(row);
            if (found == outcome::refused) continue;
            ++tried;
            model m_changed = s.read(row);
            subject::lend_sizes(m_changed.dims);
            CHECK_MESSAGE(differs(s.golden(), m_changed) == (found == outcome::red),
                          s.golden().name << " with " << change.text());
        }
    }
    CHECK(tried > subjects().size());
}

/// Whether only recordings of sound execute it, which are not tried here: "every golden that shows images, videos or sound
/// is exact" holds its price.
bool is_heard_only(op kind) { return kind == op::glu || kind == op::weight_norm; }

TEST_CASE("every price is held by what torch executes") {
    for (const program_subject& s : program_subjects()) CHECK(s.holds_prices());
    for (const layer_subject& s : layer_subjects()) CHECK(s.holds_prices());
    for (op_price& p : prices) {
        const std::string name(p.name);
        const auto held = [&](const std::string& change, bool red) {
            judge(name + " " + change, {red, true}, price_claimed(p.name, change));
        };
        const usage used = usage_of(p.kind);
        if (is_heard_only(p.kind)) continue;
        if (!used.has_rows) CHECK_MESSAGE(p.per_row == primitives<std::int8_t>{}, name << " has no rows");
        if (!used.has_work) CHECK_MESSAGE(p.per_work == primitives<std::int8_t>{}, name << " has no work");
        for (std::size_t i = 0; i < llmcost::primitive_kinds; ++i) {
            const auto member = llmcost::primitive_members<std::int8_t>[i];
            const std::string figure = "=" + std::string(figure_names[i]);
            if (used.has_work) held("per_work" + figure, red_with_one_more(p.kind, p.per_work.*member));
            if (used.has_rows) held("per_row" + figure, red_with_one_more(p.kind, p.per_row.*member));
        }
        if (used.has_work) held("torch_flops", red_with_one_more(p.kind, p.torch_flops));
        for (std::size_t i = 0; i < testing::detail::enumerators<keeps>(); ++i) {
            const keeps before = p.kept, other = static_cast<keeps>(i);
            const int reads = other == keeps::operands || other == keeps::second_input ? 2 : 1;
            if (reads > used.most_inputs || same_rule(before, other, used)) continue;
            p.kept = other;
            const bool red = some_price_red(p.kind, reads);
            p.kept = before;
            held("kept=" + testing::detail::name_of_value(other), red);
        }
    }
}

TEST_CASE("every price of backward is held by what torch executes") {
    for (backward_price& p : backward_prices) {
        const std::string name(price_of(p.kind).name);
        if (is_heard_only(p.kind)) continue;
        const auto held = [&](const std::string& change, bool red) {
            judge(name + " backward " + change, {red, true}, price_claimed(name, "backward " + change));
        };
        const usage used = usage_of(p.kind);
        const auto hold_all = [&](const std::string& part, primitives<std::int8_t>& price, bool can_be) {
            if (!can_be && p.kind != op::acos)  // an arc cosine stands under YOSO's own backward alone
                CHECK_MESSAGE(price == primitives<std::int8_t>{}, name << " has no backward " << part);
            for (std::size_t i = 0; can_be && i < primitive_kinds; ++i)
                held(part + "=" + std::string(figure_names[i]),
                     red_with_one_more(p.kind, price.*primitive_members<std::int8_t>[i]));
        };
        hold_all("first", p.first, used.has_work && used.wants[0]);
        hold_all("second", p.second, used.has_work && used.wants[1]);
        hold_all("per_row", p.per_row, used.has_rows && used.wants[0]);
        if (used.wants[0]) held("mult_per_element", red_with_one_more(p.kind, p.mult_per_element));
        for (const arrives other : {arrives::as_input, arrives::as_output, arrives::summed}) {
            const arrives before = p.gradient;
            const bool same = !used.changes_size && before != arrives::summed && other != arrives::summed;
            if (other == before || same || !used.wants[0]) continue;
            p.gradient = other;
            const bool red = some_price_red(p.kind);
            p.gradient = before;
            held("gradient=" + testing::detail::name_of_value(other), red);
        }
    }
}

TEST_CASE("every field of a row is held by a golden") {
    for (const auto& [type, of_type] : by_type()) {
        const architecture& row = of_type.front()->row();
        const class_reader classes(type);
        const auto hold = [&, &type = type, &of_type = of_type](std::size_t i) {
            architecture changed = row;
            one_change change{i};
            change.of(changed);
            fate f;
            const bool names = is_name(change.text());
            for (std::size_t at = 0; at < of_type.size() && !f.red; ++at)
                f.red = of_type[at]->hold(changed, names) != outcome::green;
            f.red = f.red || !classes.differences(changed).empty();
            const bool claimed = is_claimed(change.text(), type);
            if (!f.red && !claimed)
                for (const subject* s : of_type)
                    f.changes_nothing = f.changes_nothing && s->changes_nothing(s->read(changed));
            judge_read(std::string(type) + " with " + change.text(), f, claimed);
        };
        rounds_of_changes names, others;
        for (std::size_t i = 0;; ++i) {
            architecture changed = row;
            one_change change{i};
            change.of(changed);
            if (change.text().empty()) break;
            (is_name(change.text()) ? names : others).add(i, change.text());
        }
        for (const rounds_of_changes* rounds : {&names, &others}) {
            const auto silent = [&, &of_type = of_type](std::span<const std::size_t> changes) {
                architecture changed = row;
                for (const std::size_t i : changes) one_change{i}.of(changed);
                const bool green = std::all_of(of_type.begin(), of_type.end(), [&](const subject* s) {
                    return s->hold(changed, rounds == &names) == outcome::green && s->changes_nothing(s->read(changed));
                });
                return green && classes.differences(changed).empty();
            };
            for (const auto& round : rounds->all()) by_halves(round, silent, hold);
        }
    }
}

namespace {

/// The sizes of a model's text model, or of one that it holds beside it; null where there is none.
sizes* part_of(model& m, std::size_t part) {
    if (part == 0) return &m.dims;
    return part <= most_components && m.beside[part - 1].kind != nullptr ? &m.beside[part - 1].dims : nullptr;
}

/// Changes one size after the other of a part, and adds to what became of each.
void change_sizes(const subject& s, std::size_t part, std::map<std::string, fate>& fates) {
    const std::string where = part == 0 ? "" : "beside " + std::to_string(part) + " ";
    const auto hold = [&](std::size_t i) {
        model changed = s.built();
        one_change change{i};
        change.of(*part_of(changed, part));
        fate& f = fates[where + change.text()];
        outcome found = s.hold(changed);
        // one more may be no size, or share a half with this one
        if (found != outcome::red && change.integer() && change.before() != 0) {
            model twice = s.built();
            one_change{i, true}.of(*part_of(twice, part));
            const bool is_size = found != outcome::refused;
            found = s.hold(twice);
            if (!is_size) changed = twice;
        }
        f.red = found != outcome::green;
        if (!f.red && !is_claimed(change.text(), s.row().model_type))
            f.changes_nothing = f.changes_nothing && s.changes_nothing(changed);
    };
    const auto silent = [&](std::span<const std::size_t> changes) {
        for (const bool doubles : {false, true}) {
            model changed = s.built();
            for (const std::size_t i : changes) one_change{i, doubles}.of(*part_of(changed, part));
            if (s.hold(changed) != outcome::green || !s.changes_nothing(changed)) return false;
        }
        return true;
    };
    rounds_of_changes rounds;
    for (std::size_t i = 0;; ++i) {
        model changed = s.built();
        sizes* const dims = part_of(changed, part);
        if (dims == nullptr) return;
        one_change change{i};
        change.of(*dims);
        if (change.text().empty()) break;
        if (!fates[where + change.text()].red) rounds.add(i, change.text());
    }
    for (const auto& round : rounds.all()) by_halves(round, silent, hold);
}

}  // namespace

TEST_CASE("every size is held by a golden") {
    for (const auto& [type, of_type] : by_type()) {
        std::map<std::string, fate> fates;
        for (const subject* s : of_type)
            for (std::size_t part = 0; part <= most_components; ++part) change_sizes(*s, part, fates);
        for (const auto& [change, f] : fates) {
            const std::string bare = change.substr(change.starts_with("beside ") ? change.find(' ', 7) + 1 : 0);
            judge_read(std::string(type) + " with " + change, f, is_claimed(bare, type));
        }
    }
}

TEST_CASE("every default that a row states reaches the sizes") {
    for (const architecture* row : parts::rows) {
        const std::string type(row->model_type);
        if (!is_empty(row->text.key) || is_unmutated(type)) continue;  // its sizes are those of its text model
        const std::string keys = required_keys(type);
        // a head that is stated is that of a configuration without `architectures`
        const std::string head = type == "trocr" ? "ForCausalLM" : "Model";
        const config_document named = parse_config(
            R"({"architectures": [")" + std::string(row->prefix) + head + R"("])" + (keys.empty() ? "" : ", ") + keys + "}",
            type);
        const config_document nameless = parse_config("{" + keys + "}", type);
        const auto read_from = [&](const config_document& given, const architecture& a) {
            return given.read_with([&](config_view root) { return read_sizes(a, root, a.heads.bits == 0); });
        };
        for (std::size_t i = 0;; ++i) {
            architecture changed = *row;
            sizes unstated;
            one_change change{i}, of_none{i};
            change.of(changed.defaults), of_none.of(unstated);
            if (change.text().empty()) break;
            if (change.before() == of_none.before()) continue;
            const bool is_head = change.text().starts_with("head=");
            if (is_head && type == "blenderbot") continue;  // its other defaults refuse this one
            const config_document& given = is_head ? nameless : named;
            const auto read = [&](const architecture& a) { return read_from(given, a); };
            sizes as_stated;
            try {
                as_stated = read(*row);
            } catch (const std::exception& problem) {
                FAIL_CHECK(type << ": " << std::string(problem.what()));
                break;
            }
            architecture doubled = *row;
            one_change{i, true}.of(doubled.defaults);
            fate f;
            try {
                f.red = read(changed) != as_stated || read(doubled) != as_stated;  // one more may be lost in rounding
            } catch (const std::exception&) {
                f.red = true;
            }
            bool claimed = false;
            for (const default_claim& c : default_claims)
                claimed = claimed || (covers(c.changes, change.text()) && stands_in(c.types, type));
            judge("default of " + type + ", " + change.text(), f, claimed);
        }
    }
}
