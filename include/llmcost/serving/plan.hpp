// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <llmcost/serving/planned.hpp>
#include <llmcost/serving/ragged.hpp>

namespace llmcost {

/// Costs by their workload: a few thousand are remembered, as sweeps ask for the same ones over and over.
class cost_memory {
public:
    /// What is remembered of a workload, or what `price()` says.
    template <class Price>
    [[nodiscard]] step_cost operator()(walked_at w, Price price) {
        if (memory_.empty()) {
            if (++calls_ < few_calls) return price();
            memory_.resize(std::size_t{1} << bits);
        }
        entry& known = memory_[place(w)];
        if (known.at.batch != w.batch || known.at.sequence != w.sequence || known.at.past != w.past) known = {w, price()};
        return known.cost;
    }

private:
    static constexpr int bits = 12;
    static constexpr int few_calls = 64;  ///< that are not worth remembering
    struct entry {
        walked_at at{};
        step_cost cost{};
    };
    static std::size_t place(walked_at w) noexcept {
        std::uint64_t h = 0;
        for (const std::int64_t n : {w.batch, w.sequence, w.past})
            h = (h ^ static_cast<std::uint64_t>(n)) * 0x9e3779b97f4a7c15U, h ^= h >> 29;
        return (h * 0xbf58476d1ce4e5b9U) >> (64 - bits);
    }
    std::vector<entry> memory_;
    int calls_ = 0;
};

/// Steps that run the same kernels, with sizes as polynomials of the workload.
struct step_region {
    walked_at from;  ///< beyond the edges of tensors
    walked_at far;   ///< where what was solved is held against a walk
    unsigned few;    ///< monomials (bits) of most models' sizes
    unsigned more;   ///< and of all models': positions, masks
};
/// One new token each; prompts; prompts behind what is cached of them: of one sequence, which needs no copies to lie in one
/// piece, and of several.
inline constexpr step_region step_regions[3][2]{
    {{{1, 1, 8}, {1, 1, 131}, 0x001, 0x011}, {{2, 1, 8}, {7, 1, 131}, 0x003, 0x033}},
    {{{1, 8, 0}, {1, 131, 0}, 0x005, 0x045}, {{2, 8, 0}, {7, 131, 0}, 0x00f, 0x0cf}},
    {{{1, 8, 8}, {1, 131, 129}, 0x015, 0x555}, {{2, 8, 8}, {7, 131, 129}, 0x03f, 0xfff}},
};

/// The kernels of a step of one model on one device as functions of the workload.
///
/// Sizes are solved from walks and held against another one, region by region as they are asked for. Where they do not agree
/// (a delta rule pads to whole chunks) every workload is walked by itself: right, but a hundred times slower. One thread at
/// a time.
class step_plan {
public:
    step_plan(const model& whole, const execution& how, const device& on, kernel_source& from)
        : whole_(whole), how_(how), on_(&on), from_(&from), per_launch_(seconds_per_launch(how, on, from)) {}

