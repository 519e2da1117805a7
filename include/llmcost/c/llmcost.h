/* SPDX-FileCopyrightText: 2026 The llmcost authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of llmcost as C functions, for programs in other languages: the library llmcost_c. */
#ifndef LLMCOST_C_LLMCOST_H
#define LLMCOST_C_LLMCOST_H

#include <stddef.h>

#include "arrow.h"

#if defined(_WIN32)
#define LLMCOST_C_API __declspec(dllexport)
#else
#define LLMCOST_C_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** The output of one command line. */
typedef struct llmcost_result llmcost_result;

/** The version, e.g. "1.0.0". */
LLMCOST_C_API const char* llmcost_version(void);

/** Sets the directory of the calibrations that were installed with the library. Call it before the first command. */
LLMCOST_C_API void llmcost_set_calibrations(const char* directory);

/**
 * Runs a command line without the program name, e.g. {"memory", "--model", "openai-community/gpt2", "--format",
 * "json"}.
 *
 * `input` is its standard input, which `--config -` reads. It is not null-terminated and may be null if it is empty.
 * Several threads may call this function. Returns null if there is no memory for the result; free it with llmcost_free.
 */
LLMCOST_C_API llmcost_result* llmcost_run(size_t count, const char* const* arguments, const char* input,
                                          size_t input_size);

/** The exit code of a result, as the program returns it (docs/cli.md). */
LLMCOST_C_API int llmcost_exit_code(const llmcost_result* result);

/** The standard output of a result, null-terminated; its number of bytes in `size`, unless that is null. */
LLMCOST_C_API const char* llmcost_output(const llmcost_result* result, size_t* size);

/** The warnings and errors of a result, one per line, null-terminated. */
LLMCOST_C_API const char* llmcost_messages(const llmcost_result* result, size_t* size);

LLMCOST_C_API void llmcost_free(llmcost_result* result);

/**
 * Runs the command `sweep` with these options and writes its rows to an Arrow stream, which computes them in batches.
 *
 * Columns: those of the CSV output. `name` and `device` are dictionaries. Counts are int64, or decimal128 where the
 * largest one has more bits. Without an error, the exit code is 0, and `out` must be released.
 */
LLMCOST_C_API llmcost_result* llmcost_sweep(size_t count, const char* const* arguments, const char* input,
                                            size_t input_size, struct ArrowArrayStream* out);

/** Runs a command line with the streams of this process, as the program does; returns the exit code. */
LLMCOST_C_API int llmcost_main(size_t count, const char* const* arguments);

#ifdef __cplusplus
}
#endif

#endif
