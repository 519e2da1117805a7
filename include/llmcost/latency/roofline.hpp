// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

namespace llmcost {

/// Which resource a prediction says binds.
enum class roofline_bound : std::uint8_t { launch, compute, memory };

/// How a kernel follows its device: t = launch + ((compute / ec)^p + (memory / em)^p)^(1/p).
///
/// Compute and memory are the times that the datasheet's peak and bandwidth would need. A smoothness of infinity would
/// be the corner of a drawn roofline; real kernels round it off, at 1 they overlap nothing.
struct roofline {
    double launch = 0;                ///< s: what an empty problem costs
    double compute_efficiency = 1;    ///< of the peak
    double bandwidth_efficiency = 1;  ///< of the datasheet's bandwidth; above 1 where a cache answers
    double smoothness = 2;            ///< p

    /// Seconds, from those that peak and bandwidth would need.
    [[nodiscard]] double operator()(double compute, double memory) const noexcept {
        const double c = compute / compute_efficiency, m = memory / bandwidth_efficiency;
        const double larger = c > m ? c : m, smaller = c > m ? m : c;
        if (larger == 0) return launch;
        const double ratio = smaller / larger;
        if (smoothness == 2)
            return launch + larger * std::sqrt(1 + ratio * ratio);  // what maps have, many times faster
        const double share = smaller == 0 ? 0 : std::pow(ratio, smoothness);
        if (share < 1e-6) return launch + larger * (1 + share / smoothness);  // the power's first terms, to 1 in 10^12
        return launch + larger * std::pow(1 + share, 1 / smoothness);
    }
    /// The largest of the three parts.
    [[nodiscard]] roofline_bound bound(double compute, double memory) const noexcept {
        const double c = compute / compute_efficiency, m = memory / bandwidth_efficiency;
        if (launch > c && launch > m) return roofline_bound::launch;
        return c > m ? roofline_bound::compute : roofline_bound::memory;
    }
    friend bool operator==(const roofline&, const roofline&) = default;
};

}  // namespace llmcost
