// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The headers of Windows without their macros whose names are words. Empty on other systems.
#ifdef _WIN32
#ifndef NOMINMAX
#define NOMINMAX
#endif
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <winsock2.h>

#include <windows.h>
#undef near
#undef far
#undef small
#undef interface
#undef ERROR
#undef IN
#undef OUT
#undef DELETE
#undef OPTIONAL
#endif
