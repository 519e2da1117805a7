// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/simulation/step_cost_model.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include <llmcost/base/inline.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/serving/draft_model.hpp>
#include <llmcost/serving/power.hpp>
#include <llmcost/serving/server.hpp>
#include <llmcost/serving/size_polynomials.hpp>
#include <llmcost/serving/step.hpp>
#include <llmcost/serving/step_time_model.hpp>
#include <llmcost/simulation/host_times.hpp>
#include <llmcost/simulation/replica.hpp>
#include <llmcost/simulation/scheduling_policy.hpp>
#include <llmcost/simulation/step_batch.hpp>

namespace llmcost {

LLMCOST_INLINE step_cost_model::step_cost_model(server& server, const scheduling_policy& policy, const host_times& host,
                                                draft_model_config drafts, stage_links links, const step_cost& towers)
    : server_(&server),
      policy_(policy),
      host_(host),
      layers_(static_cast<double>(server.num_layers())),
      draft_model_(drafts),
      links_(std::move(links)),
      encoder_cost_(towers) {}

LLMCOST_INLINE simulated_step_cost step_cost_model::operator()(const step_batch& b, double past) {
    groups_.clear();
    std::int64_t tokens = b.num_decodes * (1 + draft_model_.num_draft_tokens);
    for (const prefill_chunk& c : b.prefills) {
        add(c);
        tokens += c.num_tokens;
    }
    for (step_shape& g : groups_) {
        g.sequence /= g.batch;
        g.past /= g.batch;
    }
    for (step_shape& g : groups_)
        if (g.sequence == 1 && g.past == 0) g.past = 1;  // equal to a decode after one token
    const bool prompts = !groups_.empty();
    const step_shape writing{prompts ? b.num_decodes : padded_batch_size(policy_, b.num_decodes),
                             1 + draft_model_.num_draft_tokens, std::max<std::int64_t>(1, std::llround(past))};
    step_cost cost;
    double issued = 0;
    if (draft_model_.num_draft_tokens == 0) {
        if (b.num_decodes > 0) groups_.push_back(writing);
        cost = server_->prefill_step_model().mixed_batch_cost(groups_);
    } else {
        if (prompts) cost += server_->prefill_step_model().mixed_batch_cost(groups_);
        if (prompts && draft_model_.draft_server != nullptr)
            cost += draft_model_.draft_server->prefill_step_model().mixed_batch_cost(groups_);
        if (b.num_decodes > 0) {
            cost += server_->decode_step_model()(writing.batch, writing.sequence, writing.past);
            if (draft_model_.draft_server != nullptr)
                cost += draft_cost(draft_model_.draft_server->decode_step_model(), draft_model_.kind,
                                   draft_model_.num_draft_tokens, writing);
        }
    }
    if (tokens > policy_.max_cudagraph_size) issued = layers_ * host_.layer_seconds;
    const auto num_encoded = static_cast<double>(b.first_scheduled.size());
    cost.add(encoder_cost_, num_encoded);
    simulated_step_cost p;
    p.first_stage_seconds = host_.overlap * encoder_cost_.seconds * num_encoded;
    p.seconds =
        std::max(host_.overlap * cost.seconds, issued) + host_.step_seconds +
        host_.sequence_seconds * static_cast<double>(b.num_decodes + static_cast<std::int64_t>(b.prefills.size()));
    p.seconds = policy_.prefix_loads == prefix_load_mode::by_layer ? std::max(p.seconds, b.load_seconds)
                                                                   : p.seconds + b.load_seconds;
    p.stage_transfer_time = links_(tokens + (writing.batch - b.num_decodes) * writing.sequence);
    if (server_->target_device().thermal_design_watts > 0)
        p.joules = p.seconds * watts_of(server_->target_device(), cost, p.seconds);
    return p;
}

LLMCOST_INLINE void step_cost_model::add(const prefill_chunk& c) {
    const auto is_similar_length = [](std::int64_t a, std::int64_t b) { return a <= 2 * b + 16 && b <= 2 * a + 16; };
    for (step_shape& g : groups_)
        if (is_similar_length(g.sequence / g.batch, c.num_tokens) &&
            is_similar_length(g.past / g.batch, c.cached_length) && (g.past == 0) == (c.cached_length == 0)) {
            ++g.batch;
            g.sequence += c.num_tokens;
            g.past += c.cached_length;
            return;
        }
    groups_.push_back({1, c.num_tokens, c.cached_length});
}

}  // namespace llmcost
