// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/request/request.hpp>
#include <llmcost/report/metrics.hpp>
#include <llmcost/trace/scope.hpp>

namespace llmcost::cli {

/// A line of the module tree: one module, or several equal modules of a list.
struct tree_line {
    std::string name;  ///< name in the parent module; `0-15` for several modules
    std::string path;  ///< path of the first module
    std::string type;
    role module_role = role::none;
    int depth = 0;
    std::int64_t times = 1;      ///< number of equal modules in their parent
    std::int64_t modules = 1;    ///< number of equal modules in the tree; a parent line may combine several modules
    std::vector<count> figures;  ///< figures of one module
};

namespace detail {

/// Builds the lines of a tree. Modules of a list with equal columns are one line.
class tree_builder {
public:
    tree_builder(const request& q, const scope_results& read, std::vector<const metric*> list);
    [[nodiscard]] std::vector<tree_line> build();

private:
    [[nodiscard]] std::string segment(std::size_t i) const;
    /// The part of a path from an offset; empty beyond its end.
    [[nodiscard]] static std::string number_at(const std::string& path, std::size_t position) {
        return position < path.size() ? path.substr(position, path.find('.', position) - position) : std::string();
    }
    [[nodiscard]] std::vector<count> figures_of(std::size_t i) const;
    /// A number that is equal for modules with equal class, columns and children.
    std::size_t kind_of(std::size_t i);
    void add(std::size_t i, std::string name, int depth, std::int64_t times, std::int64_t parents);

    const request& request_;
    const scope_results& results_;
    std::vector<const metric*> list_;
    std::vector<std::vector<std::size_t>> children_;
    std::vector<std::size_t> kinds_;
    std::unordered_map<std::string, std::size_t> key_ids_;
    std::vector<tree_line> lines_;
};

}  // namespace detail

/// The module tree. A line of several modules has their number and the figures of one of them.
///
/// CSV and JSON have the depth and the number of modules of each line. The sum of figures times `modules` over the
/// lines of one depth is the total.
[[nodiscard]] table tree_table(const request& q);

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/pages/impl/tree.ipp>  // IWYU pragma: export
#endif
