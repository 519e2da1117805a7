// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <fstream>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <llmcost/latency/families.hpp>

namespace llmcost::cuda {

/// One operator to be measured.
struct sweep_point {
    const operator_family* family = nullptr;
    const operand_row* operand = nullptr;
    std::int64_t sizes[most_operator_sizes]{};
};

/// The operators of a calibration: products of weights as models have them by powers of two of rows and one row more, so
/// that the step of a tile shows; norms and maps from one row to memory's bandwidth. `full` has twice as many weights.
[[nodiscard]] inline std::vector<sweep_point> calibration_sweep(const std::vector<const operand_row*>& operands, bool full) {
    static constexpr std::int64_t weights[][2]{{4096, 4096},   {14336, 4096}, {1024, 1024},  {8192, 28672},  {2048, 8192},
                                               {128256, 4096}, {5120, 1536},  {1536, 7168},  {6144, 4096},   {28672, 8192},
                                               {4096, 14336},  {1280, 8192},  {16384, 2048}, {10240, 10240}, {57344, 8192}};
    const std::size_t sites = full ? std::size(weights) : std::size(weights) / 2;
    std::vector<sweep_point> all;
    const auto add = [&](literal family, const operand_row* operand, std::int64_t m, std::int64_t a, std::int64_t b) {
        all.push_back({find_family(family), operand, {m, a, b}});
    };
    for (const operand_row* operand : operands)
        for (std::size_t i = 0; i < sites; ++i)
            for (std::int64_t m = 1; m <= 16384; m *= 2) {
                add("gemm", operand, m, weights[i][0], weights[i][1]);
                if (m == 128 || m == 1024) add("gemm", operand, m + 1, weights[i][0], weights[i][1]);
            }
    for (const literal family : {literal("norm"), literal("elementwise")})
        for (const std::int64_t width : {1024, 4096, 16384})
            for (std::int64_t m = 1; m <= 65536; m *= 4) add(family, find_operand("bfloat16"), m, width, 0);
    return all;
}

/// A table of measurements that a run adds to, row by row, and a later run resumes: what it has is not measured again.
class measured_table {
public:
    /// Columns as `fit_kernels` reads them (docs/latency.md). Throws for a file that is no such table.
    measured_table(std::string path, const operator_family& family) : path_(std::move(path)), family_(family) {
        std::string header = "kernel_source," + std::string(family.operand_column);
        for (std::size_t i = 0; i < family.axes + family.sites; ++i) header += ',' + std::string(family.sizes[i].name);
        header += ",latency_us";
        std::ifstream before(path_, std::ios::binary);
        std::string line;
        bool whole = true;
        if (std::getline(before, line)) {
            if (line != header) throw std::runtime_error(path_ + ": expected the columns " + header);
            while (std::getline(before, line)) {
                whole = !before.eof();  // a run that was killed may have left half of a row
                if (whole) known_.insert(line.substr(0, line.rfind(',')));
            }
            before.close();
            if (!whole) rewrite(header);
        } else {
            std::ofstream(path_, std::ios::binary) << header << '\n';
        }
        out_.open(path_, std::ios::binary | std::ios::app);
        if (!out_) throw std::runtime_error(path_ + ": cannot be written");
    }

    [[nodiscard]] bool has(const sweep_point& p, const std::string& kernel) const { return known_.contains(key(p, kernel)); }
    [[nodiscard]] std::size_t size() const noexcept { return known_.size(); }
    /// Writes a row so that it is there whatever happens next.
    void add(const sweep_point& p, const std::string& kernel, double seconds) {
        const std::string row = key(p, kernel);
        out_ << row << ',' << 1e6 * seconds << '\n';
        if (!out_.flush()) throw std::runtime_error(path_ + ": cannot be written");
        known_.insert(row);
    }

private:
    [[nodiscard]] std::string key(const sweep_point& p, const std::string& kernel) const {
        std::string row = kernel + ',' + std::string(p.operand->name);
        for (std::size_t i = 0; i < family_.axes + family_.sites; ++i) row += ',' + std::to_string(p.sizes[i]);
        return row;
    }
    /// Drops the half row at the end.
    void rewrite(const std::string& header) const {
        std::ifstream in(path_, std::ios::binary);
        std::string text = header + '\n', line;
        std::getline(in, line);
        while (std::getline(in, line) && !in.eof()) text += line + '\n';
        in.close();
        std::ofstream(path_, std::ios::binary) << text;
    }

    std::string path_;
    const operator_family& family_;
    std::set<std::string> known_;
    std::ofstream out_;
};

}  // namespace llmcost::cuda
