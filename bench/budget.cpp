// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// budget [--megabytes N] [--instantiations N] [--seconds N] -- COMMAND...
//
// Runs a command ten times. Its peak memory, and the templates that g++ names under -Q, are gated: they are stable.
// The shortest time is printed next to its target and gates nothing: it varies.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

struct measured {
    double seconds = 0;
    double megabytes = 0;
    std::string printed;
};

measured run_once(char** command) {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) throw std::runtime_error("no pipe");
    const auto start = std::chrono::steady_clock::now();
    const pid_t child = fork();
    if (child < 0) throw std::runtime_error("no process");
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        execvp(command[0], command);
        _exit(127);
    }
    close(ends[1]);
    measured m;
    std::array<char, 65536> buffer{};
    for (ssize_t n = 0; (n = read(ends[0], buffer.data(), buffer.size())) > 0;)
        m.printed.append(buffer.data(), static_cast<std::size_t>(n));
    close(ends[0]);
    int status = 0;
    rusage use{};
    if (wait4(child, &status, 0, &use) != child) throw std::runtime_error("lost the process");
    m.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    // of the largest process below the child: a compiler's driver is smaller than the compiler
    m.megabytes = static_cast<double>(use.ru_maxrss) * 1024 / 1e6;  // the unit is KiB
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) throw std::runtime_error("the command failed:\n" + m.printed);
    return m;
}

std::size_t occurrences(std::string_view text, std::string_view name) {
    std::size_t n = 0;
    for (std::size_t position = 0; (position = text.find(name, position)) != std::string_view::npos;
         position += name.size())
        ++n;
    return n;
}

/// Prints a figure next to its limit; returns whether it is within it.
bool check_budget(const char* label, double figure, double limit, bool gated) {
    const bool good = limit == 0 || figure <= limit;
    std::printf("%-16s %10.4g", label, figure);
    if (limit != 0)
        std::printf("   %s %.4g%s", gated ? "limit" : "aim", limit, good ? "" : gated ? "   EXCEEDED" : "   missed");
    std::printf("\n");
    return good || !gated;
}

int checked(int argc, char** argv) {
    double megabytes = 0, instantiations = 0, seconds = 0;
    int i = 1;
    for (; i + 1 < argc && std::string_view(argv[i]) != "--"; i += 2) {
        const std::string_view name = argv[i];
        double* const limit = name == "--megabytes"        ? &megabytes
                              : name == "--instantiations" ? &instantiations
                              : name == "--seconds"        ? &seconds
                                                           : nullptr;
        if (limit == nullptr) throw std::runtime_error("no such limit: " + std::string(name));
        *limit = std::strtod(argv[i + 1], nullptr);
    }
    if (i + 1 >= argc) throw std::runtime_error("no command");
    measured minimum = run_once(argv + i + 1);
    for (int repetition = 0; repetition < 9; ++repetition) {
        const measured sample = run_once(argv + i + 1);
        minimum.seconds = std::min(minimum.seconds, sample.seconds);
        minimum.megabytes = std::min(minimum.megabytes, sample.megabytes);
    }
    bool good = check_budget("peak megabytes", minimum.megabytes, megabytes, true);
    if (instantiations != 0) {
        const std::size_t named = occurrences(minimum.printed, "[with ");
        if (named == 0) throw std::runtime_error("the compiler named no template; is -Q among its options?");
        good = check_budget("instantiations", static_cast<double>(named), instantiations, true) && good;
    }
    (void)check_budget("seconds", minimum.seconds, seconds, false);
    return good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return checked(argc, argv);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "budget: %s\n", e.what());
        return 2;
    }
}