    /// Whether a workload needs no walk.
    [[nodiscard]] bool holds(std::int64_t batch, std::int64_t sequence, std::int64_t past) {
        return region_of({batch, sequence, past}) != nullptr;
    }
    /// All kernels of `batch` sequences with `sequence` new tokens each behind `past` others, one after the other.
    [[nodiscard]] step_cost operator()(std::int64_t batch, std::int64_t sequence, std::int64_t past) {
        return known_({batch, sequence, past}, [&] { return priced(batch, sequence, past).issued_in(per_launch_); });
    }
    /// Groups of sequences in one step: what goes through all rows does so once, and each group attends by itself.
    ///
    /// Of groups in no region kernels are walked and joined (`join_step`).
    [[nodiscard]] step_cost together(const std::vector<walked_at>& groups) {
        if (groups.size() == 1) return (*this)(groups[0].batch, groups[0].sequence, groups[0].past);
        planned_region* leading = nullptr;
        std::int64_t most = 0;
        walked_at all{};
        for (const walked_at& w : groups) {
            planned_region* const own = region_of({w.batch > 1 ? w.batch : 2, w.sequence, w.past});
            if (own == nullptr || region_of(w) == nullptr) return walked_together(groups);
            if (w.sequence > most) leading = own, most = w.sequence;
            all.batch += w.batch, all.sequence += w.batch * w.sequence, all.past += w.past > 0 ? w.batch * w.past : 0;
        }
        step_cost sum = leading->beside_others(all, [&] {
            monomial_values values(groups[0].batch, groups[0].sequence, groups[0].past);
            for (std::size_t i = 1; i < groups.size(); ++i)
                values += monomial_values(groups[i].batch, groups[i].sequence, groups[i].past);
            step_cost rows;
            for (planned_kernel& k : leading->kernels)
                if (k.of_rows()) rows += cost_of(*on_, k.at(values));
            return rows;
        });
        for (const walked_at& w : groups) {
            const monomial_values values(w.batch, w.sequence, w.past);
            for (planned_kernel& k : region_of(w)->kernels)
                if (!k.of_rows()) sum += cost_of(*on_, k.at(values));
        }
        return sum.issued_in(per_launch_);
    }
    [[nodiscard]] double seconds(std::int64_t batch, std::int64_t sequence, std::int64_t past) {
        return (*this)(batch, sequence, past).seconds;
    }

private:
    struct planned_region {
        bool holds = false;
        std::vector<planned_kernel> kernels{};
        cost_memory beside_past{};              ///< of those that do not read the cache
        cost_memory beside_others{};            ///< of those that go through the rows of several groups
        std::optional<bool> holds_for_few{};    ///< for fewer new tokens, which a convolution or a window may tell apart
        std::optional<bool> holds_for_short{};  ///< and for a shorter past
    };
    using walked_kernels = std::vector<model_kernel>;

    /// The region that a workload lies in; null where it must be walked.
    [[nodiscard]] planned_region* region_of(walked_at w) {
        if (w.sequence == 1 && w.past == 0) return nullptr;
        const std::size_t kind = w.sequence == 1 ? 0 : w.past == 0 ? 1 : 2, several = w.batch == 1 ? 0 : 1;
        const step_region& region = step_regions[kind][several];
        std::optional<planned_region>& known = regions_[kind][several];
        if (!known) known = planned(region);
        if (!known->holds) return nullptr;
        if (w.sequence < region.from.sequence) {
            if (!known->holds_for_few) known->holds_for_few = agrees(*known, {region.from.batch, 2, region.from.past});
            if (!*known->holds_for_few) return nullptr;
        }
        if (w.past < region.from.past) {
            if (!known->holds_for_short)
                known->holds_for_short = agrees(*known, {region.from.batch, region.from.sequence, 1});
            if (!*known->holds_for_short) return nullptr;
        }
        return &*known;
    }
    [[nodiscard]] step_cost priced(std::int64_t batch, std::int64_t sequence, std::int64_t past) {
        planned_region* const region = region_of({batch, sequence, past});
        step_cost sum;
        if (region == nullptr) {
            for (const known_kernel& k : with_measurements(walked({batch, sequence, past}), how_, *from_))
                sum += cost_of(*on_, k);
            return sum;
        }
        const monomial_values values(batch, sequence, past);
        const auto of_those = [&](bool read_past) {
            step_cost part;
            for (planned_kernel& k : region->kernels)
                if (k.reads_past() == read_past) part += cost_of(*on_, k.at(values));
            return part;
        };
        sum = region->beside_past({batch, sequence, 0}, [&] { return of_those(false); });
        return sum += of_those(true);
    }
    [[nodiscard]] step_cost walked_together(const std::vector<walked_at>& groups) {
        walked_kernels all;
        for (const walked_at& w : groups) join_step(all, walked(w), how_.beside_prompts);
        step_cost sum;
        for (const known_kernel& k : with_measurements(std::move(all), how_, *from_)) sum += cost_of(*on_, k);
        return sum.issued_in(per_launch_);
    }
    [[nodiscard]] walked_kernels walked(walked_at w) const {
        return kernels_of(whole_, {.batch = w.batch, .sequence = w.sequence, .past = w.past, .head = logits::last}, how_);
    }

