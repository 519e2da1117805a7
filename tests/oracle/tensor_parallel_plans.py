#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""Writes include/llmcost/distributed/tensor_parallel_plans.hpp from the plans of Transformers.

usage: tensor_parallel_plans.py > include/llmcost/distributed/tensor_parallel_plans.hpp

A plan maps patterns of module and parameter names, relative to the base model, to styles of tensor parallelism:
`base_model_tp_plan` of a configuration class. The head is in `_tp_plan` of the class with a language model head.
"""
import sys

import transformers
from transformers import CONFIG_MAPPING
from transformers.models.auto.modeling_auto import (MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
                                                    MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES)

HEADER = """// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/base/string_ref.hpp>

// Written by tests/oracle/tensor_parallel_plans.py from Transformers {version}.
namespace llmcost {{

// clang-format off
/// How a module or a parameter is divided by tensor parallelism, by the name that Transformers has for it.
///
/// Source: transformers/distributed/tensor_parallel.py, `ALL_PARALLEL_STYLES`.
enum class tensor_parallel_style : std::uint8_t {{
    none, {styles}
}};

/// A rule of a plan: a pattern of module or parameter names, in which `*` is the index of a layer.
struct tensor_parallel_rule {{
    literal pattern;
    tensor_parallel_style style;
}};

"""


def head_style(model_type):
    """The style of the head; none for a class without a plan."""
    name = MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.get(model_type) or MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES.get(model_type)
    if name is None:
        return None
    plan = getattr(getattr(transformers, name), "_tp_plan", None) or {}
    return plan.get("lm_head")


def main():
    plans, types, styles = {}, [], set()
    for model_type in sorted(CONFIG_MAPPING.keys()):
        try:
            plan = getattr(CONFIG_MAPPING[model_type], "base_model_tp_plan", None) or {}
            head = head_style(model_type)
        except Exception as error:  # an optional dependency of a model type
            print(f"{model_type}: {error}", file=sys.stderr)
            continue
        if not plan and head is None:
            continue
        styles.update(plan.values(), [head] if head else [])
        index = plans.setdefault(tuple(sorted(plan.items())), len(plans))
        types.append((model_type, index, head or "none"))
    out = [HEADER.format(version=transformers.__version__, styles=", ".join(sorted(styles)))]
    for plan, index in plans.items():
        rules = ", ".join(f'{{"{p}", tensor_parallel_style::{s}}}' for p, s in plan)
        out.append(f"inline constexpr tensor_parallel_rule tensor_parallel_rules_{index}[]{{{rules or '{}'}}};\n")
    out.append("\n/// The plan of a model type: rules relative to the base model, and the style of the head.\n"
               "struct tensor_parallel_plan {\n    literal model_type;\n    const tensor_parallel_rule* rules;\n"
               "    std::int32_t num_rules;\n    tensor_parallel_style head;\n};\n\n"
               "inline constexpr tensor_parallel_plan tensor_parallel_plans[]{\n")
    sizes = {index: len(plan) for plan, index in plans.items()}
    for model_type, index, head in types:
        out.append(f'    {{"{model_type}", tensor_parallel_rules_{index}, {sizes[index]}, tensor_parallel_style::{head}}},\n')
    out.append("};\n// clang-format on\n\n}  // namespace llmcost\n")
    sys.stdout.write("".join(out))


if __name__ == "__main__":
    main()
