// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/feature_extractor.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/audio.hpp>

// Front end of encoders of raw samples: strided convolutions and convolutional positions.
namespace llmcost::arch {}  // namespace llmcost::arch
