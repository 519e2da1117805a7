// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// Who is in each step, against what the engines' own schedulers did with the same requests (tests/oracle/schedulers.py).
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
    std::istringstream words(line);
    for (std::string word; words >> word;) {
        if (const auto equal = word.find('='); equal != std::string::npos) {
            const std::string key = word.substr(0, equal);
            const std::int64_t value = std::stoll(word.substr(equal + 1));
            if (key == "ahead") s.policy.steps_ahead = value;
            if (key == "budget") s.policy.tokens_per_step = value;
            if (key == "sequences") s.policy.sequences = value;
            if (key == "prompts") s.policy.prompt_tokens = value;
            if (key == "block") s.policy.block = value;
            if (key == "chunked") s.policy.chunked = value != 0;
            if (key == "mixed") s.policy.mixes_chunks = value != 0;
            if (key == "ends" && value != 0)
                s.policy.knows_ends = true, s.policy.output_share = s.policy.least_output_share = 1;
            if (key == "pages") s.pages = value;
            continue;
        }
        if (word.find(':') == std::string::npos) {
            for (const scheduling_policy& p : llmcost::scheduling_policies)
                if (p.engine == word.c_str()) s.policy = p;
            s.policy.caches_prefixes = false;
            continue;
        }
        char sign = 0;
        llmcost::simulated_request r;
        std::istringstream(word) >> r.at >> sign >> r.input >> sign >> r.output;
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

std::string who(const step_batch& batch, const std::vector<request_progress>& before,
                const std::vector<request_progress>& after) {
    std::string text;
    const auto add = [&](const std::string& word) { text += (text.empty() ? "" : " ") + word; };
    for (std::size_t i = 0; i < after.size(); ++i)
        if (after[i].preempted > before[i].preempted) add("!" + std::to_string(i));
    if (batch.steps == 0) return text.empty() ? "-" : text;
    std::int64_t writing = 0, tokens = 0, of_prompts = 0;
    for (const llmcost::prompt_chunk& c : batch.prompts) of_prompts += c.tokens;
    for (std::size_t i = 0; i < after.size(); ++i) {
        const bool given_away = after[i].preempted > before[i].preempted;
        if (!given_away && after[i].computed > before[i].computed) {
            add(std::to_string(i) + "=" + std::to_string(after[i].computed - before[i].computed));
            tokens += after[i].computed - before[i].computed;
        } else if (!given_away && before[i].at == request_progress::place::writes && batch.writing > 0) {
            add(std::to_string(i)), ++writing;
        }
    }
    CHECK(writing == batch.writing);
    CHECK(tokens == of_prompts);
    return text;
}

/// Runs a script; `alone`: each step by itself where several are alike.
std::string played(const scripted_requests& s, bool alone) {
    std::vector<request_progress> progress(s.requests.size());
    llmcost::scheduler engine(s.policy, s.pages, 1, s.requests, progress);
    step_list steps;
    step_batch before;
    std::size_t answered = 0;
    for (std::int64_t call = 0; answered < s.requests.size() && call < 10000;) {
        double next = 1e9;
        for (std::size_t i = 0; i < s.requests.size(); ++i) {
            if (s.requests[i].at == static_cast<double>(call)) engine.arrive(i, s.requests[i].at);
            if (s.requests[i].at > static_cast<double>(call)) next = std::min(next, s.requests[i].at);
        }
        const std::vector<request_progress> was = progress;
        step_batch& now = engine.compose(static_cast<double>(call));
        const std::int64_t until = alone ? 1 : std::max<std::int64_t>(1, static_cast<std::int64_t>(next) - call);
        if (now.steps > until) engine.cut(now, until);
        std::string step = who(now, was, progress);
        steps.add(step);
        if (now.steps > 1) {
            while (step[0] == '!') step.erase(0, step.find(' ') + 1);
            steps.add(step, now.steps - 1);
        }
        call += std::max<std::int64_t>(1, now.steps);
        const step_batch composed = now;
        if (s.policy.steps_ahead > 0) engine.release(before.ended), answered += before.ended.size();  // behind the next step
        before = composed;
        if (s.policy.steps_ahead == 0) engine.release(before.ended), answered += before.ended.size();
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
