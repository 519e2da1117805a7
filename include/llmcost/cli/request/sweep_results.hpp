// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/selection.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/request/request.hpp>
#include <llmcost/cli/request/sweep_points.hpp>
#include <llmcost/report/metrics.hpp>

// The results of `llmcost sweep`, computed in blocks on several threads.
namespace llmcost::cli {

/// The time and the memory of a step on a device.
struct sweep_step {
    double seconds = 0;
    count memory_bytes{};
    bool fits = false;
};

/// The results of consecutive points, by column.
struct sweep_block {
    std::vector<sweep_point> points;
    std::vector<std::vector<count>> figures;  ///< one column per metric
    std::vector<sweep_step> steps;            ///< with devices
    std::vector<std::string> problems;        ///< empty: the point has a result

    [[nodiscard]] std::size_t size() const noexcept { return points.size(); }
};

/// Computes the results of points.
class sweep {
public:
    /// Times a step of a model on a device. Throws: `error` if there is no result.
    class step_timer {
    public:
        virtual ~step_timer() = default;
        virtual sweep_step time(std::int64_t batch, std::int64_t sequence, std::int64_t past) = 0;
    };
    /// `source`: the index of the model among those of the command line.
    using make_timer = std::unique_ptr<step_timer> (*)(const arguments& args, const program& io, std::size_t source,
                                                       const std::string& device);

    /// Reads the models, the lists and the devices of a command line. Throws: `usage`, and the errors of the models.
    sweep(const arguments& args, const program& io, std::vector<std::string> devices, make_timer make);
    ~sweep();
    sweep(const sweep&) = delete;
    sweep& operator=(const sweep&) = delete;

    [[nodiscard]] const sweep_points& points() const noexcept { return *points_; }
    [[nodiscard]] const std::vector<const metric*>& metrics() const noexcept { return metrics_; }
    [[nodiscard]] const std::vector<std::string>& devices() const noexcept { return devices_; }
    [[nodiscard]] const std::string& model_name_of(std::size_t model) const noexcept {
        return models_[model].name_of_model.name;
    }

    [[nodiscard]] std::size_t num_models() const noexcept { return models_.size(); }
    /// The number of models that could not be read.
    [[nodiscard]] std::size_t num_skipped() const noexcept { return num_skipped_; }

    /// The results of the points from `first` to `last`, excluding `last`, on `num_threads` threads.
    [[nodiscard]] sweep_block compute(std::int64_t first, std::int64_t last, std::size_t num_threads);
    /// The results of any points.
    [[nodiscard]] sweep_block compute(std::vector<sweep_point> points, std::size_t num_threads);

private:
    class worker;
    friend class worker;

    const arguments& args_;
    const program& io_;
    std::vector<std::string> devices_;
    make_timer make_timer_;
    std::vector<request> models_;
    std::vector<std::size_t> sources_;  ///< index of each model among those of the command line
    std::size_t num_skipped_ = 0;
    std::vector<count> stored_weight_bytes_;  ///< of each model with weights of several types; otherwise 0
    std::vector<const metric*> metrics_;
    std::unique_ptr<sweep_points> points_;
    std::vector<std::unique_ptr<worker>> workers_;  ///< their closed forms serve all blocks
    mutable std::mutex making_timer_;
};

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/request/impl/sweep_results.ipp>  // IWYU pragma: export
#endif
