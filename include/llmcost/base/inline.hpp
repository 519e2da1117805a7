// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Definitions in impl/*.ipp are inline by default, so that the library is header-only. A program that compiles each
// .ipp once defines LLMCOST_COMPILED for all its sources: headers then only declare.
#ifdef LLMCOST_COMPILED
#define LLMCOST_INLINE
#else
#define LLMCOST_INLINE inline
#endif
