// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/serving/job_timer.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/distributed/pipeline_schedule.hpp>
#include <llmcost/distributed/training_parallelism.hpp>
#include <llmcost/memory/optimizer.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/serving/parallel_training_cost.hpp>
#include <llmcost/serving/pipeline_time.hpp>
#include <llmcost/serving/step.hpp>
#include <llmcost/serving/training_collectives.hpp>
#include <llmcost/serving/training_job.hpp>
#include <llmcost/serving/training_pass.hpp>
#include <llmcost/serving/training_work.hpp>
#include <llmcost/trace/collective.hpp>

namespace llmcost::detail {

/// Adds the times of the parts of a job to its step.
class job_timer {
public:
    job_timer(const model& full_model, const workload& load, const training_plan& plan, const training_job& job,
              const training_work& work, collective_times& collectives)
        : model_(full_model),
          load_(load),
          execution_(collectives.execution()),
          device_(collectives.device()),
          collectives_(collectives),
          plan_(plan),
          job_(job),
          work_(work),
          passes_(work.passes),
          parameters_(work.parameters),
          memory_(work.memory),
          num_layers_(std::max<std::int64_t>(full_model.config.num_hidden_layers, 1)) {
        layer_.add(passes_.layers, 1 / layers());
        reduced_share_ =
            parameters_.total > 0 ? std::min(1.0, static_cast<double>(memory_.trained) / parameters_.total) : 1;
    }

    /// `is_bound`: the bubble is the least that the schedule can have.
    [[nodiscard]] parallel_training_cost time(bool is_bound) {
        add_layer_messages();
        layer_gather_ = gather_of(dense_layer(), expert_layer());
        layer_reduction_ = reduction_of(dense_layer() * reduced_share_, expert_layer() * reduced_share_);
        add_stages(is_bound);
        add_communication();
        add_optimizer();
        add_totals();
        return std::move(out_);
    }

private:
    /// A stage of a pipeline, or all stages of a rank, for one microbatch.
    struct stage_time {
        training_pass pass;
        double layers = 0, outside = 0;  ///< layers; parameters outside of them
        double exposed = 0;              ///< seconds of communication within the microbatch, without data parallelism
        double gathering = 0;            ///< exposed seconds of data parallelism within the microbatch
        double host = 0;                 ///< seconds that the device waits for launches
        [[nodiscard]] double seconds() const noexcept { return pass.seconds() + exposed + gathering + host; }
        void add(const stage_time& stage) noexcept {
            pass.add(stage.pass, 1);
            layers += stage.layers;
            outside += stage.outside;
            exposed += stage.exposed;
            gathering += stage.gathering;
            host += stage.host;
        }
    };
    /// Communication of a layer in a microbatch.
    struct layer_message {
        mesh_axis axis;
        std::int64_t size, stride;
        collective_time time;
        double times, exposed;
    };
    static constexpr double activation_bytes = 2;

    [[nodiscard]] const training_parallelism& parallel() const noexcept { return job_.parallel; }
    [[nodiscard]] double layers() const noexcept { return static_cast<double>(num_layers_); }
    [[nodiscard]] double microbatches() const noexcept { return static_cast<double>(parallel().microbatches); }
    [[nodiscard]] double tensor() const noexcept { return static_cast<double>(parallel().tensor); }
    [[nodiscard]] double context() const noexcept { return static_cast<double>(parallel().context); }
    [[nodiscard]] double tokens() const noexcept {
        return static_cast<double>(load_.batch) * static_cast<double>(load_.sequence);
    }
    [[nodiscard]] double tokens_of_rank() const noexcept { return tokens() / context(); }
    [[nodiscard]] double hidden() const noexcept { return static_cast<double>(model_.config.hidden_size); }
    [[nodiscard]] double memory_rate() const noexcept { return std::max(device_.memory_bandwidth, 1.0) * 1e9; }
    [[nodiscard]] double dense_layer() const noexcept { return parameters_.dense / layers(); }
    [[nodiscard]] double expert_layer() const noexcept { return parameters_.experts / layers(); }
    /// Ranks that shard parameters that are not of experts, and the distance of neighbors.
    [[nodiscard]] std::int64_t data_ranks() const noexcept { return parallel().data * parallel().context; }
    [[nodiscard]] std::int64_t data_stride() const noexcept { return parallel().tensor; }
    [[nodiscard]] std::int64_t expert_data_ranks() const noexcept {
        return std::max<std::int64_t>(1, parallel().expert_data());
    }
    [[nodiscard]] std::int64_t stage_stride() const noexcept {
        return parallel().tensor * data_ranks() * parallel().data_replicate;
    }
    [[nodiscard]] bool is_fully_sharded() const noexcept {
        return job_.sharding == sharding_strategy::fsdp || job_.sharding == sharding_strategy::zero3;
    }
    [[nodiscard]] bool shards_optimizer() const noexcept { return job_.sharding != sharding_strategy::ddp; }
    /// Whether parameters stay gathered between the microbatches of a step, because neither pass reshards them.
    [[nodiscard]] bool gathers_once() const noexcept {
        return is_fully_sharded() && !job_.reshards_after_forward && !job_.reduces_each_microbatch;
    }
    /// Forward passes of a layer in a microbatch, with recomputation of undivided layers.
    [[nodiscard]] double forward_repetitions() const noexcept {
        return 1 + (plan_.schedule.recompute == recompute_mode::full ? recomputed_share() : 0);
    }
    [[nodiscard]] double recomputed_share() const noexcept {
        return layer_.forward.seconds > 0 ? std::min(1.0, layer_.recomputed.seconds / layer_.forward.seconds) : 0;
    }

