// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fit_tables.hpp"
#include "gpu.hpp"

#include <llmcost/cuda/sweep.hpp>

#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

// A sweep of the GPU at hand: its tables, its budget, and what is fitted to them.
namespace llmcost::bench {

/// A table for each family that the sweep has, in a folder, by the device's name and CUDA's version.
inline std::map<const operator_type*, cuda::measured_table> tables_of(const std::vector<cuda::sweep_point>& sweep,
                                                                      const std::filesystem::path& folder,
                                                                      const std::string& device,
                                                                      const std::string& version) {
    std::map<const operator_type*, cuda::measured_table> tables;
    std::filesystem::create_directories(folder);
    for (const cuda::sweep_point& p : sweep) {
        if (tables.contains(p.shape.type)) continue;
        const std::string family(p.shape.type->name);
        const std::string path =
            (folder / (device + "__" + family + "__cuda__" + version + "__" + family + "_perf.csv")).string();
        tables.try_emplace(p.shape.type, path, *p.shape.type);
    }
    return tables;
}

inline void print(const cuda::sweep_report& r, double budget) {
    std::printf("\nmeasured %zu, known %zu\n", r.measured, r.known);
    for (const auto& [reason, n] : r.refused) std::printf("left out %zu: %s\n", n, reason.c_str());
    if (r.left_out != 0)
        std::printf("left out %zu: %.0f s are used; the same call goes on with them\n", r.left_out, budget);
}

/// Measures a sweep of operators into FOLDER/measured/*.csv within its time budget, and fits FOLDER/calibrations to
/// all measurements. Throws `device_lost` after the fit where the device failed.
inline void calibrate(const device& target, const std::filesystem::path& folder, bool full) {
    const cuda::gpu_properties gpu = gpu_at_hand();
    const std::string version = cuda_version(), name(target.names[0]);
    std::printf("%s as %s: %d multiprocessors, %.0f MB of cache, CUDA %s\n", gpu.name.c_str(), name.c_str(),
                gpu.multiprocessors, gpu.cache_bytes / 1048576, version.c_str());
    std::vector<const operand_type*> operands{find_operand_type("bfloat16"), find_operand_type("float16")};
    if (gpu.major * 10 + gpu.minor >= 89) operands.push_back(find_operand_type("fp8"));
    const std::vector<cuda::sweep_point> sweep = cuda::calibration_sweep({&target, operands, full, number_of_gpus()});
    std::map<const operator_type*, cuda::measured_table> tables = tables_of(sweep, folder / "measured", name, version);
    const auto start = std::chrono::steady_clock::now();
    const auto spent = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
    operator_runner run;
    std::size_t num_measured = 0;
    const auto measure = [&](const cuda::sweep_point& p) -> std::string {
        ++num_measured;
        cuda::measured_table& table = tables.at(p.shape.type);
        outcome o;
        try {
            o = run(p.shape, p.kernel, cuda::copies_of(p.shape, predicted_seconds(target, p.shape, nullptr, {})));
        } catch (const device_lost&) {
            table.mark_failed(p.shape, p.kernel);
            throw;
        }
        if (!o.refused.empty()) return std::string(p.shape.type->name) + ' ' + std::string(p.kernel) + ": " + o.refused;
        table.add(p.shape, p.kernel, o.seconds * static_cast<double>(p.shape.num_launches()));
        std::printf("\r[%zu/%zu] %.0f s, %s %s %s %lld %lld %lld: %.2f us, spread %.1f %%        ", num_measured,
                    sweep.size(), spent(), std::string(p.shape.type->name).c_str(), std::string(p.kernel).c_str(),
                    std::string(p.shape.operand->name).c_str(), static_cast<long long>(p.shape.sizes[0]),
                    static_cast<long long>(p.shape.sizes[1]), static_cast<long long>(p.shape.sizes[2]), 1e6 * o.seconds,
                    100 * o.spread);
        std::fflush(stdout);
        return {};
    };
    const double budget = cuda::sweep_seconds(full);
    const auto known = [&](const cuda::sweep_point& p) { return tables.at(p.shape.type).has(p.shape, p.kernel); };
    std::exception_ptr lost;  // what was measured before is fitted all the same
    try {
        print(cuda::measure_sweep(sweep, budget, spent, known, measure), budget);
    } catch (const device_lost&) {
        lost = std::current_exception();
    }
    std::vector<std::string> paths;
    for (const auto& [family, table] : tables)
        if (table.size() != 0) paths.push_back(table.path());
    if (paths.empty() && !lost) throw std::runtime_error("nothing could be measured");
    std::printf("fitting\n");
    fit_tables(folder / "calibrations", folder / "accuracy.md", "measured on " + gpu.name, "own", paths, &target);
    if (lost) std::rethrow_exception(lost);
}

}  // namespace llmcost::bench
