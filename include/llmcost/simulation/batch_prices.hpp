// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include <llmcost/serving/power.hpp>
#include <llmcost/serving/server.hpp>
#include <llmcost/simulation/host_times.hpp>
#include <llmcost/simulation/replica.hpp>

namespace llmcost {

/// Tokens that a smaller model proposes for each sequence in a step.
struct proposal {
    std::int64_t tokens = 0;
    server* by = nullptr;  ///< the model that writes them one after the other; null: at no cost
};

/// What steps of a model on a device take under an engine.
///
/// Sequences that write are taken as all as long as their mean, prompts of about one length as so many of their mean.
/// Steps run the captured graph of the next size where there is one, in pieces around attention where there are prompts
/// (vLLM, v1/cudagraph_dispatcher.py); of more tokens than the largest has the host issues layer by layer, and the device
/// waits for it where that takes longer. What a prompt shows is seen in the first step that computes any of it, on the first
/// stage (vLLM, v1/worker/gpu_model_runner.py, `_execute_mm_encoder`).
class batch_prices {
public:
    batch_prices(server& of, const scheduling_policy& policy, const host_times& host, proposal drafts = {},
                 stage_links links = {}, const step_cost& towers = {})
        : of_(&of),
          policy_(policy),
          host_(host),
          layers_(static_cast<double>(of.layers())),
          drafts_(drafts),
          links_(std::move(links)),
          towers_(towers) {}

    [[nodiscard]] step_price operator()(const step_batch& b, double past) {
        groups_.clear();
        std::int64_t tokens = b.writing * (1 + drafts_.tokens);
        for (const prompt_chunk& c : b.prompts) add(c), tokens += c.tokens;
        for (walked_at& g : groups_) g.sequence /= g.batch, g.past /= g.batch;
        for (walked_at& g : groups_)
            if (g.sequence == 1 && g.past == 0) g.past = 1;  // as one that writes behind a token
        const bool prompts = !groups_.empty();
        const walked_at writing{prompts ? b.writing : padded(policy_, b.writing), 1 + drafts_.tokens,
                                std::max<std::int64_t>(1, std::llround(past))};
        step_cost cost;
        double issued = 0;
        if (drafts_.tokens == 0) {
            if (b.writing > 0) groups_.push_back(writing);
            cost = of_->steps().together(groups_);
        } else {
            if (prompts) cost += of_->steps().together(groups_);
            if (prompts && drafts_.by != nullptr) cost += drafts_.by->steps().together(groups_);
            if (b.writing > 0) {
                cost += of_->decoding_steps()(writing.batch, writing.sequence, writing.past);
                if (drafts_.by != nullptr) {
                    const step_cost one = drafts_.by->decoding_steps()(writing.batch, 1, writing.past);
                    cost.add(one, static_cast<double>(drafts_.tokens));
                }
            }
        }
        if (tokens > policy_.largest_graph) issued = layers_ * host_.layer_seconds;
        const auto shown = static_cast<double>(b.begun.size());
        cost.add(towers_, shown);
        step_price p;
        p.in_first = host_.overlap * towers_.seconds * shown;
        p.seconds = std::max(host_.overlap * cost.seconds, issued) + host_.step_seconds +
                    host_.sequence_seconds * static_cast<double>(b.writing + static_cast<std::int64_t>(b.prompts.size()));
        p.sent = links_(tokens + (writing.batch - b.writing) * writing.sequence);
        if (of_->on().watts > 0) p.joules = p.seconds * watts_of(of_->on(), cost, p.seconds);
        return p;
    }

private:
    /// Puts a prompt beside others that are at most twice as long, or half as long, behind as many tokens; lengths are summed.
    void add(const prompt_chunk& c) {
        const auto alike = [](std::int64_t a, std::int64_t b) { return a <= 2 * b + 16 && b <= 2 * a + 16; };
        for (walked_at& g : groups_)
            if (alike(g.sequence / g.batch, c.tokens) && alike(g.past / g.batch, c.past) && (g.past == 0) == (c.past == 0)) {
                ++g.batch, g.sequence += c.tokens, g.past += c.past;
                return;
            }
        groups_.push_back({1, c.tokens, c.past});
    }

    server* of_;
    scheduling_policy policy_;
    host_times host_;
    double layers_;
    proposal drafts_;
    stage_links links_;
    step_cost towers_;  ///< of what a prompt shows
    std::vector<walked_at> groups_;
};

}  // namespace llmcost