    [[nodiscard]] collective_time collective(collective_kind kind, double bytes, std::int64_t size,
                                             std::int64_t stride) const {
        return collectives_.collective(kind, bytes, size, stride);
    }
    [[nodiscard]] static collective_time sum_of(const collective_time& a, const collective_time& b) noexcept {
        return {a.seconds + b.seconds, a.sent_bytes + b.sent_bytes};
    }
    /// The all-gather of parameters that data-parallel ranks shard.
    [[nodiscard]] collective_time gather_of(double dense, double experts) const {
        return sum_of(collective(collective_kind::all_gather, dense * job_.gathered_bytes, data_ranks(), data_stride()),
                      collective(collective_kind::all_gather, experts * job_.gathered_bytes, expert_data_ranks(),
                                 parallel().expert * parallel().expert_tensor));
    }
    /// The reduction of gradients, within the shards and then across replicas.
    [[nodiscard]] collective_time reduction_of(double dense, double experts) const {
        const collective_kind kind = shards_optimizer() ? collective_kind::reduce_scatter : collective_kind::all_reduce;
        const collective_time shards = sum_of(collective(kind, dense * job_.reduced_bytes, data_ranks(), data_stride()),
                                              collective(kind, experts * job_.reduced_bytes, expert_data_ranks(),
                                                         parallel().expert * parallel().expert_tensor));
        if (parallel().data_replicate == 1) return shards;
        const double sharded = shards_optimizer() ? static_cast<double>(data_ranks()) : 1;
        return sum_of(shards, collective(collective_kind::all_reduce, dense * job_.reduced_bytes / sharded,
                                         parallel().data_replicate, parallel().tensor * data_ranks()));
    }

    [[nodiscard]] training_communication& group(mesh_axis axis, std::int64_t size, std::int64_t stride) {
        for (training_communication& c : out_.communication)
            if (c.axis == axis) return c;
        return out_.communication.emplace_back(training_communication{
            .axis = axis, .size = size, .crosses_nodes = size * stride > execution_.devices_per_node});
    }
    static void record(training_communication& c, const collective_time& t, double times, double exposed) noexcept {
        c.seconds += times * t.seconds;
        c.exposed_seconds += exposed;
        c.bytes_sent += times * t.sent_bytes;
        c.bytes_received += times * t.sent_bytes;
    }

    // Communication within a layer.

