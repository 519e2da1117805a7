// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// Who is in each step, against what the engines' own schedulers did with the same requests
// (tests/oracle/schedulers.py).
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <llmcost/simulation/scheduler.hpp>

namespace {

using llmcost::request_progress;
using llmcost::scheduling_policy;
using llmcost::step_batch;

struct scripted_requests {
    scheduling_policy policy{};
    std::int64_t pages = 0;
    std::vector<llmcost::simulated_request> requests{};  ///< `at`: the call of the scheduler that they come before
};

/// `key=value` and `call:input+output`.
scripted_requests read(const std::string& line) {
    scripted_requests s;
    std::istringstream line_stream(line);
    for (std::string name; line_stream >> name;) {
        if (const auto equal = name.find('='); equal != std::string::npos) {
            const std::string key = name.substr(0, equal);
            const std::int64_t value = std::stoll(name.substr(equal + 1));
            if (key == "ahead") s.policy.num_async_steps = value;
            if (key == "budget") s.policy.max_num_batched_tokens = value;
            if (key == "sequences") s.policy.max_num_seqs = value;
            if (key == "prompts") s.policy.max_prefill_tokens = value;
            if (key == "block") s.policy.page_size = value;
            if (key == "chunked") s.policy.has_chunked_prefill = value != 0;
            if (key == "mixed") s.policy.has_mixed_chunk = value != 0;
            if (key == "ends" && value != 0) {
                s.policy.has_known_finish_times = true;
                s.policy.init_new_token_ratio = s.policy.min_new_token_ratio = 1;
            }
            if (key == "pages") s.pages = value;
            continue;
        }
        if (name.find(':') == std::string::npos) {
            for (const scheduling_policy& p : llmcost::scheduling_policies)
                if (p.engine == name.c_str()) s.policy = p;
            s.policy.has_prefix_cache = false;
            continue;
        }
        char sign = 0;
        llmcost::simulated_request r;
        std::istringstream(name) >> r.arrival_seconds >> sign >> r.input_tokens >> sign >> r.output_tokens;
        s.requests.push_back(r);
    }
    return s;
}

/// Steps, and how often each follows itself.
class step_list {
public:
    void add(const std::string& step, std::int64_t times = 1) {
        if (!steps_.empty() && steps_.back().first == step)
            steps_.back().second += times;
        else
            steps_.emplace_back(step, times);
    }
    [[nodiscard]] std::string text() {
        if (!steps_.empty() && steps_.back().first == "-") steps_.pop_back();
        std::string all;
        for (const auto& [step, times] : steps_) {
            if (!all.empty()) all += " | ";
            all += step;
            if (times > 1) all += " x" + std::to_string(times);
        }
        return all;
    }

private:
    std::vector<std::pair<std::string, std::int64_t>> steps_;
};

std::string format_step(const step_batch& batch, const std::vector<request_progress>& previous,
                        const std::vector<request_progress>& current) {
    std::string text;
    const auto add = [&](const std::string& name) { text += (text.empty() ? "" : " ") + name; };
    for (std::size_t i = 0; i < current.size(); ++i)
        if (current[i].num_preemptions > previous[i].num_preemptions) add("!" + std::to_string(i));
    if (batch.num_steps == 0) return text.empty() ? "-" : text;
    std::int64_t writing = 0, tokens = 0, of_prompts = 0;
    for (const llmcost::prefill_chunk& c : batch.prefills) of_prompts += c.num_tokens;
    for (std::size_t i = 0; i < current.size(); ++i) {
        const bool is_preempted = current[i].num_preemptions > previous[i].num_preemptions;
        if (!is_preempted && current[i].num_computed_tokens > previous[i].num_computed_tokens) {
            add(std::to_string(i) + "=" +
                std::to_string(current[i].num_computed_tokens - previous[i].num_computed_tokens));
            tokens += current[i].num_computed_tokens - previous[i].num_computed_tokens;
        } else if (!is_preempted && previous[i].state == llmcost::request_state::decoding && batch.num_decodes > 0) {
            add(std::to_string(i));
            ++writing;
        }
    }
    CHECK(writing == batch.num_decodes);
    CHECK(tokens == of_prompts);
    return text;
}

/// Runs a script; `alone`: each step by itself where several are alike.
std::string played(const scripted_requests& s, bool is_stepwise) {
    std::vector<request_progress> progress(s.requests.size());
    llmcost::scheduler engine(s.policy, s.pages, 1, {s.requests, progress});
    step_list steps;
    step_batch previous_batch;
    std::size_t answered = 0;
    for (std::int64_t call = 0; answered < s.requests.size() && call < 10000;) {
        double next = 1e9;
        for (std::size_t i = 0; i < s.requests.size(); ++i) {
            if (s.requests[i].arrival_seconds == static_cast<double>(call))
                engine.add_request(i, s.requests[i].arrival_seconds);
            if (s.requests[i].arrival_seconds > static_cast<double>(call))
                next = std::min(next, s.requests[i].arrival_seconds);
        }
        const std::vector<request_progress> was = progress;
        step_batch& now = engine.schedule(static_cast<double>(call));
        const std::int64_t max_steps =
            is_stepwise ? 1 : std::max<std::int64_t>(1, static_cast<std::int64_t>(next) - call);
        if (now.num_steps > max_steps) engine.truncate(now, max_steps);
        std::string step = format_step(now, was, progress);
        steps.add(step);
        if (now.num_steps > 1) {
            while (step[0] == '!') step.erase(0, step.find(' ') + 1);
            steps.add(step, now.num_steps - 1);
        }
        call += std::max<std::int64_t>(1, now.num_steps);
        const step_batch composed = now;
        if (s.policy.num_async_steps > 0) {
            engine.free_finished(previous_batch.finished);
            answered += previous_batch.finished.size();
        }  // behind the next step
        previous_batch = composed;
        if (s.policy.num_async_steps == 0) {
            engine.free_finished(previous_batch.finished);
            answered += previous_batch.finished.size();
        }
    }
    return steps.text();
}

}  // namespace

TEST_CASE("steps are composed as the engines' own schedulers compose them") {
    std::ifstream file(LLMCOST_TEST_DIR "/simulation/schedulers.txt");
    REQUIRE(file);
    int scenarios = 0;
    std::string name, script;
    for (std::string line; std::getline(file, line);) {
        if (line.rfind("scenario ", 0) == 0) name = line.substr(9);
        if (line.rfind("  asks ", 0) == 0) script = line.substr(7);
        if (line.rfind("  steps ", 0) != 0) continue;
        INFO(name, ": ", script);
        ++scenarios;
        CHECK(played(read(script), true) == line.substr(8));
        CHECK(played(read(script), false) == line.substr(8));
    }
    CHECK(scenarios > 80);
}
