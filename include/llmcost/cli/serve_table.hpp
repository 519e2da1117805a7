// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <istream>
#include <iterator>
#include <map>
#include <memory>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <llmcost/cli/csv_input.hpp>
#include <llmcost/cli/placement.hpp>
#include <llmcost/serving/server.hpp>

namespace llmcost::cli {

/// A measured or planned run of a server, as a row says it.
struct serving_run {
    server* on = nullptr;
    const engine* by = nullptr;
    const device* where = nullptr;
    kernel_source* kernels = nullptr;
    const llmcost::model* subject = nullptr;
    serving_load load{};
    std::int64_t devices = 1;
    std::string model;
};

/// Why a server answers not even one request of a load, as it does not fit a device beside the weights; empty: it does.
inline std::string no_room(server& on, const serving_load& load, const device& where) {
    if (load.input > largest_input - load.output)
        refuse("serve", "input and output are more than 2147483647 tokens together");
    if (on.capacity(load.input + load.output, load.pipeline) > 0) return {};
    const double weights = on.weights() / 1e9 / static_cast<double>(load.pipeline);
    const double cache = on.cache_bytes(load.input + load.output) / 1e9 / static_cast<double>(load.pipeline);
    return "the model does not fit: " +
           formatted("%.1f GB of weights and %.3g GB of a request's cache on each device of %.0f GB", weights, cache,
                     where.memory_gigabytes) +
           " (more devices: tp, pp; narrower types)";
}

/// Runs of servers, row by row: CSV whose header names columns as `serving.csv` does (docs/cli.md).
class serve_table {
public:
    /// `folder` has `org__name.json` for each model_path; `network` is in GB/s of each device between nodes, 0 where it is
    /// not said.
    serve_table(std::string folder, std::string calibration, const known_models& known, double network = 0)
        : folder_(std::move(folder)), calibration_(std::move(calibration)), known_(known), network_(network) {}

    /// The rows with `predicted_ttft_ms`, `predicted_tpot_ms` and `error` behind them (`answer_rows`); that a model does not
    /// fit its devices is an answer, which `error` and a note say.
    [[nodiscard]] answered priced(std::istream& in, std::ostream& notes) {
        (void)read_header(in);
        kernel_shelf(*find_family("gemm"), calibrations_at(calibration_)).read_ahead();
        answered all = answer_rows(rows_, in, "predicted_ttft_ms,predicted_tpot_ms", notes,
                                   [&](std::string& out) { of_row([&] { put_predictions(out, read_row(), notes); }); });
        for (const auto& [of, kernels] : kernels_) {
            for (const std::string& note : kernels->notes()) notes << "llmcost: backend: " << note << '\n';
            if (kernels->found_nothing() && calibration_ != "none")
                notes << "llmcost: system: nothing was measured on " << printable(kernels->on("system").names[0])
                      << ": estimated from its datasheet (see --calibration)\n";
        }
        return all;
    }