    void add_message(mesh_axis axis, std::int64_t size, std::int64_t stride, const collective_time& t, double times,
                     double exposed) {
        layer_messages_.push_back({axis, size, stride, t, times, exposed});
        exposed_layer_seconds_ += exposed;
    }
    [[nodiscard]] double exposed_of(const collective_time& t, double times, bool overlaps) const noexcept {
        return std::max(0.0, times * t.seconds - (overlaps ? layer_.seconds() : 0));
    }
    void add_layer_messages() {
        if (parallel().tensor > 1) {
            // with sequence parallelism, an all-gather and a reduce-scatter replace each all-reduce: as many bytes
            const double times = passes_.tensor_messages / layers() * (1 + forward_repetitions());
            const collective_time t = collective(
                collective_kind::all_reduce, passes_.tensor_message_elements * activation_bytes, parallel().tensor, 1);
            add_message(mesh_axis::tensor, parallel().tensor, 1, t, times, exposed_of(t, times, job_.overlap.tensor));
        }
        if (parallel().context > 1 && passes_.attention_layers > 0) add_ring_messages();
        if (parallel().expert > 1 && passes_.expert_layers > 0) {
            const double token_bytes = tokens_of_rank() / tensor() * hidden() * activation_bytes;
            const collective_time t = collectives_.token_exchange(token_bytes, model_.config.moe.num_experts_per_tok,
                                                                  parallel().expert, parallel().expert_tensor);
            // dispatch and combine, forward and backward
            const double times = 2 * (1 + forward_repetitions()) * passes_.expert_layers / layers();
            add_message(mesh_axis::expert, parallel().expert, parallel().expert_tensor, t, times,
                        exposed_of(t, times, job_.overlap.expert));
        }
    }
    /// Keys and values travel around the ring of context-parallel ranks; in backward also their gradients.
    ///
    /// A step of the ring is hidden by the attention of another one.
    void add_ring_messages() {
        const std::int64_t kv_heads = std::max<std::int64_t>(model_.config.num_key_value_heads, 1);
        const double kv_width =
            static_cast<double>(kv_heads * model_.config.head_dim) / std::min(tensor(), static_cast<double>(kv_heads));
        const double steps = (context() - 1) * passes_.attention_layers / layers();
        const collective_time t = collective(collective_kind::send, 2 * activation_bytes * kv_width * tokens_of_rank(),
                                             parallel().context, parallel().tensor);
        const double ring_steps = passes_.attention_layers * context();
        const double exposed =
            steps * (forward_repetitions() * std::max(0.0, t.seconds - passes_.attention_forward_seconds / ring_steps) +
                     std::max(0.0, 2 * t.seconds - passes_.attention_backward_seconds / ring_steps));
        add_message(mesh_axis::context, parallel().context, parallel().tensor, t, steps * (forward_repetitions() + 2),
                    exposed);
    }

    // Stages.

    /// A stage with `n` layers. `outside`: the pass and the parameters that are not of layers.
    [[nodiscard]] stage_time time_of_stage(double n, const training_pass& outside_pass, double outside) const {
        constexpr double accumulation_bytes = 8;
        stage_time stage;
        stage.layers = n;
        stage.outside = outside;
        stage.pass.add(layer_, n);
        stage.pass.add(outside_pass, 1);
        if (!is_fully_sharded())  // the gradients of a microbatch are added to those of earlier ones, in float32
            stage.pass.backward.seconds +=
                reduced_share_ * (outside + n * (dense_layer() + expert_layer())) * accumulation_bytes / memory_rate();
        stage.exposed = n * exposed_layer_seconds_;
        if (parallel().pipeline > 1 && !job_.overlap.pipeline)
            stage.exposed += messages_per_stage * stage_message_.seconds;
        if (is_fully_sharded() && !gathers_once()) stage.gathering = gathering_seconds(n, outside);
        // one kernel adds the gradient of each parameter; every collective is a kernel
        double launches = stage.pass.launches() + reduced_share_ * n * parameters_.tensors / layers();
        for (const layer_message& m : layer_messages_) launches += n * m.times;
        const double host_seconds =
            job_.host_seconds_per_launch >= 0 ? job_.host_seconds_per_launch : work_.launch_seconds;
        // host and device wait for each other at synchronizations: a smooth maximum of both
        constexpr double smoothness = 4;
        const double device = stage.seconds(), host = launches * host_seconds;
        if (host > 0)
            stage.host = std::pow(std::pow(device, smoothness) + std::pow(host, smoothness), 1 / smoothness) - device;
        return stage;
    }
    /// Exposed seconds of FSDP in a microbatch: a gather is hidden by the layer before, in backward with a reduction.
    [[nodiscard]] double gathering_seconds(double n, double outside) const {
        const double backward_gather = job_.reshards_after_forward ? layer_gather_.seconds : 0;
        const double reduction = job_.reduces_each_microbatch ? layer_reduction_.seconds : 0;
        const double outside_gather = gather_of(outside, 0).seconds;
        if (!job_.overlap.data) return n * (layer_gather_.seconds + backward_gather + reduction) + outside_gather;
        const double forward = layer_.forward.seconds + exposed_layer_seconds_ / 3;  // one pass of three
        const double backward = layer_.seconds() + exposed_layer_seconds_ - forward;
        // nothing hides the first gather and the last reduction of a pass
        return n * (std::max(0.0, layer_gather_.seconds - forward) +
                    std::max(0.0, backward_gather + reduction - backward)) +
               std::min(layer_gather_.seconds, forward) + reduction + outside_gather;
    }
    void add_stages(bool is_bound) {
        if (parallel().pipeline > 1)
            stage_message_ = collective(
                collective_kind::send,
                tokens_of_rank() * hidden() * activation_bytes / (parallel().has_sequence_parallel ? tensor() : 1), 2,
                stage_stride());
        const distributed::pipeline_schedule schedule =
            is_bound ? unordered_schedule_of(parallel()) : timed_schedule_of(parallel());
        std::vector<stage_time> ranks(static_cast<std::size_t>(parallel().pipeline));
        std::vector<double> forward_seconds, backward_seconds;
        const std::vector<double> layers_of_stage = layers_of_stages(num_layers_, parallel());
        stage_time stage;
        for (std::size_t i = 0; i < layers_of_stage.size(); ++i) {
            const bool is_first = i == 0, is_last = i + 1 == layers_of_stage.size();
            const bool is_new = i < 2 || is_last || layers_of_stage[i] != layers_of_stage[i - 1];
            if (is_new) {
                training_pass outside_pass;
                if (is_first) outside_pass.add(passes_.before, 1);
                if (is_last) outside_pass.add(passes_.after, 1);
                stage = time_of_stage(layers_of_stage[i], outside_pass,
                                      (is_first ? parameters_.before : 0) + (is_last ? parameters_.after : 0));
            }
            const double seconds = stage.pass.seconds();
            const double forward_share = seconds > 0 ? stage.pass.forward.seconds / seconds : 0.5;
            forward_seconds.push_back(stage.seconds() * forward_share);
            backward_seconds.push_back(stage.seconds() * (1 - forward_share));
            ranks[static_cast<std::size_t>(schedule.rank_of_stage(static_cast<int>(i)))].add(stage);
        }
        rank_ = *std::max_element(ranks.begin(), ranks.end(),
                                  [](const stage_time& a, const stage_time& b) { return a.seconds() < b.seconds(); });
        const double all = is_bound ? minimum_pipeline_seconds(schedule, forward_seconds, backward_seconds)
                                    : pipeline_seconds(schedule, forward_seconds, backward_seconds,
                                                       job_.overlap.pipeline ? stage_message_.seconds : 0);
        out_.bubble_seconds = std::max(0.0, all - microbatches() * rank_.seconds());
        out_.forward = rank_.pass.forward * microbatches();
        out_.backward = rank_.pass.backward * microbatches();
        out_.recomputed = rank_.pass.recomputed * microbatches();
        out_.recomputed_share = recomputed_share();
        out_.host_seconds = rank_.host * microbatches();
    }

