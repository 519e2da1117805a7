// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/serve_table.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <istream>
#include <iterator>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include <llmcost/base/config_view.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/maybe.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/bundled/bundled_config.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/csv_input.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/synonyms.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/commands/run_layout.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/cli/request/request.hpp>
#include <llmcost/config/model_registry.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/files/user_files.hpp>
#include <llmcost/json.hpp>
#include <llmcost/kernels/engine_calibration_file.hpp>
#include <llmcost/kernels/evidence.hpp>
#include <llmcost/kernels/kernel_database.hpp>
#include <llmcost/kernels/kernel_library.hpp>
#include <llmcost/kernels/kernel_names.hpp>
#include <llmcost/latency/operand_types.hpp>
#include <llmcost/latency/operator_types.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/memory/inference.hpp>
#include <llmcost/memory/parallel_config.hpp>
#include <llmcost/memory/rank_memory.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/serving/default_execution.hpp>
#include <llmcost/serving/engine_calibration.hpp>
#include <llmcost/serving/engines.hpp>
#include <llmcost/serving/memory.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/serving/server.hpp>
#include <llmcost/text/csv_fields.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::cli {

namespace detail {

/// Whether the KV cache of one request fits with a memory management instead of the server's.
[[nodiscard]] LLMCOST_INLINE bool fits_one_request(server& server, const serving_load& load,
                                                   const engine_memory_profile& profile) {
    const maybe<kv_cache_capacity> capacity =
        server.kv_cache(load.input_tokens + load.output_tokens, load.pipeline_parallel_size, profile);
    return !capacity || capacity->max_concurrency >= 1;
}

/// Restores the memory management of a server at the end of a row, also after an exception.
struct profile_of_row {
    server& target;
    engine_memory_profile profile;

    ~profile_of_row() { target.set_memory_profile(profile); }
};

}  // namespace detail

LLMCOST_INLINE std::string out_of_memory_message(server& server, const serving_load& load,
                                                 const device& target_device) {
    if (load.input_tokens > max_input - load.output_tokens)
        throw_usage("serve", "input and output tokens exceed 2147483647 in total");
    if (detail::fits_one_request(server, load, server.memory_profile())) return {};
    const double weights = server.weight_bytes_per_device() / 1e9 / static_cast<double>(load.pipeline_parallel_size);
    const double cache = server.kv_cache_bytes(load.input_tokens + load.output_tokens) / 1e9 /
                         static_cast<double>(load.pipeline_parallel_size);
    const bool fits_larger_share =
        detail::fits_one_request(server, load, with_memory_share(server.memory_profile(), largest_memory_share));
    return "out of memory: " +
           formatted("weights %.1f GB and KV cache of one request %.3g GB per device, capacity %.0f GB", weights, cache,
                     target_device.memory_bytes() / 1e9) +
           "; increase --tp or --pp, or use a smaller --dtype" +
           (fits_larger_share ? formatted(" or --memory-share %g", largest_memory_share) : std::string{});
}

LLMCOST_INLINE command_output serve_table::write_predictions(std::istream& in, std::ostream& notes) {
    (void)read_header(in);
    kernel_database(*find_operator_type("gemm"), calibration_paths(calibration_)).preload();
    command_output all = answer_rows(rows_, in, "predicted_ttft_ms,predicted_tpot_ms", notes, [&](std::string& out) {
        of_row([&] { write_row_predictions(out, read_row(), notes); });
    });
    if (num_larger_shares_ > 0)
        notes << "llmcost: warning: " << num_larger_shares_
              << " rows do not fit with the default fraction of the memory; "
              << formatted("using %g", largest_memory_share) << " (gpu_memory_utilization, mem_fraction_static)\n";
    if (num_layouts_of_ids_ > 0)
        notes << "llmcost: warning: id: contradicts tp_size, attention_dp_size and moe_tp_size in "
              << num_layouts_of_ids_ << " rows; using the sizes of the id (docs/cli.md)\n";
    for (const std::string& note : calibration_notes_) notes << "llmcost: warning: " << note << '\n';
    for (const auto& [key, target] : engines_) {
        const std::unique_ptr<kernel_library>& kernels = target.kernels;
        for (const std::string& note : kernels->warnings()) notes << "llmcost: warning: backend: " << note << '\n';
        if (kernels->has_no_matches() && calibration_ != "none")
            notes << "llmcost: warning: system: no measurements on "
                  << printable(kernels->target_device("system").names[0])
                  << "; using its datasheet (see --calibration)\n";
    }
    return all;
}

