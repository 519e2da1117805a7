// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/sweep.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/row_error.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/commands/device_comparison.hpp>
#include <llmcost/cli/commands/latency.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/cli/request/for_each_model.hpp>
#include <llmcost/cli/request/memory_fit.hpp>
#include <llmcost/cli/request/sweep_points.hpp>
#include <llmcost/cli/request/sweep_results.hpp>
#include <llmcost/report/json_writer.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::cli::detail {

/// Times steps of one model on one device, as `llmcost latency` does.
class latency_timer final : public sweep::step_timer {
public:
    latency_timer(const arguments& args, const program& io)
        : request_(parse_latency_request(args)), deployment_(io.place(args, io)) {
        complete_latency_workload(request_, args, deployment_);
        validate(request_, deployment_);
    }

    sweep_step time(std::int64_t batch, std::int64_t sequence, std::int64_t past) override {
        workload& load = request_.work.base_workload;
        load.batch = batch;
        load.sequence = sequence;
        load.past = past;
        const latency_response response = compute(request_, deployment_);
        return {response.step.seconds, response.needed, memory_limit_of(deployment_).fits(response.needed)};
    }

private:
    latency_request request_;
    deployment deployment_;
};

LLMCOST_INLINE std::unique_ptr<sweep::step_timer> make_latency_timer(const arguments& args, const program& io,
                                                                     std::size_t source, const std::string& device) {
    arguments one = args;
    const std::vector<std::string> names = names_of_sources(args);
    if (names.size() > 1) {
        one.remove(option::config);
        one.replace(option::model, names[source]);
    } else if (!args.all(option::config).empty() && args.text(option::config) == "-") {
        io.in.clear();
        if (!io.in.seekg(0)) throw_usage("--config", "standard input can be read once; use a file");
    }
    one.replace(option::device, device);
    for (const option_spec& o : {option::batch, option::sequence})
        if (one.has(o)) one.replace(o, "1");
    if (one.has(option::past)) one.replace(option::past, "0");
    return std::make_unique<latency_timer>(one, io);
}

LLMCOST_INLINE std::unique_ptr<sweep> make_sweep(const arguments& args, const program& io) {
    std::vector<std::string> devices = listed_devices(args);
    if (devices.empty() && args.has(option::device)) devices.emplace_back(args.text(option::device));
    if (devices.empty())
        for (const option_spec& o : concatenate(engine_options, parallel_options))
            if (args.has(o)) throw_usage(o.name, "requires --device");
    return std::make_unique<sweep>(args, io, std::move(devices), make_latency_timer);
}

LLMCOST_INLINE std::size_t num_sweep_threads(const arguments& args) {
    constexpr std::int64_t max_threads = 1024;
    const auto cores = static_cast<std::int64_t>(std::max(1U, std::thread::hardware_concurrency()));
    return static_cast<std::size_t>(
        std::min(args.number(option::sweep_threads, std::min(cores, max_threads)), max_threads));
}

/// Writes rows as CSV, or as JSON with one object per line.
class sweep_writer {
public:
    sweep_writer(const sweep& all, std::ostream& out, bool is_json) : all_(all), out_(out), is_json_(is_json) {
        columns_ = {"name", "batch", "sequence", "past"};
        if (!all.devices().empty()) columns_.insert(columns_.begin() + 1, "device");
        for (const metric* m : all.metrics()) columns_.emplace_back(m->name);
        if (!all.devices().empty())
            for (const std::string_view name : {"seconds", "memory_bytes", "fits"}) columns_.emplace_back(name);
        columns_.emplace_back("error");
        if (is_json) return;
        std::string line;
        for (const std::string_view name : columns_) line.append(line.empty() ? "" : ",").append(name);
        out_ << line << '\n';
    }

    void write(const sweep_block& block) {
        for (std::size_t row = 0; row < block.size(); ++row) {
            column_ = 0;
            const sweep_point& point = block.points[row];
            add_text(all_.model_name_of(point.model));
            if (!all_.devices().empty()) add_text(all_.devices()[point.device]);
            for (const std::int64_t n : {point.batch, point.sequence, point.past}) add(count_text{count(n)}.view());
            const bool failed = !block.problems[row].empty();
            num_failed_ += failed ? 1 : 0;
            for (const std::vector<count>& column : block.figures)
                add(failed ? std::string_view() : std::string_view(count_text{column[row]}.view()));
            if (!all_.devices().empty()) add_step(block.steps[row], failed);
            if (failed)
                add_text(block.problems[row]);
            else
                add({});
            line_ += is_json_ ? "}\n" : "\n";
        }
        out_.write(line_.data(), static_cast<std::streamsize>(line_.size()));
        line_.clear();
    }