    // Communication of the step.

    void add_communication() {
        for (const layer_message& m : layer_messages_)
            record(group(m.axis, m.size, m.stride), m.time, m.times * rank_.layers * microbatches(),
                   m.exposed * rank_.layers * microbatches());
        if (parallel().pipeline > 1) {
            training_communication& pipeline = group(mesh_axis::pipeline, parallel().pipeline, stage_stride());
            const double messages =
                messages_per_stage * static_cast<double>(parallel().stages_per_rank) * microbatches();
            record(pipeline, stage_message_, messages, job_.overlap.pipeline ? 0 : messages * stage_message_.seconds);
            if (model_.config.tie_word_embeddings) {  // the first and the last stage sum the gradients of the embedding
                const collective_time t =
                    collective(collective_kind::all_reduce, parameters_.before * job_.reduced_bytes, 2,
                               stage_stride() * (parallel().pipeline - 1));
                record(pipeline, t, 1, t.seconds);
            }
        }
        if (data_ranks() * parallel().data_replicate > 1 || expert_data_ranks() > 1) add_data_communication();
    }
    void add_data_communication() {
        training_communication& data = group(mesh_axis::data, data_ranks() * parallel().data_replicate, data_stride());
        const auto whole_layers = static_cast<std::int64_t>(rank_.layers + 0.5);
        // seconds of messages of layers that follow each other under a pass
        const auto exposed_under = [&](double layer_seconds, const collective_time& message) {
            return job_.overlap.data ? exposed_after_layers(whole_layers, layer_seconds, message.seconds)
                                     : rank_.layers * message.seconds;
        };
        const double backward_seconds = layer_.backward.seconds + layer_.recomputed.seconds;
        if (is_fully_sharded()) {
            const double gathers = gathers_once() ? 1 : (job_.reshards_after_forward ? 2 : 1) * microbatches();
            const collective_time outside_gather = gather_of(rank_.outside, 0);
            record(data, layer_gather_, gathers * rank_.layers,
                   gathers_once() ? exposed_under(layer_.forward.seconds, layer_gather_) + outside_gather.seconds
                                  : rank_.gathering * microbatches());
            record(data, outside_gather, gathers, 0);  // exposed as part of `gathering`
        }
        const bool is_reduced_later = !is_fully_sharded() || !job_.reduces_each_microbatch;
        const double reductions = is_reduced_later ? 1 : microbatches();
        const collective_time outside_reduction = reduction_of(rank_.outside * reduced_share_, 0);
        record(data, layer_reduction_, reductions * rank_.layers,
               is_reduced_later ? exposed_under(backward_seconds, layer_reduction_) : 0);
        record(data, outside_reduction, reductions, outside_reduction.seconds * reductions);
        if (shards_optimizer() && !is_fully_sharded()) {  // updated parameters, under the forward pass of the next step
            const collective_time outside_gather = gather_of(rank_.outside * reduced_share_, 0),
                                  updated_gather =
                                      gather_of(dense_layer() * reduced_share_, expert_layer() * reduced_share_);
            record(data, updated_gather, rank_.layers, exposed_under(layer_.forward.seconds, updated_gather));
            record(data, outside_gather, 1, outside_gather.seconds);
        }
    }

