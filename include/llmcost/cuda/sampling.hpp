// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace llmcost::cuda {

/// When a measurement has been repeated often enough.
struct sampling_rule {
    std::size_t minimum = 5;        ///< samples that count
    std::size_t maximum = 400;      ///< samples at all
    double spread = 0.005;          ///< relative standard error of the median that is small enough
    double seconds = 0.05;          ///< of measuring, after which the least suffices
    double longest = 0.5;           ///< seconds, after which whatever counts suffices
    double min_clock_share = 0.75;  ///< of the fastest clock seen: what ran slower was throttled and does not count
};

/// Samples of one measurement, until they agree.
class sampler {
public:
    explicit sampler(const sampling_rule& rule) : rule_(rule) {}

    /// One sample: its time, and the clock of the units at its end in MHz (0: unknown).
    void add(double seconds, double clock) {
        elapsed_seconds_ += seconds;
        samples_.push_back({seconds, clock});
        if (clock > fastest_) fastest_ = clock;
    }
    /// Whether more samples would not improve the result, or take too long.
    [[nodiscard]] bool done() const {
        if (samples_.size() >= rule_.maximum || elapsed_seconds_ >= rule_.longest)
            return true;  // the fastest clock's sample counts
        const std::vector<double> counted = times();
        if (counted.size() < rule_.minimum) return false;
        return spread() <= rule_.spread || elapsed_seconds_ >= rule_.seconds;
    }
    /// Samples that were not throttled.
    [[nodiscard]] std::size_t counted() const { return times().size(); }
    [[nodiscard]] std::size_t dropped() const { return samples_.size() - counted(); }
    [[nodiscard]] double median() const { return median_of(times()); }
    /// Relative standard error of the median, from the median absolute deviation: 1.2533 · 1.4826 · MAD / √n / median.
    [[nodiscard]] double spread() const {
        std::vector<double> values = times();
        const double middle = median_of(values);
        if (values.empty() || middle == 0) return INFINITY;
        for (double& v : values) v = std::fabs(v - middle);
        return 1.2533 * 1.4826 * median_of(values) / std::sqrt(static_cast<double>(values.size())) / middle;
    }

private:
    struct sample {
        double seconds = 0;
        double clock = 0;
    };
    [[nodiscard]] std::vector<double> times() const {
        std::vector<double> counted;
        for (const sample& s : samples_)
            if (s.clock == 0 || s.clock >= rule_.min_clock_share * fastest_) counted.push_back(s.seconds);
        return counted;
    }
    static double median_of(std::vector<double> values) {
        if (values.empty()) return 0;
        std::sort(values.begin(), values.end());
        const std::size_t half = values.size() / 2;
        return values.size() % 2 != 0 ? values[half] : (values[half - 1] + values[half]) / 2;
    }

    sampling_rule rule_;
    std::vector<sample> samples_;
    double elapsed_seconds_ = 0, fastest_ = 0;
};

/// Samples a timer until its rule is met. `timer()` gives seconds and the clock in MHz: `{seconds, clock}`.
template <class Timer>
[[nodiscard]] sampler sampled(Timer timer, const sampling_rule& rule = {}) {
    sampler s(rule);
    while (!s.done()) {
        const auto [seconds, clock] = timer();
        s.add(seconds, clock);
    }
    return s;
}

}  // namespace llmcost::cuda
