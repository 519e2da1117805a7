// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <llmcost/serving/step.hpp>

namespace llmcost {

/// A size of a kernel as batch B and new tokens S per sequence make it: each + of_batch·B + of_sequence·S + of_tokens·B·S.
struct planned_size {
    std::int64_t fixed = 0;
    std::int64_t of_batch = 0;
    std::int64_t of_sequence = 0;
    std::int64_t of_tokens = 0;

    friend constexpr bool operator==(const planned_size&, const planned_size&) = default;
    [[nodiscard]] constexpr std::int64_t at(std::int64_t batch, std::int64_t sequence) const {
        const auto real = [](std::int64_t n) { return static_cast<double>(n); };
        if (!(real(of_tokens) * real(batch) * real(sequence) + real(of_batch) * real(batch) < 9e18)) report_overflow();
        return fixed + of_batch * batch + of_sequence * sequence + of_tokens * batch * sequence;
    }
};

/// The kernels of a step of one model on one device, with sizes as functions of the workload: one new token per sequence
/// behind a cache (`decodes`), or several.
///
/// Sizes are solved from walks and held against another one. Where they do not agree (a delta rule pads to whole chunks)
/// `holds` is false and every workload is walked by itself: right, but thousands of times slower. One thread at a time.
class step_plan {
public:
    step_plan(const model& whole, const execution& how, bool decodes, const device& on, kernel_source& from)
        : whole_(whole),
          how_(how),
          on_(&on),
          from_(&from),
          per_launch_(seconds_per_launch(how, on, from)),
          decodes_(decodes) {
        try {
            holds_ = solve();
        } catch (const workload_error&) {
            holds_ = false;  // fewer positions than the walks ask for
        }
    }

    [[nodiscard]] bool holds() const noexcept { return holds_; }

    /// All kernels of `batch` sequences with `sequence` new tokens each behind `past` others, one after the other.
    ///
    /// A few thousand workloads are remembered: sweeps ask for the same ones over and over.
    [[nodiscard]] step_cost operator()(std::int64_t batch, std::int64_t sequence, std::int64_t past) {
        if (memory_.empty()) {
            if (++calls_ < few_calls) return priced(batch, sequence, past);
            memory_.resize(std::size_t{1} << remembered::bits);
        }
        remembered& known = memory_[remembered::place(batch, sequence, past)];
        if (known.batch == batch && known.sequence == sequence && known.past == past) return known.cost;
        known = {batch, sequence, past, priced(batch, sequence, past)};
        return known.cost;
    }
    [[nodiscard]] double seconds(std::int64_t batch, std::int64_t sequence, std::int64_t past) {
        return (*this)(batch, sequence, past).seconds;
    }

private:
    static constexpr int few_calls = 64;  ///< that are not worth remembering
    struct remembered {
        static constexpr int bits = 12;
        std::int64_t batch = 0, sequence = 0, past = 0;
        step_cost cost{};

        static std::size_t place(std::int64_t batch, std::int64_t sequence, std::int64_t past) noexcept {
            std::uint64_t h = 0;
            for (const std::int64_t n : {batch, sequence, past})
                h = (h ^ static_cast<std::uint64_t>(n)) * 0x9e3779b97f4a7c15U, h ^= h >> 29;
            return (h * 0xbf58476d1ce4e5b9U) >> (64 - bits);
        }
    };
    [[nodiscard]] step_cost priced(std::int64_t batch, std::int64_t sequence, std::int64_t past) {
        step_cost sum;
        if (holds_ && (decodes_ || past == 0)) {
            for (planned& p : kernels_) sum += cost_of(*on_, p.at(batch, sequence, past));
            return sum.issued_in(per_launch_);
        }
        for (const known_kernel& k : with_measurements(walked(batch, sequence, past), how_, *from_)) sum += cost_of(*on_, k);
        return sum.issued_in(per_launch_);
    }

    struct planned {
        known_kernel kernel;
        planned_size sizes[most_operator_sizes]{};
        std::size_t past_size = most_operator_sizes;

