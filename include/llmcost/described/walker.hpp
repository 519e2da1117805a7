// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/error.hpp>
#include <llmcost/described/function_table.hpp>
#include <llmcost/described/program.hpp>
#include <llmcost/described/read_steps.hpp>

// Walks a description through a trace.
namespace llmcost::described {

/// Names that a walk makes, kept for listeners that look at them later.
class kept_names {
public:
    [[nodiscard]] literal keep(std::string text) {
        const std::lock_guard<std::mutex> one{one_};
        return names_.insert(std::move(text)).first->c_str();
    }

private:
    std::mutex one_;
    std::set<std::string> names_;
};

/// How many calls a description may make in one walk.
inline constexpr std::int64_t most_calls = 200000;

/// One walk of a program.
class walker {
public:
    walker(const program& p, kept_names& names, trace& t) : p_(p), names_(names), t_(t) {
        const workload& load = t.load();
        const bool own = load.image_height == 0;
        const std::int64_t asked[]{load.batch, load.sequence, load.past, own ? p.image_height : load.image_height,
                                   own ? p.image_width : load.image_width};
        for (std::size_t i = 0; i < std::size(asked); ++i) asked_[i] = asked[i];
        if (p.bends)  // a form holds at this point alone
            for (const axis a : {axis::batch, axis::sequence, axis::past}) {
                const std::int64_t at = a == axis::batch ? load.batch : a == axis::sequence ? load.sequence : load.past;
                t.edge(a, at), t.edge(a, at + 1);
            }
    }

    [[nodiscard]] value run() {
        const block& whole = p_.blocks.front();
        frame& f = open(whole);
        for (std::size_t i = 0; i < p_.inputs.size(); ++i) {
            const extents sizes = sizes_of(p_.inputs[i], f);
            f.slots[whole.inputs[i].slot] = {p_.inputs[i].integers ? dense(sizes) : t_.input(sizes), nullptr};
        }
        const module_info m{.type = {"", p_.type}};
        t_.enter(m);
        for (const library_part& part : p_.parts) {  // what a model makes once, in front of all layers
            const model& of = part.whole;
            shared_.push_back(part.what == part_kind::attention || part.what == part_kind::layer
                                  ? of.kind->prepare({of, *of.kind, of.dims}, t_)
                                  : decoder_context{});
        }
        made last = run(whole.body, f, p_.inputs.empty() ? made{} : f.slots[whole.inputs.front().slot]);
        if (!whole.outputs.empty()) {
            last = f.slots[whole.outputs.front().slot];
            for (std::size_t i = 1; i < whole.outputs.size(); ++i) t_.gradient_arrives(f.slots[whole.outputs[i].slot].v);
        }
        close();
        return t_.leave(m, last.v);
    }

    /// The sizes of an input of the description.
    [[nodiscard]] extents input_sizes(const input& of) {
        const extents sizes = sizes_of(of, open(p_.blocks.front()));
        close();
        return sizes;
    }

private:
    /// A tensor and the step that made it.
    struct made {
        value v{};
        const step* from = nullptr;
    };
    struct frame {
        std::vector<std::int64_t> variables{};
        std::vector<made> slots{};
        std::vector<std::vector<made>> lists{};
        std::int64_t item = 0;  ///< the next number in the container
    };

    frame& open(const block& b) {
        if (depth_ == frames_.size()) frames_.push_back(std::make_unique<frame>());
        frame& f = *frames_[depth_++];
        f.variables.assign(b.variables, 0);
        f.slots.assign(b.slots, {});
        f.lists.assign(b.lists, {});
        f.item = 0;
        return f;
    }
    void close() noexcept { --depth_; }

    [[noreturn]] void fail(const std::string& pointer, std::string_view sentence) const {
        throw error(errc::bad_value, p_.file.empty() ? pointer : p_.file + ": " + pointer, std::string(sentence));
    }
    [[nodiscard]] std::int64_t number(const expression& e, const frame& f) const {
        return e.constant() ? e.number : p_.numbers.evaluate(e, {f.variables.data(), asked_});
    }

    [[nodiscard]] extents sizes_of(const input& of, const frame& f) const {
        extents sizes;
        for (const expression& e : of.shape) {
            const std::int64_t n = size_of(of, e, f);
            if (n < 1 || n > largest_input) fail(of.pointer, "expected sizes from 1 to 2^31 - 1");
            sizes.size[sizes.rank++] = n;
        }
        return sizes;
    }
    [[nodiscard]] std::int64_t size_of(const input& of, const expression& e, const frame& f) const {
        try {
            return number(e, f);
        } catch (const description_error& problem) {
            fail(of.pointer, problem.what());
        }
    }