LLMCOST_INLINE std::string serve_table::read_header(std::istream& in) {
    rows_.begin(in);
    for (std::size_t i = 0; i < rows_.fields().size(); ++i)
        if (const std::string& name = rows_.fields()[i]; !column_positions_.emplace(name, i).second && is_read(name))
            throw_usage("line 1", "duplicate column " + quote(name));
    for (const std::string_view name : {"model_path", "system", "isl", "osl", "batch_size"})
        if (!column_positions_.contains(name)) throw_usage("line 1", "expected a column " + quote(name));
    return rows_.line();
}

LLMCOST_INLINE std::string serve_table::field(std::string_view name) const {
    const auto column = column_positions_.find(name);
    return column == column_positions_.end() || column->second >= rows_.fields().size()
               ? std::string{}
               : rows_.fields()[column->second];
}

LLMCOST_INLINE benchmark_run serve_table::current() {
    try {
        rows_.check();
        return of_row([&] { return read_row(); });
    } catch (const error& e) {
        throw_usage(rows_.location(), e.what());
    }
}

LLMCOST_INLINE bool serve_table::is_read(std::string_view name) {
    constexpr std::string_view names[]{"id",
                                       "model_path",
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

LLMCOST_INLINE void serve_table::write_row_predictions(std::string& out, const benchmark_run& run,
                                                       std::ostream& notes) {
    server& target = *run.target_server;
    const engine_memory_profile default_profile = target.memory_profile();
    const engine_memory_profile larger_share = with_memory_share(default_profile, largest_memory_share);
    const std::string problem = out_of_memory_message(target, run.load, *run.target_device);
    if (!problem.empty() && !detail::fits_one_request(target, run.load, larger_share)) {
        notes << "llmcost: warning: " << rows_.location() << ": " << printable(run.target_device->names[0]) << ": "
              << problem << '\n';
        out += ",,,";
        detail::append_csv(out, printable(run.target_device->names[0]) + ": " + problem);
        return;
    }
    const detail::profile_of_row default_of_later_rows{target, default_profile};
    if (!problem.empty()) {
        ++num_larger_shares_;
        target.set_memory_profile(larger_share);
    }
    const serving_metrics f = target(run.load);
    const std::int64_t tokens = run.load.input_tokens + run.load.output_tokens;
    const model& subject = models_.at(run.model).subject;
    if (exceeds_context(subject, tokens) && warned_models_.insert(run.model).second)
        warn_if_context_exceeded(notes, rows_.location() + ": " + printable(run.model), subject, tokens);
    out += formatted(",%.5g,%.5g,", 1e3 * f.ttft_seconds, 1e3 * f.tpot_seconds);
}

LLMCOST_INLINE std::int64_t serve_table::number(std::string_view name, std::int64_t default_value) const {
    const std::string text = field(name);
    return text.empty() ? default_value
                        : parse_integer(name, llmcost::detail::integer_digits(text), default_value == 0 ? 0 : 1);
}

LLMCOST_INLINE std::string serve_table::engine_name_of_row() const {
    const std::string backend = field("backend");
    if (backend.empty()) return "vllm";
    constexpr std::string_view frontend = "dynamo-";
    const std::string_view engine =
        backend.starts_with(frontend) ? std::string_view(backend).substr(frontend.size()) : std::string_view(backend);
    return std::string(replace_value_synonym("--engine", engine));
}

LLMCOST_INLINE const serve_table::known_model& serve_table::model_of_row(const std::string& path) {
    if (const auto known = models_.find(path); known != models_.end()) return known->second;
    // a NUL character would end the file name and the error message
    if (path.find('\0') != std::string::npos) throw_usage("model_path", "expected org/name, found " + quote(path));
    std::string name = path;
    for (std::size_t slash = name.find('/'); slash != std::string::npos; slash = name.find('/', slash))
        name.replace(slash, 1, "__");
    const std::filesystem::path place = std::filesystem::path(folder_) / (name + ".json");
    const bundled_config* const bundled = std::filesystem::exists(place) ? nullptr : find_bundled(bundled_, path);
    config_document file = bundled != nullptr ? parse_config(bundled->json, path) : read_regular_file(place.string());
    const model subject = file.read_with([&](config_view root) { return registry_.read(root); });
    known_model known{std::move(file), subject, {}, {}};
    try {
        known.stored = detail::stored_types_of(known.file, subject, "gemm_quant_mode");
    } catch (const error& e) {
        if (e.code() != errc::unsupported) throw;
        known.unsupported_types = e.what();
    }
    return models_.emplace(path, std::move(known)).first->second;
}

LLMCOST_INLINE const operand_type* serve_table::operand(std::string_view column, const std::string& type_name,
                                                        const operand_type* stored, const device& target_device) {
    const auto is_stored = [&](literal name) { return stored == find_operand_type(name); };
    const bool by_checkpoint = type_name.empty() || (type_name == "fp8" && is_stored("fp8_block")) ||
                               (type_name == "nvfp4" && is_stored("w4a16_mxfp4") && target_device.fp4 == 0);
    return !by_checkpoint      ? &require_operand_type(column, type_name)
           : stored != nullptr ? stored
                               : default_operand_type(target_device);
}

LLMCOST_INLINE const std::optional<engine_calibration>& serve_table::calibration_of(const std::string& system,
                                                                                    const engine& engine,
                                                                                    kernel_library& kernels) {
    const std::pair key{system, std::string(engine.name)};
    if (const auto known = calibrations_.find(key); known != calibrations_.end()) return known->second;
    const device& target_device = kernels.target_device("system", device_lookup::name);
    std::optional<engine_calibration> found;
    if (const std::string file = split_calibration(calibration_).engine; !file.empty()) {
        found = read_engine_calibration(file);
        if (const std::string mismatch = calibration_mismatch(*found, engine, target_device); !mismatch.empty()) {
            calibration_notes_.insert(printable(file) + ": " + mismatch +
                                      "; using the shipped constants for these rows");
            found.reset();
        }
    } else {
        found = find_engine_calibration(calibration_, engine, "", target_device);
    }
    return calibrations_.emplace(key, std::move(found)).first->second;
}

LLMCOST_INLINE serve_table::system_engine& serve_table::engine_of(const std::string& system, const engine& engine,
                                                                  const std::string& model) {
    const std::string name(engine.name);
    for (const std::string& calibrated_model : {std::string(), model})
        if (const auto known = engines_.find({system, name, calibrated_model}); known != engines_.end())
            return known->second;
    system_engine target{
        engine, std::make_unique<kernel_library>(system, std::string(engine.kernel_software), "", calibration_)};
    std::string calibrated_model;  // without a calibration, models share kernels
    if (time_factors_) {
        target.kernels->set_time_factors(*time_factors_);
    } else if (const auto& found = calibration_of(system, engine, *target.kernels)) {
        calibrated_model = model;
        const bool has_shipped_runs = has_measured_runs(target.kernels->target_device("system"), 1);
        if (const std::string note = model_calibration_note(*found, model, has_shipped_runs); !note.empty())
            calibration_notes_.insert(printable(found->path) + ": " + printable(note));
        if (const auto part = calibration_for_model(*found, model, has_shipped_runs)) {
            target.engine = with_constants(engine, part->constants);
            target.kernels->set_time_factors(factors_of(part->constants));
        }
    }
    return engines_.emplace(std::tuple{system, name, calibrated_model}, std::move(target)).first->second;
}

LLMCOST_INLINE checkpoint_types serve_table::types_of_row(const known_model& m, const engine& engine,
                                                          const device& target_device, kernel_library& kernels) const {
    // a row that states its types does not need those of the checkpoint
    const bool has_experts = m.subject.config.moe.num_experts > 1;
    if (!m.unsupported_types.empty() &&
        (field("gemm_quant_mode").empty() || (has_experts && field("moe_quant_mode").empty())))
        throw error(errc::unsupported, {}, m.unsupported_types);
    const bool experts_alone = m.stored.products != m.stored.experts;  // only experts are quantized
    const checkpoint_types types{
        executed_type_of(operand("gemm_quant_mode", experts_alone ? std::string{} : field("gemm_quant_mode"),
                                 m.stored.products, target_device),
                         engine, target_device),
        executed_type_of(operand("moe_quant_mode", field("moe_quant_mode"), m.stored.experts, target_device), engine,
                         target_device)};
    kernels.set_type_sources(experts_alone ? "" : "gemm_quant_mode", "moe_quant_mode");
    return types;
}

LLMCOST_INLINE run_layout serve_table::layout_of_row() {
    const run_layout columns{.tensor_parallel_size = number("tp_size", 1),
                             .data_parallel_size = number("attention_dp_size", 1),
                             .expert_tensor_parallel_size = number("moe_tp_size", 1),
                             .expert_parallel_size = number("moe_ep_size", 1),
                             .requests_per_rank = number("batch_size", 1)};
    const run_layout layout = layout_of_run(field("id"), columns);
    if (!(layout == columns)) ++num_layouts_of_ids_;
    return layout;
}

LLMCOST_INLINE parallel_config serve_table::parallel_of_row(const model& subject, const run_layout& layout) const {
    const bool has_experts = subject.config.moe.num_experts > 1;
    parallel_config s;
    s.tensor_parallel_size = layout.tensor_parallel_size;
    s.data_parallel_size = layout.data_parallel_size;
    s.expert_parallel_size = layout.expert_parallel_size;
    s.expert_tensor_parallel_size = layout.expert_tensor_parallel_size;
    if (!has_experts) s.expert_parallel_size = s.expert_tensor_parallel_size = 1;
    const std::int64_t expert_devices = s.expert_parallel_size * s.expert_tensor_parallel_size;
    if (field("attention_dp_size").empty() && expert_devices % s.tensor_parallel_size == 0 && has_experts)
        s.data_parallel_size = expert_devices / s.tensor_parallel_size;
    if (field("moe_tp_size").empty() && has_experts && s.world_size() % s.expert_parallel_size == 0)
        s.expert_tensor_parallel_size = s.world_size() / s.expert_parallel_size;
    if (const std::int64_t used = s.expert_parallel_size * s.expert_tensor_parallel_size;
        has_experts && used != s.world_size())
        throw_usage("moe_ep_size", "experts on " + std::to_string(used) +
                                       " devices (moe_tp_size times moe_ep_size), attention on " +
                                       std::to_string(s.world_size()) + " (tp_size times attention_dp_size)");
    require_valid_parallelism(subject, s);
    return s;
}

LLMCOST_INLINE serving_load serve_table::load_of_row(const run_layout& layout) const {
    serving_load load;
    load.input_tokens = number("isl", 1);
    load.output_tokens = number("osl", 1);
    // batch_size is per data-parallel rank if attention_dp_size is set
    load.concurrency = static_cast<double>(layout.requests_per_rank) * static_cast<double>(layout.data_parallel_size);
    load.pipeline_parallel_size = number("pp_size", 1);
    load.batch_wait_steps = number("batch_wait_timeout_iters", 0);
    return load;
}

LLMCOST_INLINE benchmark_run serve_table::read_row() {
    const known_model& m = model_of_row(field("model_path"));
    benchmark_run run;
    const std::string system = field("system");
    const system_engine& target =
        engine_of(system, detail::require_engine("backend", engine_name_of_row()), field("model_path"));
    run.target_engine = &target.engine;
    kernel_library& kernels = *target.kernels;
    run.target_device = &networked(kernels.target_device("system", device_lookup::name));
    run.kernels = &kernels;
    run.subject = &m.subject;
    require_supported_device("backend", *run.target_engine, *run.target_device);
    require_known_memory(*run.target_device);
    const checkpoint_types types = types_of_row(m, *run.target_engine, *run.target_device, kernels);
    const run_layout layout = layout_of_row();
    const parallel_config s = parallel_of_row(m.subject, layout);
    const execution execution = execution_of(*run.target_engine, *run.target_device, types, s);
    require_network("--network", s, execution.devices_per_node, *run.target_device);
    run.model = field("model_path");
    run.devices = s.world_size();
    run.load = load_of_row(layout);
    require_stages("pp_size", m.subject, run.load.pipeline_parallel_size);
    auto& cached_server =
        servers_[{run.model, system, std::string(run.target_engine->name), types.products, types.experts,
                  std::array{s.tensor_parallel_size, s.data_parallel_size, s.expert_parallel_size,
                             s.expert_tensor_parallel_size}}];
    if (!cached_server) {
        require_autoregressive(m.subject);
        cached_server = std::make_unique<server>(m.subject, execution, *run.target_engine, *run.target_device, kernels);
    }
    run.target_server = cached_server.get();
    return run;
}

LLMCOST_INLINE const device& serve_table::networked(const device& target_device) {
    if (network_ == 0) return target_device;
    device& networked_device = devices_.try_emplace(std::string(target_device.names[0]), target_device).first->second;
    networked_device.network_bandwidth = network_;
    return networked_device;
}

}  // namespace llmcost::cli
