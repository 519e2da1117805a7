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

// Written by tests/oracle/tensor_parallel_plans.py from Transformers {version}.
namespace llmcost::detail {{

/// Plans, an empty line, then model types. A plan is a line `pattern=style;...`, or `-` without rules. A model type is a line `name plan head experts`: the
/// index of its plan, the style of the head, and whether Transformers distributes its experts (0 or 1).
///
/// It is one text, because a table of pointers is written when a program starts.
// clang-format off
inline constexpr char tensor_parallel_plans[] =
"""


def head_style(model_type):
    """The style of the head; none for a class without a plan."""
    name = (MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.get(model_type) or
            MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES.get(model_type))
    plan = getattr(getattr(transformers, name), "_tp_plan", None) if name else None
    return (plan or {}).get("lm_head", "none")


def main():
    plans, types = {}, []
    for model_type in sorted(CONFIG_MAPPING.keys()):
        try:
            config = CONFIG_MAPPING[model_type]
            plan = getattr(config, "base_model_tp_plan", None) or {}
            expert_plan = getattr(config, "base_model_ep_plan", None) or {}
            head = head_style(model_type)
        except Exception as error:  # an optional dependency of a model type
            print(f"{model_type}: {error}", file=sys.stderr)
            continue
        if not plan and head == "none" and not expert_plan:
            continue
        index = plans.setdefault(tuple(sorted(plan.items())), len(plans))
        types.append(f"{model_type} {index} {head} {int('ep_dispatch_experts' in expert_plan.values())}")
    lines = [";".join(f"{p}={s}" for p, s in plan) or "-" for plan in plans]
    text = "".join(f'    "{line}\\n"\n' for line in lines + [""] + types)
    sys.stdout.write(HEADER.format(version=transformers.__version__) + text.rstrip("\n") + ";\n")
    sys.stdout.write("// clang-format on\n\n}  // namespace llmcost::detail\n")


if __name__ == "__main__":
    main()