    /// Reads the first line.
    std::string read_header(std::istream& in) {
        rows_.begin(in);
        for (std::size_t i = 0; i < rows_.fields().size(); ++i)
            if (const std::string& name = rows_.fields()[i]; !places_.emplace(name, i).second && is_read(name))
                refuse("line 1", "the column " + in_quotes(name) + " stands twice");
        for (const std::string_view name : {"model_path", "system", "isl", "osl", "batch_size"})
            if (!places_.contains(name)) refuse("line 1", "expected a column " + in_quotes(name));
        return rows_.line();
    }
    /// Reads the next row that is not empty; false at the end.
    bool next(std::istream& in) { return rows_.next(in); }
    /// A field of the current row; empty where there is none.
    [[nodiscard]] std::string word(std::string_view name) const {
        const auto at = places_.find(name);
        return at == places_.end() || at->second >= rows_.fields().size() ? std::string{} : rows_.fields()[at->second];
    }
    /// What the current row asks for.
    [[nodiscard]] serving_run current() {
        try {
            rows_.check();
            return of_row([&] { return read_row(); });
        } catch (const error& e) {
            refuse(rows_.where(), e.what());
        }
    }

private:
    /// Whether a column of this name says what a row asks for.
    static bool is_read(std::string_view name) {
        constexpr std::string_view names[]{"model_path",
                                           "system",
                                           "isl",
                                           "osl",
                                           "batch_size",
                                           "backend",
                                           "gemm_quant_mode",
                                           "moe_quant_mode",
                                           "tp_size",
                                           "pp_size",
                                           "attention_dp_size",
                                           "moe_tp_size",
                                           "moe_ep_size",
                                           "batch_wait_timeout_iters"};
        return std::find(std::begin(names), std::end(names), name) != std::end(names);
    }
    void put_predictions(std::string& out, const serving_run& run, std::ostream& notes) {
        if (const std::string problem = no_room(*run.on, run.load, *run.where); !problem.empty()) {
            notes << "llmcost: " << rows_.where() << ": " << printable(run.where->names[0]) << ' ' << problem << '\n';
            out += ",,,";
            detail::put_csv(out, printable(run.where->names[0]) + ' ' + problem);
            return;
        }
        const serving_figures f = (*run.on)(run.load);
        const std::int64_t tokens = run.load.input + run.load.output;
        const model& subject = models_.at(run.model).subject;
        if (beyond_context(subject, tokens) && longer_.insert(run.model).second)
            note_on_context(notes, rows_.where() + ": " + printable(run.model), subject, tokens);
        out += formatted(",%.5g,%.5g,", 1e3 * f.ttft, 1e3 * f.tpot);
    }
    /// What is made of the current row; too many positions are those of its columns.
    template <class Make>
    static auto of_row(const Make& make) -> decltype(make()) {
        try {
            return make();
        } catch (const workload_error& e) {
            refuse({}, "isl and osl need " + std::to_string(e.asked()) + " positions and the model has " +
                           std::to_string(e.held()));
        }
    }
    [[nodiscard]] std::int64_t number(std::string_view name, std::int64_t otherwise) const {
        const std::string text = word(name);
        return text.empty() ? otherwise : read_number(name, llmcost::detail::whole_digits(text), otherwise == 0 ? 0 : 1);
    }
    struct known_model {
        config_document file;
        model subject;
        stored_types stored;
    };
    const known_model& model_of_row(const std::string& path) {
        if (const auto known = models_.find(path); known != models_.end()) return known->second;
        // a NUL would end the name of the file, and what is said of it
        if (path.find('\0') != std::string::npos) refuse("model_path", "expected org/name, found " + in_quotes(path));
        std::string name = path;
        for (std::size_t slash = name.find('/'); slash != std::string::npos; slash = name.find('/', slash))
            name.replace(slash, 1, "__");
        config_document file = read_regular_file((std::filesystem::path(folder_) / (name + ".json")).string());
        const model subject = file.read_with([&](config_view root) { return known_.read(root); });
        const stored_types stored = detail::stored_types_of(file, subject, "gemm_quant_mode");
        return models_.emplace(path, known_model{std::move(file), subject, stored}).first->second;
    }
    /// The operand of a row, or what the checkpoint is stored as where the row leaves it open, calls blocks of fp8 plain
    /// fp8, or asks for 4 bits that the device cannot multiply.
    static const operand_row* operand(std::string_view column, const std::string& said, const operand_row* stored,
                                      const device& on) {
        const auto is_stored = [&](literal name) { return stored == find_operand(name); };
        const bool by_checkpoint = said.empty() || (said == "fp8" && is_stored("fp8_block")) ||
                                   (said == "nvfp4" && is_stored("w4a16_mxfp4") && on.fp4 == 0);
        return !by_checkpoint ? &operand_of(column, said) : stored != nullptr ? stored : usual_operand(on);
    }
    serving_run read_row() {
        const known_model& m = model_of_row(word("model_path"));
        serving_run run;
        run.by = &detail::engine_of("backend", word("backend").empty() ? "vllm" : word("backend"));
        const std::string system = word("system");
        auto& kernels = kernels_[{system, std::string(run.by->name)}];
        if (!kernels) kernels = std::make_unique<kernel_library>(system, std::string(run.by->software), "", calibration_);
        run.where = &networked(kernels->on("system", device_word::name));
        run.kernels = kernels.get(), run.subject = &m.subject;
        check_engine("backend", *run.by, *run.where);
        check_memory(*run.where);
        const bool experts_alone = m.stored.products != m.stored.experts;  // are narrow in this checkpoint
        const stored_types types{operand("gemm_quant_mode", experts_alone ? std::string{} : word("gemm_quant_mode"),
                                         m.stored.products, *run.where),
                                 operand("moe_quant_mode", word("moe_quant_mode"), m.stored.experts, *run.where)};
        kernels->types_said_by(experts_alone ? "" : "gemm_quant_mode", "moe_quant_mode");
        sharding s;
        s.tensor = number("tp_size", 1), s.data = number("attention_dp_size", 1);
        s.expert = number("moe_ep_size", 1), s.expert_tensor = number("moe_tp_size", 1);
        if (m.subject.dims.moe.num_experts <= 1) s.expert = s.expert_tensor = 1;
        const std::int64_t of_experts = s.expert * s.expert_tensor;
        if (word("attention_dp_size").empty() && of_experts % s.tensor == 0 && m.subject.dims.moe.num_experts > 1)
            s.data = of_experts / s.tensor;
        if (word("moe_tp_size").empty() && m.subject.dims.moe.num_experts > 1 && s.devices() % s.expert == 0)
            s.expert_tensor = s.devices() / s.expert;
        check_sharding(m.subject, s);
        const execution how = execution_of(*run.by, *run.where, types, s);
        check_network("--network", s, how.node, *run.where);
        run.model = word("model_path");
        run.devices = s.devices();
        run.load.input = number("isl", 1), run.load.output = number("osl", 1);
        // requests of one group, where the row says how many groups attend to their own
        run.load.concurrency =
            static_cast<double>(number("batch_size", 1)) * static_cast<double>(number("attention_dp_size", 1));
        run.load.pipeline = number("pp_size", 1), run.load.batch_wait = number("batch_wait_timeout_iters", 0);
        check_stages("pp_size", m.subject, run.load.pipeline);
        auto& on = servers_[{run.model, system, std::string(run.by->name), types.products, types.experts,
                             std::array{s.tensor, s.data, s.expert, s.expert_tensor}}];
        if (!on) {
            check_writes(m.subject);
            on = std::make_unique<server>(m.subject, how, *run.by, *run.where, *kernels);
        }
        run.on = on.get();
        return run;
    }

    /// A device with what joins its nodes, where that is said.
    const device& networked(const device& on) {
        if (network_ == 0) return on;
        device& own = devices_.try_emplace(std::string(on.names[0]), on).first->second;
        own.network_bandwidth = network_;
        return own;
    }

    using server_key = std::tuple<std::string, std::string, std::string, const operand_row*, const operand_row*,
                                  std::array<std::int64_t, 4>>;
    std::string folder_, calibration_;
    known_models known_;
    double network_ = 0;
    std::map<std::string, device> devices_;
    csv_input rows_;
    std::map<std::string, std::size_t, std::less<>> places_;
    std::map<std::string, known_model> models_;
    std::set<std::string> longer_;  ///< models that were told to be asked beyond their context
    std::map<std::pair<std::string, std::string>, std::unique_ptr<kernel_library>> kernels_;
    std::map<server_key, std::unique_ptr<server>> servers_;
};

}  // namespace llmcost::cli
