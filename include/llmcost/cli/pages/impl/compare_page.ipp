// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/pages/compare_page.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/pages/model_table.hpp>
#include <llmcost/cli/pages/sweep_plot.hpp>
#include <llmcost/cli/request/workload_columns.hpp>
#include <llmcost/report/chart.hpp>
#include <llmcost/report/json_writer.hpp>

namespace llmcost::cli {

LLMCOST_INLINE std::string compared_figure::text(count value) const {
    return is_nanoseconds ? detail::duration(1e-9 * static_cast<double>(value))
           : bytes        ? in_bytes(value)
                          : scaled(value);
}

LLMCOST_INLINE std::optional<double> comparison::ratio(std::size_t model, std::size_t work, std::size_t figure) const {
    const auto first = at(0, work, figure), compared = at(model, work, figure);
    if (!first || !compared || *first == count{}) return std::nullopt;
    return static_cast<double>(*compared) / static_cast<double>(*first);
}

LLMCOST_INLINE bool comparison::has(std::size_t work, std::size_t figure) const {
    for (std::size_t m = 0; m < models.size(); ++m)
        if (at(m, work, figure).value_or(count{}) != count{}) return true;
    return false;
}

}  // namespace llmcost::cli

namespace llmcost::cli::detail {

LLMCOST_INLINE std::string ratio_text(std::optional<double> ratio, const char* format) {
    return ratio ? formatted(format, *ratio) : std::string();
}

LLMCOST_INLINE std::string letter_of(std::size_t model) { return std::string(1, static_cast<char>('A' + model % 26)); }

/// The text of one workload: scaled figures, differences B − A and ratios B / A.
LLMCOST_INLINE std::string compared_lines(const comparison& c, std::size_t work) {
    std::size_t names = 0;
    for (const compared_figure& f : c.figures) names = std::max(names, f.name.size());
    std::string line = std::string(names, ' ') + right("A", 11), out;
    for (std::size_t m = 1; m < c.models.size(); ++m)
        line += right(letter_of(m), 11) + right(letter_of(m) + " − A", 12) + right(letter_of(m) + " / A", 9);
    out = line + '\n';
    for (std::size_t f = 0; f < c.figures.size(); ++f) {
        if (!c.has(work, f)) continue;
        const auto format_count = [&](count n) { return c.figures[f].text(n); };
        line = left(c.figures[f].name, names);
        for (std::size_t m = 0; m < c.models.size(); ++m) {
            const auto value = c.at(m, work, f);
            line += right(value ? format_count(*value) : "—", 11);
            if (m == 0) continue;
            const std::string difference = difference_of(c, m, work, f, "−", format_count),
                              ratio = ratio_text(c.ratio(m, work, f), "%.4g");
            line += right(difference.empty() ? "—" : difference, 12) + right(ratio.empty() ? "—" : ratio, 9);
        }
        out += line + '\n';
    }
    return out;
}

/// From this number of models on, models are rows.
inline constexpr std::size_t min_model_rows = 4;

/// The figures of a table of models: those of the command line, or the most common ones.
LLMCOST_INLINE std::vector<std::size_t> row_figures(const comparison& c, std::size_t work, bool is_usual) {
    constexpr std::array<std::string_view, 7> common_figures{
        "params", "active", "flops", "weight_bytes", "cache_bytes_per_token", "memory_bytes", "device_nanoseconds"};
    std::vector<std::size_t> out;
    for (std::size_t f = 0; f < c.figures.size(); ++f) {
        const bool is_common =
            std::find(common_figures.begin(), common_figures.end(), c.figures[f].name) != common_figures.end();
        if (c.has(work, f) && (!is_usual || is_common)) out.push_back(f);
    }
    return out;
}

/// A table with one row per model; figures have units.
LLMCOST_INLINE table model_rows(const comparison& c, std::size_t work, bool is_usual) {
    table t{{{"model"}}, {}};
    const std::vector<std::size_t> figures = row_figures(c, work, is_usual);
    const bool has_equal_workloads = std::all_of(c.models.begin(), c.models.end(), [&](const compared_model& m) {
        return m.works[work].workload_label == c.models.front().works[work].workload_label;
    });
    if (!has_equal_workloads) t.columns.push_back({"workload"});
    for (const std::size_t f : figures) t.columns.push_back({c.figures[f].name, false, true});
    for (std::size_t m = 0; m < c.models.size(); ++m) {
        std::vector<std::string> row{c.models[m].name};
        if (!has_equal_workloads) row.push_back(c.models[m].works[work].workload_label);
        for (const std::size_t f : figures) {
            const auto value = c.at(m, work, f);
            row.push_back(value ? c.figures[f].text(*value) : "—");
        }
        t.rows.push_back(std::move(row));
    }
    return t;
}

/// Tables with one row per model, one for each workload.
LLMCOST_INLINE std::string compared_model_rows(const comparison& c, output_format format, bool is_usual) {
    std::string out;
    for (std::size_t w = 0; w < c.models.front().works.size(); ++w) {
        const compared_work& first = c.models.front().works[w];
        if (format == output_format::text || c.swept)
            out += (out.empty() ? "" : "\n") + std::string(format == output_format::latex ? "% " : "") +
                   (first.scope == "all" ? "" : first.scope + ", ") + first.workload_label +
                   (format == output_format::markdown ? "\n\n" : "\n");
        out += written(model_rows(c, w, is_usual), format);
    }
    return out;
}

LLMCOST_INLINE std::string compared_page(const comparison& c) {
    std::string out;
    for (std::size_t m = 0; m < c.models.size(); ++m) {
        const compared_model& model = c.models[m];
        const std::string& workload_label = model.works.front().workload_label;
        out += letter_of(m) + "  " + model.name + " · " + model.type +
               (!c.swept && workload_label != c.models.front().works.front().workload_label ? " · " + workload_label
                                                                                            : "") +
               '\n';
    }
    for (std::size_t w = 0; w < c.models.front().works.size(); ++w) {
        const compared_work& first = c.models.front().works[w];
        out += '\n' + (first.scope == "all" ? "" : first.scope + ", ") + first.workload_label + '\n' +
               compared_lines(c, w);
    }
    return out;
}

/// A table with exact digits; each model has its own columns.
LLMCOST_INLINE table compared_table(const comparison& c) {
    table t{{{"figure"}}, {}};
    if (c.swept)
        for (const workload_column* column : c.columns)
            t.columns.push_back({std::string(column->title), column->is_number()});
    for (std::size_t m = 0; m < c.models.size(); ++m) {
        t.columns.push_back({c.models[m].name, true});
        if (m == 0) continue;
        t.columns.push_back({"difference", true});
        t.columns.push_back({"ratio", true});
    }
    for (std::size_t w = 0; w < c.models.front().works.size(); ++w)
        for (std::size_t f = 0; f < c.figures.size(); ++f) {
            if (!c.has(w, f)) continue;
            std::vector<std::string> row{c.figures[f].name};
            if (c.swept)
                row.insert(row.end(), c.models.front().works[w].workload.begin(),
                           c.models.front().works[w].workload.end());
            for (std::size_t m = 0; m < c.models.size(); ++m) {
                row.push_back(c.at(m, w, f) ? digits(*c.at(m, w, f)) : "");
                if (m == 0) continue;
                row.push_back(difference_of(c, m, w, f, "-", digits));
                row.push_back(ratio_text(c.ratio(m, w, f), "%.6g"));
            }
            t.rows.push_back(std::move(row));
        }
    return t;
}

/// A table with one row per figure and model, for CSV.
LLMCOST_INLINE table compared_rows(const comparison& c) {
    table t{{{"figure"}, {"name"}, {"model_type"}, {"scope"}}, {}};
    for (const workload_column* column : c.columns)
        t.columns.push_back({std::string(column->title), column->is_number()});
    for (const char* name : {"value", "difference", "ratio"}) t.columns.push_back({name, true});
    for (std::size_t w = 0; w < c.models.front().works.size(); ++w)
        for (std::size_t f = 0; f < c.figures.size(); ++f)
            for (std::size_t m = 0; m < c.models.size(); ++m) {
                const compared_work& compared = c.models[m].works[w];
                std::vector<std::string> row{c.figures[f].name, c.models[m].name, c.models[m].type, compared.scope};
                row.insert(row.end(), compared.workload.begin(), compared.workload.end());
                row.push_back(c.at(m, w, f) ? digits(*c.at(m, w, f)) : "");
                row.push_back(difference_of(c, m, w, f, "-", digits));
                row.push_back(ratio_text(c.ratio(m, w, f), "%.9g"));
                t.rows.push_back(std::move(row));
            }
    return t;
}

LLMCOST_INLINE std::string compared_json(const comparison& c) {
    json_writer json;
    json.object().key("models").array();
    for (const compared_model& m : c.models)
        json.object().member("name", m.name).member("model_type", m.type).end_object();
    json.end_array().key("comparisons").array();
    for (std::size_t w = 0; w < c.models.front().works.size(); ++w) {
        json.object().member("scope", c.models.front().works[w].scope).key("workloads").array();
        for (const compared_model& m : c.models) {
            json.object();
            for (std::size_t k = 0; k < c.columns.size(); ++k) {
                const std::string& value = m.works[w].workload[k];
                json.key(c.columns[k]->title);
                c.columns[k]->is_number() ? json.value(std::stoll(value)) : json.value(value);
            }
            json.end_object();
        }
        json.end_array().key("figures").array();
        for (std::size_t f = 0; f < c.figures.size(); ++f) {
            json.object().member("name", c.figures[f].name).key("values").array();
            for (std::size_t m = 0; m < c.models.size(); ++m) {
                if (c.at(m, w, f))
                    json.value(*c.at(m, w, f));
                else
                    json.null();
            }
            json.end_array().key("ratios").array();
            for (std::size_t m = 0; m < c.models.size(); ++m) {
                if (const auto ratio = c.ratio(m, w, f))
                    json.value(*ratio);
                else
                    json.null();
            }
            json.end_array().end_object();
        }
        json.end_array().end_object();
    }
    json.end_array().end_object();
    return json.text() + "\n";
}

/// The figures as groups of bars with the length of the ratio to the first model.
///
/// `usual` selects the most common figures.
LLMCOST_INLINE std::vector<chart_group> compared_bars(const comparison& c, bool usual) {
    constexpr std::array<std::string_view, 8> common_figures{"params",      "active", "flops",       "weight_bytes",
                                                             "cache_bytes", "act",    "saved_bytes", "memory_bytes"};
    std::vector<chart_group> out;
    for (std::size_t f = 0; f < c.figures.size(); ++f) {
        if (usual && std::find(common_figures.begin(), common_figures.end(), c.figures[f].name) == common_figures.end())
            continue;
        chart_group group{c.figures[f].name, {}};
        for (std::size_t m = 0; m < c.models.size(); ++m) {
            const auto ratio = c.ratio(m, 0, f);
            if (!ratio) break;
            const count value = *c.at(m, 0, f);
            group.bars.push_back({c.models[m].name, *ratio, c.figures[f].text(value), m});
        }
        if (group.bars.size() == c.models.size()) out.push_back(std::move(group));
    }
    return out;
}

/// The groups of bars as terminal text.
LLMCOST_INLINE std::string bar_lines(const std::vector<chart_group>& groups) {
    double maximum = 1;
    std::size_t names = 0;
    for (const chart_group& g : groups)
        for (const chart_bar& b : g.bars) {
            maximum = std::max(maximum, b.value);
            names = std::max(names, width_of(b.name));
        }
    names = std::min<std::size_t>(names, 32);
    std::string out;
    for (const chart_group& g : groups) {
        out += g.name + '\n';
        for (const chart_bar& b : g.bars) {
            const auto eighths =
                static_cast<std::size_t>(b.value / maximum * static_cast<double>((64 - names) * 8) + 0.5);
            std::string bar;
            for (std::size_t i = 0; i < eighths / 8; ++i) bar += "█";
            constexpr std::array<std::string_view, 8> parts{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
            bar += eighths == 0 && b.value > 0 ? parts[1] : parts[eighths % 8];
            out += "  " + left(b.name.substr(0, names), names + 1) + bar + (bar.empty() ? "" : " ") + b.label + '\n';
        }
    }
    return out;
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE command_output written_comparison(const comparison& c, const arguments& args,
                                                 const workload_sweep& work) {
    command_output out;
    const auto format = static_cast<output_format>(args.choice(option::format));
    const bool is_table = format != output_format::json && format != output_format::csv;
    if (is_table && c.models.size() >= detail::min_model_rows)
        out.text = detail::compared_model_rows(c, format, args.positional().empty());
    else
        switch (format) {
            case output_format::text: out.text = detail::compared_page(c); break;
            case output_format::json: out.text = detail::compared_json(c); break;
            case output_format::csv: out.text = csv(detail::compared_rows(c)); break;
            case output_format::markdown:
            case output_format::latex: out.text = written(detail::compared_table(c), format); break;
        }
    if (!args.has(option::plot)) return out;
    const compared_work& first = c.models.front().works.front();
    if (c.swept) {
        std::vector<plotted_figure> figures;
        std::size_t drawn = 0;  // FLOPs, unless the command line names a metric
        while (args.positional().empty() && drawn + 1 < c.figures.size() && c.figures[drawn].name != "flops") ++drawn;
        for (const compared_model& m : c.models)
            for (std::size_t w = 0; w < m.works.size(); ++w) {
                if (!m.works[w].values[drawn]) continue;
                const plot_position place = place_in(work, w);
                figures.push_back({m.name + '\n' + c.figures[drawn].name +
                                       (first.scope == "all" ? "" : " of " + first.scope) + place.other_values,
                                   place.x, static_cast<double>(*m.works[w].values[drawn])});
            }
        add_plot(out, args, chart_of(work, figures, c.figures[drawn].name, c.figures[drawn].bytes));
        return out;
    }
    const std::vector<chart_group> bars = detail::compared_bars(c, args.positional().empty());
    const std::string title = (first.scope == "all" ? "" : first.scope + ", ") + first.workload_label;
    std::string description = "Ratios to the figures of " + c.models.front().name;
    for (const chart_group& g : bars)
        for (const chart_bar& b : g.bars) description += "; " + g.name + " of " + b.name + ": " + b.label;
    if (args.text(option::plot).empty())
        out.text += '\n' + detail::bar_lines(bars);
    else
        out.file = {std::string(args.text(option::plot)), bar_chart({title, description}, bars).document()};
    return out;
}

}  // namespace llmcost::cli