        const known_kernel& at(std::int64_t batch, std::int64_t sequence, std::int64_t past) {
            const operator_shape& shape = kernel.what.shape;
            std::int64_t* const into = kernel.what.shape.sizes;
            for (std::size_t k = 0; k < shape.family->size_count; ++k) into[k] = sizes[k].at(batch, sequence);
            if (past_size < most_operator_sizes) into[past_size] = past;
            return kernel;
        }
        /// Whether all sizes but those along axes are the same for every workload.
        [[nodiscard]] bool stays_beside_axes() const noexcept {
            const operator_family& family = *kernel.what.shape.family;
            bool stays = past_size >= family.size_count || past_size < family.axes;
            for (std::size_t k = family.axes; k < family.size_count; ++k)
                stays = stays && (k == past_size || sizes[k] == planned_size{.fixed = sizes[k].fixed});
            return stays;
        }
        void work_out_curves(const device& on) {
            known_kernel& k = kernel;
            if (k.known != nullptr) k.curve = {on, k.what.shape, *k.known, k.where};
            if (k.other_known != nullptr) k.other_curve = {on, k.other_shape(), *k.other_known, k.other_where};
        }
    };

    [[nodiscard]] std::vector<model_kernel> walked(std::int64_t batch, std::int64_t sequence, std::int64_t past) const {
        return kernels_of(whole_, {.batch = batch, .sequence = sequence, .past = past, .head = logits::last}, how_);
    }
    /// Solves the sizes from two batches and two lengths; whether another batch, length and past agree.
    bool solve() {
        constexpr std::int64_t batch = 2, sequence = 8, far = 131;  // beyond edges of tensors and kernels of one
        const std::int64_t s = decodes_ ? 1 : sequence, past = decodes_ ? sequence : 0;
        if (!decodes_ && pads_to_chunks()) return false;
        const std::vector<model_kernel> a = walked(batch, s, past), b = walked(batch + 1, s, past);
        const std::vector<model_kernel> c = decodes_ ? a : walked(batch, s + 1, past);
        const std::vector<model_kernel> d = decodes_ ? b : walked(batch + 1, s + 1, past);
        const std::vector<model_kernel> check = decodes_ ? walked(batch + 5, s, far) : walked(batch + 5, far, past);
        for (const std::vector<model_kernel>* other : {&b, &c, &d, &check})
            if (other->size() != a.size()) return false;
        for (std::size_t i = 0; i < a.size(); ++i) {
            planned p;
            for (std::size_t k = 0; k < most_operator_sizes; ++k)
                p.sizes[k] = solved(a[i].shape.sizes[k], b[i].shape.sizes[k], c[i].shape.sizes[k], d[i].shape.sizes[k],
                                    batch, sequence);
            p.past_size = size_of_past(*a[i].shape.family);
            p.kernel = with_measurements({a[i]}, how_, *from_).front();
            const model_kernel& there = p.at(batch + 5, decodes_ ? 1 : far, decodes_ ? far : 0).what;
            if (!(there == check[i]) || there.times != check[i].times) return false;
            if (p.stays_beside_axes()) p.work_out_curves(*on_);
            kernels_.push_back(std::move(p));
        }
        return true;
    }
    [[nodiscard]] bool pads_to_chunks() const {
        region_edges edges;
        trace t{workload{.sequence = 2, .past = 0, .head = logits::last}};
        t.tell_edges(&edges);
        whole_.describe(t);
        return edges.chunk != 0;
    }
    /// The size that says how many tokens stand before; beyond all sizes where none does.
    static std::size_t size_of_past(const operator_family& family) noexcept {
        for (std::size_t i = 0; i < family.size_count; ++i)
            if (family.sizes[i].past) return i;
        return most_operator_sizes;
    }
    /// From the values at (B, S), (B + 1, S), (B, S + 1), (B + 1, S + 1); with one token each B alone counts.
    [[nodiscard]] planned_size solved(std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d, std::int64_t batch,
                                      std::int64_t sequence) const noexcept {
        planned_size s;
        if (decodes_) {
            s.of_batch = b - a;
            s.fixed = a - s.of_batch * batch;
            return s;
        }
        s.of_tokens = (d - b) - (c - a);
        s.of_sequence = c - a - s.of_tokens * batch;
        s.of_batch = b - a - s.of_tokens * sequence;
        s.fixed = a - s.of_batch * batch - s.of_sequence * sequence - s.of_tokens * batch * sequence;
        return s;
    }

    model whole_;
    execution how_;
    const device* on_;
    kernel_source* from_;
    std::vector<planned> kernels_;
    std::vector<remembered> memory_;
    int calls_ = 0;
    double per_launch_;
    bool decodes_, holds_ = false;
};

}  // namespace llmcost
