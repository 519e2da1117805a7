// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <limits>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/c/llmcost.h>
#include <llmcost/base/count.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/row_error.hpp>
#include <llmcost/cli/commands/program.hpp>
#include <llmcost/cli/commands/sweep.hpp>
#include <llmcost/cli/request/sweep_points.hpp>
#include <llmcost/cli/request/sweep_results.hpp>

#include "c_arrow.hpp"
#include "c_result.hpp"
#include "parts.hpp"

namespace {

namespace cli = llmcost::cli;

/// The rows of a sweep as record batches, which are computed when they are asked for.
class sweep_stream {
public:
    sweep_stream(std::vector<std::string> arguments, std::string input)
        : texts_(std::move(arguments)), views_(texts_.begin(), texts_.end()), input_(std::move(input)) {}

    /// Parses the command line and reads the models; returns the exit code.
    [[nodiscard]] int open() {
        try {
            read();
            return 0;
        } catch (...) {
            return cli::report_current_exception(program_, cli::sweep_command, views_);
        }
    }

    [[nodiscard]] bool is_at_end() const noexcept { return next_ >= end_; }
    [[nodiscard]] arrow::column next() {
        const std::int64_t first = next_;
        next_ = std::min(next_ + block_size, end_);
        return batch_of(sweep_->compute(first, next_, num_threads_));
    }
    /// A batch without rows, which has the types of the columns.
    [[nodiscard]] arrow::column empty() { return batch_of(sweep_->compute(0, 0, 1)); }
    [[nodiscard]] std::string messages() const { return messages_.str(); }

    std::string error{};  ///< of the last call

private:
    static constexpr std::int64_t block_size = std::int64_t{1} << 18;
    static constexpr llmcost::count max_int64{std::numeric_limits<std::int64_t>::max()};

    void read() {
        args_ = std::make_unique<cli::arguments>("sweep", cli::sweep_options, views_);
        const cli::option_spec& option = cli::option::sweep_shard;
        const cli::shard part = args_->has(option) ? cli::parse_shard(option.name, args_->text(option)) : cli::shard{};
        num_threads_ = cli::detail::num_sweep_threads(*args_);
        sweep_ = cli::detail::make_sweep(*args_, program_);
        const std::int64_t size = sweep_->points().size();
        next_ = part.begin(size);
        end_ = part.end(size);
        for (std::size_t i = 0; i < sweep_->num_models(); ++i) names_.push_back(sweep_->model_name_of(i));
        choose_types();
    }

    /// Counts grow with batch and lengths. A metric is int64 if its largest values are, otherwise decimal128.
    void choose_types() {
        std::vector<cli::sweep_point> points;
        for (std::size_t i = 0; i < names_.size(); ++i) points.push_back(sweep_->points().largest(i));
        const cli::sweep_block block = sweep_->compute(std::move(points), 1);
        for (const std::vector<llmcost::count>& column : block.figures)
            is_decimal_.push_back(std::any_of(column.begin(), column.end(), [](auto n) { return n > max_int64; }));
        for (const std::string& problem : block.problems)
            if (!problem.empty()) is_decimal_.assign(is_decimal_.size(), true);
    }

    /// A column of counts. Rows with a problem, and counts beyond 128 signed bits, are null.
    [[nodiscard]] static arrow::column count_column(std::string name, const std::vector<llmcost::count>& counts,
                                                    bool is_decimal, const std::vector<bool>& failed) {
        arrow::column out{std::move(name), is_decimal ? "d:38,0" : "l", static_cast<std::int64_t>(counts.size())};
        out.buffers = {validity(failed, out.null_count), {}};
        if (is_decimal) {
            std::vector<decltype(llmcost::count{}.to_uint128())> values;
            for (const llmcost::count n : counts) values.push_back(n.to_uint128());
            out.buffers[1] = arrow::bytes_of(values);
        } else {
            std::vector<std::int64_t> values;
            for (const llmcost::count n : counts) values.push_back(static_cast<std::int64_t>(n.to_uint128()));
            out.buffers[1] = arrow::bytes_of(values);
        }
        return out;
    }
    template <class T>
    [[nodiscard]] static arrow::column number_column(std::string name, std::string format,
                                                     const std::vector<T>& values) {
        arrow::column out{std::move(name), std::move(format), static_cast<std::int64_t>(values.size())};
        out.buffers = {{}, arrow::bytes_of(values)};
        return out;
    }
    /// Indices of texts.
    [[nodiscard]] static arrow::column index_column(std::string name, const std::vector<std::int32_t>& indices,
                                                    const std::vector<std::string>& texts) {
        arrow::column out = number_column(std::move(name), "i", indices);
        out.dictionary = std::make_unique<arrow::column>(arrow::text_column({}, texts));
        return out;
    }
    [[nodiscard]] static std::vector<std::byte> validity(const std::vector<bool>& failed, std::int64_t& null_count) {
        null_count = std::count(failed.begin(), failed.end(), true);
        if (null_count == 0) return {};
        return arrow::bits_of(static_cast<std::int64_t>(failed.size()), [&](std::size_t i) { return !failed[i]; });
    }

    [[nodiscard]] arrow::column batch_of(const cli::sweep_block& block) const;
    void add_steps(const cli::sweep_block& block, const std::vector<bool>& failed, arrow::column& batch) const;

