// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include <llmcost/latency/operator_types.hpp>

namespace llmcost::cuda {

/// The variant that distinguishes kernels of a family: the family's default where none is given, else as in the
/// operand.
[[nodiscard]] inline string_ref variant_of(const operator_shape& shape) {
    if (!shape.variant.empty() || shape.type->variant_column.empty()) return shape.variant;
    return shape.type->default_variant.empty() ? shape.operand->name : shape.type->default_variant;
}

/// A table of measurements that a run adds to, row by row, and a later run resumes: what it has is not measured again.
class measured_table {
public:
    /// Columns as `fit_kernels` reads them (docs/latency.md). Throws for a file that is no such table.
    measured_table(std::string path, const operator_type& family) : path_(std::move(path)), family_(family) {
        std::string header = "kernel_source," + std::string(family.operand_column);
        if (!family.variant_column.empty()) header += ',' + std::string(family.variant_column);
        for (std::size_t i = 0; i < family.size_count; ++i) header += ',' + std::string(family.sizes[i].name);
        header += ",latency_us";
        std::ifstream existing_file(path_, std::ios::binary);
        std::string line;
        std::uintmax_t valid_bytes = 0;
        bool is_complete = true;
        if (std::getline(existing_file, line)) {
            valid_bytes = line.size() + 1;
            if (line != header) throw std::runtime_error(path_ + ": expected the columns " + header);
            while (std::getline(existing_file, line)) {
                is_complete = !existing_file.eof();  // a run that was killed may have left half of a row
                if (is_complete) {
                    measured_rows_.insert(line.substr(0, line.rfind(',')));
                    valid_bytes += line.size() + 1;
                }
            }
            existing_file.close();
            if (!is_complete) std::filesystem::resize_file(path_, valid_bytes);
        } else {
            std::ofstream(path_, std::ios::binary) << header << '\n';
        }
        for (std::ifstream failed(failures()); std::getline(failed, line);) failed_rows_.insert(line);
        out_.open(path_, std::ios::binary | std::ios::app);
        if (!out_) throw std::runtime_error(path_ + ": cannot be written");
    }

    /// Whether it was measured, or given up.
    [[nodiscard]] bool has(const operator_shape& shape, string_ref kernel) const {
        const std::string row = key(shape, kernel);
        return measured_rows_.contains(row) || failed_rows_.contains(row);
    }
    [[nodiscard]] std::size_t size() const noexcept { return measured_rows_.size(); }
    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    /// Writes a row so that it is there whatever happens next. `seconds` are of all launches of the shape.
    void add(const operator_shape& shape, string_ref kernel, double seconds) {
        const std::string row = key(shape, kernel);
        out_ << row << ',' << 1e6 * seconds / static_cast<double>(shape.num_launches()) << '\n';
        if (!out_.flush()) throw std::runtime_error(path_ + ": cannot be written");
        measured_rows_.insert(row);
    }
    /// Records the shape and kernel that broke the device in a file next to the table, so that a later run skips it.
    void mark_failed(const operator_shape& shape, string_ref kernel) {
        const std::string row = key(shape, kernel);
        failed_rows_.insert(row);
        std::ofstream out(failures(), std::ios::binary | std::ios::app);
        if (!(out << row << '\n').flush()) throw std::runtime_error(failures() + ": cannot be written");
    }

private:
    [[nodiscard]] std::string key(const operator_shape& shape, string_ref kernel) const {
        std::string row = std::string(kernel) + ',' + std::string(shape.operand->name);
        if (!family_.variant_column.empty()) row += ',' + std::string(variant_of(shape));
        for (std::size_t i = 0; i < family_.size_count; ++i) row += ',' + std::to_string(shape.sizes[i]);
        return row;
    }
    [[nodiscard]] std::string failures() const { return path_ + ".failed"; }

    std::string path_;
    const operator_type& family_;
    std::set<std::string> measured_rows_, failed_rows_;
    std::ofstream out_;
};

}  // namespace llmcost::cuda
