// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <llmcost/serving/eager_listener.hpp>
#include <llmcost/serving/ragged.hpp>
#include <llmcost/serving/training.hpp>

namespace llmcost {

/// Seconds of the operations of a walk, in its order, each a kernel by itself.
struct operator_times {
    std::vector<double> forward, backward;
    std::size_t kernels = 0;  ///< that the host issues, forwards
    double device_seconds = 0;
    double host_seconds = 0;  ///< of issuing them, which the device waits for where they are more
};

namespace detail {

/// An operation of a walk: what it is, and the kernel that it runs.
struct walked_operation {
    static constexpr std::ptrdiff_t none = -1;

    op kind{};
    extents sizes{};
    bool casts = false;
    std::ptrdiff_t kernel = none;
    double runs = 0;

    [[nodiscard]] bool is(const walked_operation& o) const noexcept {
        if (kind != o.kind || sizes.rank != o.sizes.rank) return false;
        for (int i = 0; i < sizes.rank; ++i)
            if (sizes.size[i] != o.sizes.size[i]) return false;
        return true;
    }
};

/// Writes down which kernel each operation is.
class operation_listener final : public listener {
public:
    explicit operation_listener(const execution& how) : eager_(emitted_, how) {}

    void enter(const recorder& r, const module_info& m) override { eager_.enter(r, m); }
    void leave(const recorder& r, const module_info& m) override { eager_.leave(r, m); }
    void renamed(const recorder& r, std::int32_t before, std::int32_t now) override { eager_.renamed(r, before, now); }
    void executed(const recorder& r, const operation& o) override {
        walked_operation w{o.kind};
        for (int i = 0; i < o.output.rank; ++i) w.sizes.size[w.sizes.rank++] = o.output.size[i];
        w.casts = o.kind == op::copy && o.inputs[0]->type != o.output.type;
        eager_.executed(r, o);
        if (!emitted_.empty()) {
            w.runs = static_cast<double>(std::exchange(emitted_.front().times, 1));
            w.kernel = place_of(std::move(emitted_.front()));
        }
        emitted_.clear();
        operations.push_back(w);
    }

    std::vector<model_kernel> kernels;  ///< each once, as one run
    std::vector<walked_operation> operations;

private:
    std::ptrdiff_t place_of(model_kernel k) {
        const auto same = std::find(kernels.begin(), kernels.end(), k);
        const std::ptrdiff_t at = same - kernels.begin();
        if (same == kernels.end()) kernels.push_back(std::move(k));
        return at;
    }

    std::vector<model_kernel> emitted_;
    eager_listener eager_;
};

/// For each operation of a walk in one element type its place in a walk in several, which has casts besides; a copy that a
/// cast made needless is the operation before it.
[[nodiscard]] inline std::vector<std::size_t> places_among(const std::vector<walked_operation>& plain,
                                                           const std::vector<walked_operation>& typed) {
    constexpr std::size_t far = 64;
    std::vector<std::size_t> places;
    std::size_t next = 0;
    for (const walked_operation& o : plain) {
        std::size_t at = next;
        while (at < typed.size() && at < next + far && !(typed[at].is(o) && !typed[at].casts)) ++at;
        bool only_casts = at < typed.size() && at < next + far;
        for (std::size_t i = next; only_casts && i < at; ++i) only_casts = typed[i].casts;
        if (only_casts) next = at + 1;
        places.push_back(next > 0 ? next - 1 : 0);
    }
    return places;
}

/// What goes back of a kernel, as `training_of` prices it.
[[nodiscard]] inline double backward_seconds(const device& on, const known_kernel& k, double forward, const execution& how,
                                             kernel_source& from) {
    const backward_rule rule = k.what.shape.family->backward;
    if (rule != backward_rule::products) return backward_factor(rule) * forward;
    double seconds = 0;
    for (const known_kernel& back : with_measurements(products_of_backward(k.what), how, from))
        seconds += cost_of(on, back).seconds;
    return seconds;
}

}  // namespace detail

/// The time of every operation of a forward pass on a device, and of what goes back of it; those of a graph of the same
/// workload are the same operations.
[[nodiscard]] inline operator_times operator_times_of(const model& m, workload load, const execution& how, const device& on,
                                                      kernel_source& from) {
    const auto walked = [&](const workload& by, detail::operation_listener& ear) {
        trace t{by, &ear};
        (void)m.forward(t);
    };
    workload typed_load = resolved(load, types_of(m, load));
    typed_load.typed = true;
    load.activations = dtype::float32;  // a step is timed with all tensors in one type
    detail::operation_listener typed(how), plain(how);
    walked(typed_load, typed), walked(load, plain);
    const std::vector<std::size_t> places = detail::places_among(plain.operations, typed.operations);
    const std::vector<known_kernel> known = with_measurements(plain.kernels, how, from);
    const std::vector<latency_estimate> each = estimates_of(on, known);
    std::vector<double> back;
    for (std::size_t k = 0; k < known.size(); ++k)
        back.push_back(load.training ? detail::backward_seconds(on, known[k], each[k].seconds, how, from) : 0);
    operator_times out;
    out.forward.resize(typed.operations.size()), out.backward.resize(typed.operations.size());
    for (std::size_t i = 0; i < plain.operations.size(); ++i) {
        const detail::walked_operation& o = plain.operations[i];
        if (o.kernel == detail::walked_operation::none) continue;
        const auto k = static_cast<std::size_t>(o.kernel);
        out.forward[places[i]] += o.runs * each[k].seconds;
        out.backward[places[i]] += o.runs * back[k];
        out.device_seconds += o.runs * each[k].seconds;
        out.kernels += static_cast<std::size_t>(o.runs);
    }
    out.host_seconds = static_cast<double>(out.kernels) * seconds_per_launch(how, on, from);
    return out;
}

}  // namespace llmcost