    [[nodiscard]] std::int64_t num_failed() const noexcept { return num_failed_; }

private:
    void begin_column() {
        if (is_json_)
            line_.append(column_ == 0 ? "{\"" : ",\"").append(columns_[column_]).append("\":");
        else if (column_ > 0)
            line_ += ',';
        ++column_;
    }
    /// A number or nothing.
    void add(std::string_view number) {
        begin_column();
        line_ += number.empty() && is_json_ ? std::string_view("null") : number;
    }
    void add_text(std::string_view text) {
        begin_column();
        if (is_json_)
            line_ += json_writer(0).value(text).text();
        else
            append_csv(line_, text);
    }
    void add_step(const sweep_step& step, bool failed) {
        if (failed) {
            for (int i = 0; i < 3; ++i) add({});
            return;
        }
        std::array<char, 32> digits{};
        const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), step.seconds).ptr;
        add({digits.data(), static_cast<std::size_t>(end - digits.data())});
        add(count_text{step.memory_bytes}.view());
        add(step.fits ? "true" : "false");
    }

    const sweep& all_;
    std::ostream& out_;
    bool is_json_;
    std::vector<std::string_view> columns_;
    std::size_t column_ = 0;
    std::string line_;
    std::int64_t num_failed_ = 0;
};

/// Computes and writes the rows from `first` to `last`; returns how many have no result.
LLMCOST_INLINE std::int64_t write_rows(sweep& all, std::int64_t first, std::int64_t last, std::size_t num_threads,
                                       std::ostream& out, bool is_json) {
    constexpr std::int64_t block_size = 65536;
    sweep_writer writer(all, out, is_json);
    for (std::int64_t i = first; i < last && out; i += block_size)
        writer.write(all.compute(i, std::min(i + block_size, last), num_threads));
    return writer.num_failed();
}

/// The name of the file of a part: `part-00003-of-00064.csv`.
LLMCOST_INLINE std::string part_name(const shard& part, std::string_view extension) {
    const auto five_digits = [](std::int64_t n) {
        const std::string digits = std::to_string(n);
        return std::string(5 - std::min<std::size_t>(digits.size(), 5), '0') + digits;
    };
    return "part-" + five_digits(part.index) + "-of-" + five_digits(part.num_shards) + '.' + std::string(extension);
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE command_output run_sweep(const arguments& args, const program& io) {
    const shard part =
        args.has(option::sweep_shard) ? parse_shard(option::sweep_shard.name, args.text(option::sweep_shard)) : shard{};
    const bool is_json = args.choice(option::sweep_format) == 1;
    const std::size_t num_threads = detail::num_sweep_threads(args);
    std::filesystem::path path;
    if (args.has(option::sweep_save)) {
        path =
            std::filesystem::path(args.text(option::sweep_save)) / detail::part_name(part, is_json ? "jsonl" : "csv");
        std::error_code ignored;
        if (std::filesystem::exists(path, ignored)) return path.string() + " exists\n";
    }
    const std::unique_ptr<sweep> all = detail::make_sweep(args, io);
    const std::int64_t size = all->points().size(), first = part.begin(size), last = part.end(size);
    std::int64_t num_failed = 0;
    std::string text;
    if (path.empty()) {
        num_failed = detail::write_rows(*all, first, last, num_threads, io.out, is_json);
    } else {
        const std::filesystem::path partial = path.string() + ".partial";
        std::error_code problem;
        std::filesystem::create_directories(path.parent_path(), problem);
        std::ofstream out(partial, std::ios::binary);
        num_failed = detail::write_rows(*all, first, last, num_threads, out, is_json);
        out.close();
        if (out) std::filesystem::rename(partial, path, problem);
        if (!out || problem) throw error(errc::output, printable(path.string()), "cannot be written");
        text = printable(path.string()) + ": " + std::to_string(last - first) + " rows\n";
    }
    if (num_failed > 0) io.err << "llmcost: " << num_failed << " of " << last - first << " rows have no result\n";
    return {text, num_failed > 0 || all->num_skipped() > 0 ? exit_code::rows : exit_code::ok};
}

}  // namespace llmcost::cli
