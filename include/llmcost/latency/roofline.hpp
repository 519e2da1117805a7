// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

namespace llmcost {

/// The resource that bounds a prediction.
enum class roofline_bound : std::uint8_t { launch, compute, memory };

/// A roofline with overlap: `t = launch + ((compute / ec)^p + (memory / em)^p)^(1/p)`.
///
/// compute, memory: seconds at the peak and bandwidth of the datasheet. ec, em: efficiencies. p: smoothness.
/// p = infinity is the corner of the classical roofline. At p = 1, nothing overlaps.
struct roofline {
    double launch = 0;                ///< s, time of an empty problem
    double compute_efficiency = 1;    ///< fraction of the peak
    double bandwidth_efficiency = 1;  ///< fraction of the datasheet's bandwidth; above 1 with a cache
    double smoothness = 2;            ///< p

    /// Seconds for the given seconds at peak and bandwidth.
    [[nodiscard]] double operator()(double compute, double memory) const noexcept {
        const double c = compute / compute_efficiency, m = memory / bandwidth_efficiency;
        const double larger = c > m ? c : m, smaller = c > m ? m : c;
        if (larger == 0) return launch;
        const double ratio = smaller / larger;
        if (smoothness == 2)
            return launch + larger * std::sqrt(1 + ratio * ratio);  // the most frequent case, many times faster
        const double share = smaller == 0 ? 0 : std::pow(ratio, smoothness);
        if (share < 1e-6)
            return launch + larger * (1 + share / smoothness);  // first terms of the power series, to 1 in 10^12
        return launch + larger * std::pow(1 + share, 1 / smoothness);
    }
    /// The largest of the three terms.
    [[nodiscard]] roofline_bound bound(double compute, double memory) const noexcept {
        const double c = compute / compute_efficiency, m = memory / bandwidth_efficiency;
        if (launch > c && launch > m) return roofline_bound::launch;
        return c > m ? roofline_bound::compute : roofline_bound::memory;
    }
    friend bool operator==(const roofline&, const roofline&) = default;
};

}  // namespace llmcost