    void add_optimizer() {
        out_.parameters = rank_.outside + rank_.layers * (dense_layer() + expert_layer());
        const double dense_shards = shards_optimizer() ? static_cast<double>(data_ranks()) : 1,
                     expert_shards = shards_optimizer() ? static_cast<double>(expert_data_ranks()) : 1;
        const double updated = (rank_.outside + rank_.layers * dense_layer()) / dense_shards +
                               rank_.layers * expert_layer() / expert_shards;
        const double update_share = parameters_.total > 0 ? updated / parameters_.total : 1;
        for (const double seconds : work_.update_seconds) out_.optimizer_seconds += update_share * seconds;
        constexpr double gradient_bytes = 4;  // read for the norm
        out_.optimizer_seconds += update_share * static_cast<double>(memory_.trained) * gradient_bytes / memory_rate();
    }

    void add_totals() {
        const auto stages = static_cast<double>(parallel().pipeline);
        const double forward_flops =
            passes_.layers.forward.flops + passes_.before.forward.flops + passes_.after.forward.flops;
        const double backward_flops =
            passes_.layers.backward.flops + passes_.before.backward.flops + passes_.after.backward.flops;
        const double flops = model_.policy == nullptr ? 3 * forward_flops : forward_flops + backward_flops;
        out_.model_flops = flops * microbatches() / stages;
        out_.hardware_flops = out_.model_flops + passes_.layers.recomputed.flops * microbatches() / stages;
        step_time& total = out_.total;
        total.seconds = out_.forward.seconds + out_.backward.seconds + out_.recomputed.seconds + out_.host_seconds +
                        out_.bubble_seconds + out_.optimizer_seconds + out_.exposed_seconds();
        constexpr double lower = 0.8, upper = 1.25;  // docs/training-many-gpus-time.md, "Accuracy"
        total.lower = lower * total.seconds;
        total.upper = upper * total.seconds;
        total.bound = out_.host_seconds > total.seconds / 2 ? roofline_bound::launch : roofline_bound::compute;
        out_.tokens_per_second_per_device = tokens() * microbatches() / (tensor() * context() * stages) / total.seconds;
    }

    static constexpr double messages_per_stage = 2;  ///< activations and gradients

    const model& model_;
    const workload& load_;
    const execution& execution_;
    const device& device_;
    collective_times& collectives_;
    const training_plan& plan_;
    const training_job& job_;
    const training_work& work_;
    const training_passes& passes_;
    const job_parameters& parameters_;
    const training_memory& memory_;
    std::int64_t num_layers_;
    training_pass layer_{};     ///< the mean layer
    double reduced_share_ = 1;  ///< trained parameters / parameters
    std::vector<layer_message> layer_messages_;
    double exposed_layer_seconds_ = 0;  ///< exposed communication of a layer in a microbatch
    collective_time layer_gather_{}, layer_reduction_{}, stage_message_{};
    stage_time rank_{};  ///< the slowest pipeline rank
    parallel_training_cost out_{};
};

LLMCOST_INLINE parallel_training_cost time_job(const model& full_model, const workload& load, const training_plan& plan,
                                               const training_job& job, const training_work& work,
                                               collective_times& collectives, bool is_bound) {
    return job_timer(full_model, load, plan, job, work, collectives).time(is_bound);
}

}  // namespace llmcost::detail