    [[nodiscard]] planned_region planned(const step_region& region) const {
        planned_region result;
        if (region.from.sequence > 1 && pads_to_chunks()) return result;
        try {
            const walked_kernels far = walked(region.far);
            std::vector<walked_kernels> walks(monomial_count);
            for (const unsigned basis : {region.few, region.more}) {
                for (std::size_t i = 0; i < monomial_count; ++i)
                    if (size_polynomial::in(basis, i) && walks[i].empty())
                        walks[i] = walked(region.from.beside(monomials[i]));
                result.kernels = solved(region, basis, walks, far);
                result.holds = result.kernels.size() == far.size();
                if (result.holds) break;
            }
            // what is picked of many tokens bends beyond what was solved
            for (std::int64_t times = 4; result.holds && times <= 256; times *= 4) {
                walked_at w = region.far;
                (region.from.past > 0 ? w.past : w.sequence) *= times;
                result.holds = agrees(result, w);
            }
        } catch (const workload_error&) {  // fewer positions than the walks ask for
        }
        return result;
    }
    /// The kernels that agree with the walk that is far from those they were solved from; fewer than there are where not all
    /// do.
    [[nodiscard]] std::vector<planned_kernel> solved(const step_region& region, unsigned basis,
                                                     const std::vector<walked_kernels>& walks,
                                                     const walked_kernels& far) const {
        std::vector<planned_kernel> kernels;
        for (std::size_t i = 0; i < monomial_count; ++i)
            if (size_polynomial::in(basis, i) && walks[i].size() != far.size()) return kernels;
        const monomial_values there(region.far.batch, region.far.sequence, region.far.past);
        for (std::size_t i = 0; i < far.size(); ++i) {
            const operator_family& family = *walks[0][i].shape.family;
            size_polynomial sizes[most_operator_sizes];
            for (std::size_t k = 0; k < family.size_count; ++k)
                if (region.from.past != 0 && family.sizes[k].past)
                    sizes[k].twice[past_alone] = 2;
                else
                    sizes[k] = size_polynomial::through(region.from, basis,
                                                        [&](std::size_t at) { return walks[at][i].shape.sizes[k]; });
            planned_kernel p(with_measurements({walks[0][i]}, how_, *from_).front(), sizes);
            const model_kernel& here = p.at(there).what;
            if (!(here == far[i]) || here.times != far[i].times) return kernels;
            p.work_out_curves(*on_);
            kernels.push_back(std::move(p));
        }
        return kernels;
    }
    static constexpr std::size_t past_alone = 4;
    static_assert(monomials[past_alone].past == 1 && monomials[past_alone].batch == 0);

    /// Whether a region's kernels are those of a walk, in any order.
    [[nodiscard]] bool agrees(planned_region& region, walked_at w) const {
        walked_kernels walk = walked(w);
        const monomial_values values(w.batch, w.sequence, w.past);
        if (walk.size() != region.kernels.size()) return false;
        return std::all_of(region.kernels.begin(), region.kernels.end(), [&](planned_kernel& planned) {
            const model_kernel& here = planned.at(values).what;
            return std::any_of(walk.begin(), walk.end(),
                               [&](const model_kernel& k) { return k == here && k.times == here.times; });
        });
    }
    [[nodiscard]] bool pads_to_chunks() const {
        region_edges edges;
        trace t{workload{.sequence = 2, .past = 0, .head = logits::last}};
        t.tell_edges(&edges);
        whole_.describe(t);
        return edges.chunk != 0;
    }

    model whole_;
    execution how_;
    const device* on_;
    kernel_source* from_;
    double per_launch_;
    std::optional<planned_region> regions_[3][2];
    cost_memory known_;
};

}  // namespace llmcost