    made run(const steps& all, frame& f, made x) {
        for (const step& s : all) x = run(s, f, x);
        return x;
    }
    made run(const step& s, frame& f, made x) {
        try {
            if (!s.repeated) return run_once(s, f, x, -1);
            const std::int64_t n = number(s.times, f);
            if (n < 0 || n > largest_input)
                fail(s.pointer + "/repeat", "expected a number from 0 to 2^31 - 1, found " + std::to_string(n));
            const std::int64_t first = s.numbered ? f.item : number(s.first, f);
            if (s.numbered) f.item += n;
            if (s.indexed) {
                for (std::int64_t i = 0; i < n; ++i) {
                    if (s.index_slot >= 0) f.variables[static_cast<std::size_t>(s.index_slot)] = i;
                    x = run_once(s, f, x, first + i);
                }
                return x;
            }
            for (repetition each = t_.repeat(n, x.v, first); each.next();) x = run_once(s, f, x, each.index());
            return x;
        } catch (const description_error& e) {
            fail(s.pointer, std::string(e.what()) + read_by_);
        }
    }
    made run_once(const step& s, frame& f, const made& x, std::int64_t index) {
        if (++calls_ > most_calls)
            fail(s.pointer, "a description makes at most 200000 calls; like layers are told by repeat");
        read_by_.clear();
        const bool unasked = s.what == role::head && t_.load().head == logits::none;
        const recorder::idle_guard idle{t_, s.idle || unasked};
        const recorder::called_again_guard again{t_, s.again};
        std::vector<made> in = gathered(s, f, x);
        std::vector<made> out;
        const bool module =
            s.kind == step_kind::module || (!s.inlined && (s.kind == step_kind::container || s.kind == step_kind::block));
        const module_info m = module ? place_of(s, f, index) : module_info{};
        if (module) t_.enter(m);
        switch (s.kind) {
            case step_kind::module:
            case step_kind::function: out = call(s, *s.row, f, in); break;
            case step_kind::container: {
                const std::int64_t before = f.item;
                f.item = s.inlined ? before : 0;
                out = {run(s.body, f, in.empty() ? made{} : in.front())};
                if (!s.inlined) f.item = before;
                break;
            }
            case step_kind::part:
                out = {{walk_part(p_.parts[s.block], shared_[s.block], place_of(s, f, index), t_,
                                  in.empty() ? value{} : in.front().v),
                        &s}};
                break;
            case step_kind::block: out = enter(s, f, in); break;
            case step_kind::residual: out = {residual(s, f, in.front())}; break;
            case step_kind::parallel: out = parallel(s, f, in.front()); break;
            case step_kind::choice: out = {run(number(s.condition, f) != 0 ? s.body : s.other, f, in.front())}; break;
            case step_kind::parameter: out = {{t_.param(s.name, shape_of(s, f)), &s}}; break;
            case step_kind::buffer: out = {{buffer(s, f), &s}}; break;
            case step_kind::refusal: fail(s.pointer, s.type);
        }
        if (module) {
            if (m.leaf)
                for (const made& o : out) t_.returned(o.v);
            t_.leave(m);
        }
        for (std::size_t i = 0; i < s.outputs.size() && i < out.size(); ++i) {
            const place& to = s.outputs[i];
            if (to.list)
                f.lists[to.slot].push_back(out[i]);
            else
                f.slots[to.slot] = out[i];
        }
        // what is made of nothing goes to those who name it
        const bool of_nothing =
            s.kind == step_kind::parameter || s.kind == step_kind::buffer || (s.row != nullptr && s.row->least_inputs == 0);
        return s.idle || unasked || of_nothing || out.empty() ? x : out.front();
    }

    [[nodiscard]] static std::vector<made> gathered(const step& s, frame& f, const made& x) {
        std::vector<made> in;
        for (const place& p : s.inputs)
            if (p.pop) {
                if (f.lists[p.slot].empty()) report_description("the list that it takes the last tensor of is empty");
                in.push_back(f.lists[p.slot].back());
                f.lists[p.slot].pop_back();
            } else if (p.list)
                in.insert(in.end(), f.lists[p.slot].begin(), f.lists[p.slot].end());
            else
                in.push_back(p.slot == place::previous ? x : f.slots[p.slot]);
        if (s.inputs.empty() && !(s.row != nullptr && s.row->most_inputs == 0)) in.push_back(x);
        return in;
    }
    [[nodiscard]] module_info place_of(const step& s, frame& f, std::int64_t index) {
        module_info m{s.name, index < 0 ? s.in_list : index, {"", s.type}, s.what, s.leaf};
        if (s.numbered && index < 0) m.index = f.item++;
        if (s.counted) m.index = number(s.first, f);
        if (!s.name_parts.empty()) {
            std::string name;
            for (const name_part& p : s.name_parts) name += p.text + std::to_string(number(p.number, f));
            m.name = names_.keep(name + s.name);
            m.index = -1;
        }
        return m;
    }
    [[nodiscard]] value buffer(const step& s, const frame& f) {
        value b = trace::buffer(shape_of(s, f));
        b.type = t_.activation_type();
        t_.owns_buffer(count(b.elements) * count(s.integers ? 8 : bits_of(b.type) / 8));
        return s.integers ? made_integers(shape_of(s, f)) : b;
    }
    [[nodiscard]] extents shape_of(const step& s, const frame& f) const {
        extents out;
        for (const expression& e : s.arguments[0].numbers) {
            const std::int64_t n = number(e, f);
            if (n < 0 || n > largest_input) report_description("expected sizes from 0 to 2^31 - 1");
            out.size[out.rank++] = n;
        }
        return out;
    }