    std::vector<std::string> texts_;
    std::vector<std::string_view> views_;
    std::istringstream input_;
    std::ostringstream output_;
    std::ostringstream messages_;
    cli::program program_ = parts::full_program(
        {output_, messages_, input_, [](const char* name) -> const char* { return std::getenv(name); }});
    std::unique_ptr<cli::arguments> args_;
    std::unique_ptr<cli::sweep> sweep_;
    std::vector<std::string> names_;
    std::vector<bool> is_decimal_;
    std::int64_t next_ = 0;
    std::int64_t end_ = 0;
    std::size_t num_threads_ = 1;
};

arrow::column sweep_stream::batch_of(const cli::sweep_block& block) const {
    const std::size_t size = block.size();
    arrow::column batch{{}, "+s", static_cast<std::int64_t>(size)};
    batch.buffers.resize(1);
    std::vector<std::int32_t> models(size), devices(size);
    std::vector<std::int64_t> batches(size), sequences(size), pasts(size);
    std::vector<bool> failed(size);
    for (std::size_t i = 0; i < size; ++i) {
        const cli::sweep_point& point = block.points[i];
        models[i] = static_cast<std::int32_t>(point.model);
        devices[i] = static_cast<std::int32_t>(point.device);
        batches[i] = point.batch;
        sequences[i] = point.sequence;
        pasts[i] = point.past;
        failed[i] = !block.problems[i].empty();
    }
    batch.children.push_back(index_column("name", models, names_));
    if (!sweep_->devices().empty()) batch.children.push_back(index_column("device", devices, sweep_->devices()));
    batch.children.push_back(number_column("batch", "l", batches));
    batch.children.push_back(number_column("sequence", "l", sequences));
    batch.children.push_back(number_column("past", "l", pasts));
    for (std::size_t k = 0; k < block.figures.size(); ++k)
        batch.children.push_back(
            count_column(std::string(sweep_->metrics()[k]->name), block.figures[k], is_decimal_[k], failed));
    if (!sweep_->devices().empty()) add_steps(block, failed, batch);
    arrow::column errors = arrow::text_column("error", block.problems);
    const std::vector<bool> answered = [&] {
        std::vector<bool> inverse = failed;
        inverse.flip();
        return inverse;
    }();
    errors.buffers.front() = validity(answered, errors.null_count);
    batch.children.push_back(std::move(errors));
    return batch;
}

void sweep_stream::add_steps(const cli::sweep_block& block, const std::vector<bool>& failed,
                             arrow::column& batch) const {
    std::vector<double> seconds;
    std::vector<llmcost::count> bytes;
    for (const cli::sweep_step& step : block.steps) {
        seconds.push_back(step.seconds);
        bytes.push_back(step.memory_bytes);
    }
    arrow::column times = number_column("seconds", "g", seconds);
    times.buffers.front() = validity(failed, times.null_count);
    batch.children.push_back(std::move(times));
    batch.children.push_back(count_column("memory_bytes", bytes, false, failed));
    arrow::column fits{"fits", "b", batch.length};
    fits.buffers = {validity(failed, fits.null_count),
                    arrow::bits_of(batch.length, [&](std::size_t i) { return block.steps[i].fits; })};
    batch.children.push_back(std::move(fits));
}

/// Calls `fill`; returns 0, or an error number with the message in the stream.
template <class Fill>
int guarded(sweep_stream& stream, Fill fill) {
    int status = EIO;
    try {
        stream.error = cli::detail::problem_of([&] {
            fill();
            status = 0;
        });
    } catch (const std::bad_alloc&) {
        stream.error = "out of host memory";
        status = ENOMEM;
    } catch (const std::exception& e) {
        stream.error = e.what();
    }
    return status;
}

sweep_stream& stream_of(ArrowArrayStream* exported) { return *static_cast<sweep_stream*>(exported->private_data); }

int write_schema(ArrowArrayStream* exported, ArrowSchema* out) {
    sweep_stream& stream = stream_of(exported);
    return guarded(stream, [&] { arrow::export_schema(stream.empty(), out); });
}

int write_next(ArrowArrayStream* exported, ArrowArray* out) {
    sweep_stream& stream = stream_of(exported);
    out->release = nullptr;  // the end of the stream
    if (stream.is_at_end()) return 0;
    return guarded(stream, [&] { arrow::export_array(stream.next(), out); });
}

const char* last_error(ArrowArrayStream* exported) {
    const std::string& error = stream_of(exported).error;
    return error.empty() ? nullptr : error.c_str();
}

void release_stream(ArrowArrayStream* exported) {
    delete &stream_of(exported);
    exported->release = nullptr;
}

}  // namespace

llmcost_result* llmcost_sweep(std::size_t count, const char* const* arguments, const char* input,
                              std::size_t input_size, ArrowArrayStream* out) {
    auto* const result = new (std::nothrow) llmcost_result;
    if (result == nullptr) return nullptr;
    out->release = nullptr;
    try {
        auto stream = std::make_unique<sweep_stream>(std::vector<std::string>(arguments, arguments + count),
                                                     input == nullptr ? std::string() : std::string(input, input_size));
        result->exit_code = stream->open();
        result->messages = stream->messages();
        if (result->exit_code != 0) return result;
        *out = ArrowArrayStream{.get_schema = write_schema,
                                .get_next = write_next,
                                .get_last_error = last_error,
                                .release = release_stream,
                                .private_data = stream.release()};
    } catch (const std::bad_alloc&) {
        delete result;
        return nullptr;
    }
    return result;
}
