// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// Counts the machine instructions of an evaluation by stepping through a child process, and compares them with limits.
// Unlike times they are equal on every run. Returns 77 where processes may not be traced.
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <llmcost/analysis/evaluator.hpp>
#include <llmcost/bundled/all.hpp>
#include <llmcost/custom/custom_model.hpp>
#include <llmcost/json.hpp>
#include <llmcost/llmcost.hpp>

#include "registry.hpp"

namespace {

using namespace llmcost;

/// Instructions of a call, in a copy of this process; -1 where stepping is not allowed.
template <class Call>
long instructions_of(const Call& call) {
    const pid_t child = fork();
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(1);
        (void)std::raise(SIGSTOP);
        call();
        _exit(0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) return -1;
    long steps = 0;
    for (; WIFSTOPPED(status); ++steps)
        if (ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr) != 0 || waitpid(child, &status, 0) != child) return -1;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? steps : -1;
}

model model_named(std::string_view name) {
    const bundled_config* bundled = find_bundled(name);
    return parts::registry.read(parse_config(bundled->json, std::string(name)).root());
}

volatile std::uint64_t sink = 0;
bool good = true;

/// Compares a call with its limit; it is made once before, so that functions are bound and caches of regions filled.
template <class Call>
void hold(const char* label, long limit, const Call& call) {
    call();
    const long overhead = instructions_of([] {});
    const long steps = instructions_of(call) - overhead;
    if (overhead < 0 || steps < 0) {
        std::printf("processes may not be traced here\n");
        std::exit(77);
    }
    std::printf("%-40s %8ld   limit %ld%s\n", label, steps, limit, steps > limit ? "   EXCEEDED" : "");
    good = good && steps <= limit;
}

}  // namespace

// Limits are a tenth above what g++ 12 makes at -O2: about 8 instructions are a nanosecond.
int main() {
    const model llama = model_named("meta-llama/Llama-3.2-1B");
    const workload load{.batch = 16, .sequence = 200};
    hold("a trace", 45'100, [&] { sink = count_model(llama, load).add.to_64(); });

    cost_evaluator figures_at(llama);
    hold("an evaluation, all figures", 3'000, [&] { sink = figures_at(load).add.to_64(); });

    // a file's model is to take no more than 2 µs, too
    const config_document file = read_config_file(LLMCOST_TEST_DIR "/../configs/models/llama.json");
    const custom_model custom_llama(file.root());
    cost_evaluator custom_evaluator(custom_llama.as_model());
    hold("an evaluation of a described Llama", 3'000, [&] { sink = custom_evaluator(load).add.to_64(); });

    const closed_form form(llama, load);
    hold("a closed form in its region, one figure", 115, [&] { sink = form.flops(load).to_64(); });

    const std::string_view text = find_bundled("meta-llama/Llama-3.2-1B")->json;
    hold("reading a configuration", 74'500, [&] {
        sink = static_cast<std::uint64_t>(parts::registry.read(parse_config(text, "").root()).config.vocab_size);
    });
    return good ? 0 : 1;
}
