// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <fstream>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include <llmcost/latency/families.hpp>

namespace llmcost::cuda {

/// The word that tells kernels of a family apart: where nobody says one the family's own, else as the operand.
[[nodiscard]] inline string_ref variant_of(const operator_shape& shape) {
    if (!shape.variant.empty() || shape.family->variant_column.empty()) return shape.variant;
    return shape.family->otherwise_variant.empty() ? shape.operand->name : shape.family->otherwise_variant;
}

/// A table of measurements that a run adds to, row by row, and a later run resumes: what it has is not measured again.
class measured_table {
public:
    /// Columns as `fit_kernels` reads them (docs/latency.md). Throws for a file that is no such table.
    measured_table(std::string path, const operator_family& family) : path_(std::move(path)), family_(family) {
        std::string header = "kernel_source," + std::string(family.operand_column);
        if (!family.variant_column.empty()) header += ',' + std::string(family.variant_column);
        for (std::size_t i = 0; i < family.size_count; ++i) header += ',' + std::string(family.sizes[i].name);
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

    [[nodiscard]] bool has(const operator_shape& shape, string_ref kernel) const {
        return known_.contains(key(shape, kernel));
    }
    [[nodiscard]] std::size_t size() const noexcept { return known_.size(); }
    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    /// Writes a row so that it is there whatever happens next.
    void add(const operator_shape& shape, string_ref kernel, double seconds) {
        const std::string row = key(shape, kernel);
        out_ << row << ',' << 1e6 * seconds << '\n';
        if (!out_.flush()) throw std::runtime_error(path_ + ": cannot be written");
        known_.insert(row);
    }

private:
    [[nodiscard]] std::string key(const operator_shape& shape, string_ref kernel) const {
        std::string row = std::string(kernel) + ',' + std::string(shape.operand->name);
        if (!family_.variant_column.empty()) row += ',' + std::string(variant_of(shape));
        for (std::size_t i = 0; i < family_.size_count; ++i) row += ',' + std::to_string(shape.sizes[i]);
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