    /// Calls a row with what a step gives it.
    std::vector<made> call(const step& s, const layer_row& row, const frame& f, const std::vector<made>& in) {
        arguments a;
        a.begin(row.arguments, row.results == 0 || s.outputs.size() > 1 ? static_cast<int>(s.outputs.size()) : 1);
        for (const passed& each : s.arguments) {
            a.open(each.argument);
            for (const expression& e : each.numbers) {
                const std::int64_t n = number(e, f);
                if (const literal expected = step_reader::expected_of(n, row.arguments[each.argument]); !is_empty(expected))
                    fail(s.pointer + "/" + row.arguments[each.argument].name,
                         std::string("expected ") + expected + ", found " + std::to_string(n));
                a.put(n);
            }
        }
        const std::size_t results = row.results == 0 ? s.outputs.size() : static_cast<std::size_t>(row.results);
        std::vector<value> read, out(results == 0 ? 1 : results);
        for (const made& m : in) read.push_back(m.v);
        if (static_cast<int>(read.size()) < row.least_inputs) report_description("expected more tensors to read");
        if (static_cast<int>(read.size()) > row.most_inputs) report_description("expected fewer tensors to read");
        read_by_.clear();
        try {
            row.describe(t_, a, {read.data(), static_cast<int>(read.size()), out.data()});
        } catch (const description_error&) {
            read_by_ = told(in);
            throw;
        }
        std::vector<made> results_of;
        for (const value& v : out) results_of.push_back({v, &s});
        return results_of;
    }
    /// `; it reads (2, 512) of /layers/3`
    [[nodiscard]] static std::string told(const std::vector<made>& in) {
        std::string out = "; it reads ";
        for (std::size_t i = 0; i < in.size() && i < 6; ++i) {
            out += i == 0 ? "(" : " and (";
            for (int d = 0; d < in[i].v.rank; ++d) out += (d == 0 ? "" : ", ") + std::to_string(in[i].v.size[d]);
            out += in[i].from == nullptr ? ") that the caller hands in" : ") of " + in[i].from->pointer;
        }
        return out;
    }
    std::vector<made> enter(const step& s, const frame& f, const std::vector<made>& in) {
        const block& b = p_.blocks[s.block];
        frame& inner = open(b);
        for (const passed& each : s.arguments) inner.variables[each.argument] = number(each.numbers.front(), f);
        auto given = s.arguments.begin();  // in the order of the block's; what is left out may read those
        for (std::size_t i = 0; i < b.arguments.size(); ++i)
            if (given != s.arguments.end() && given->argument == i)
                ++given;
            else
                inner.variables[i] = number(b.otherwise[i].front(), inner);
        if (in.size() != b.inputs.size()) report_description("the block reads another number of tensors");
        for (std::size_t i = 0; i < b.inputs.size(); ++i)
            if (b.inputs[i].list)
                inner.lists[b.inputs[i].slot].push_back(in[i]);
            else
                inner.slots[b.inputs[i].slot] = in[i];
        const made last = run(b.body, inner, in.empty() ? made{} : in.front());
        std::vector<made> out;
        for (const place& p : b.outputs) out.push_back(inner.slots[p.slot]);
        if (out.empty()) out.push_back(last);
        close();
        return out;
    }
    made residual(const step& s, frame& f, const made& x) {
        const made through = run(s.body, f, x), around = run(s.other, f, x);
        made sum{through.v, &s};
        read_by_.clear();
        if (!llmcost::detail::same_sizes(through.v, around.v)) read_by_ = told({through, around});
        if (!llmcost::detail::same_sizes(through.v, around.v)) report_description("residual: sizes do not meet");
        if (s.in_place)
            t_.in_place(op::add, sum.v, around.v);
        else
            sum.v = t_.add(through.v, around.v);
        return sum;
    }
    std::vector<made> parallel(const step& s, frame& f, const made& x) {
        std::vector<made> out;
        for (const steps& branch : s.branches) out.push_back(run(branch, f, x));
        if (s.row == nullptr) return out;
        if (s.row->most_inputs > 2) return call(s, *s.row, f, out);
        made joined = out.front();
        for (std::size_t i = 1; i < out.size(); ++i) joined = call(s, *s.row, f, {joined, out[i]}).front();
        return {joined};
    }

    const program& p_;
    kept_names& names_;
    trace& t_;
    std::int64_t asked_[std::size(workload_names)]{};
    std::vector<std::unique_ptr<frame>> frames_{};
    std::vector<decoder_context> shared_{};
    std::size_t depth_ = 0;
    std::int64_t calls_ = 0;
    std::string read_by_{};
};

}  // namespace llmcost::described
