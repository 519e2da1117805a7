# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""From a config.json to a model without memory: eager attention, evaluation mode, tensors on the meta device."""
import torch
import transformers
from transformers import AutoConfig, PretrainedConfig
from transformers.integrations.moe import ALL_EXPERTS_FUNCTIONS
from transformers.models.auto import modeling_auto
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

# Where `architectures` names no class, the first of these that knows the type.
AUTO_CLASSES = ("AutoModelForCausalLM", "AutoModelForSeq2SeqLM", "AutoModelForMaskedLM", "AutoModelForImageTextToText",
                "AutoModelForImageClassification", "AutoModelForSpeechSeq2Seq", "AutoModelForCTC", "AutoModel")


def all_rows_experts(module, hidden_states, top_k_index, top_k_weights):
    """The eager loop over experts as one pass over tokens x top-k rows.

    Every token meets the same number of experts of the same shape, so all rows may use the weights of expert 0: the
    same work on the same number of elements, without shapes that depend on data.
    """
    tokens, top_k = top_k_index.shape[0], top_k_index.shape[-1]
    token = torch.arange(tokens, device=hidden_states.device).repeat_interleave(top_k)
    choice = torch.arange(top_k, device=hidden_states.device).repeat(tokens)

    def project(rows, name):
        weight = getattr(module, name)[0]
        bias = getattr(module, name + "_bias")[0] if module.has_bias else None
        if not module.is_transposed:
            return torch.nn.functional.linear(rows, weight, bias)
        product = rows @ weight
        return product if bias is None else product + bias

    rows = hidden_states[token]
    if module.has_gate:
        rows = module._apply_gate(project(rows, "gate_up_proj"))
    else:
        rows = module.act_fn(project(rows, "up_proj"))
    rows = project(rows, "down_proj")
    if getattr(module, "has_post_expert_norm", False):
        rows = module.post_expert_norm(rows)
    rows = rows * top_k_weights[token, choice, None]
    return torch.zeros_like(hidden_states).index_add_(0, token, rows.to(hidden_states.dtype))


def prepare_transformers():
    """Register the experts, and skip the search for packed sequences: it reads values, and a plain batch has none."""
    transformers.logging.set_verbosity_error()
    ALL_EXPERTS_FUNCTIONS.register("all_rows", all_rows_experts)
    transformers.masking_utils.find_packed_sequence_indices = lambda position_ids: None


def choose_implementations(config, seen=None):
    """Eager attention and the experts above, in a configuration and all that it contains."""
    seen = set() if seen is None else seen
    if id(config) in seen or not isinstance(config, PretrainedConfig):
        return
    seen.add(id(config))
    config._attn_implementation = "eager"
    config._experts_implementation = "all_rows"
    for part in list(vars(config).values()):
        choose_implementations(part, seen)


def read_configuration(values, dtype=torch.float32):
    """A configuration object from the keys of a config.json; quantisation and remote code are left out."""
    values = {k: v for k, v in values.items() if k not in ("quantization_config", "auto_map")}
    model_type = values.get("model_type")
    if model_type in CONFIG_MAPPING:
        config = CONFIG_MAPPING[model_type].from_dict(values)
    else:
        config = AutoConfig.for_model(**values)
    choose_implementations(config)
    for part in [config, *vars(config).values()]:
        if isinstance(part, PretrainedConfig):
            part.dtype = dtype
    return config


def model_class(config, architecture=None):
    """The class asked for or named by the configuration, where Transformers has it; else the first automatic one."""
    for name in [architecture, *(config.architectures or [])]:
        found = getattr(transformers, name or "", None)
        if isinstance(found, type):
            return found
    for name in AUTO_CLASSES:
        mapping = getattr(modeling_auto, name)._model_mapping
        if type(config) in mapping.keys():
            found = mapping[type(config)]
            return found[0] if isinstance(found, tuple) else found
    raise SystemExit(f"no model class for the type {config.model_type!r}")


def constructed(chosen, config):
    make = getattr(chosen, "_from_config", None)
    return make(config, attn_implementation="eager") if make else chosen(config)


def build(config, architecture=None):
    """The model on the meta device."""
    chosen = model_class(config, architecture)
    with torch.device("meta"):
        model = constructed(chosen, config)
    model.eval()
    for module in model.modules():
        choose_implementations(getattr(module, "config", None))
    model.tie_weights()
    return model


def with_random_weights(model):
    """The same model with values, on the CPU: for forward passes that read them. Integers are those that its class makes."""
    with transformers.initialization.no_init_weights():
        made = dict(constructed(type(model), model.config).named_buffers())
    model = model.to_empty(device="cpu")
    for tensor in model.parameters():
        torch.nn.init.normal_(tensor.data, std=0.02)
    for name, tensor in model.named_buffers():
        if tensor.is_floating_point():
            torch.nn.init.normal_(tensor.data, std=0.02)
        else:
            tensor.data.copy_(made[name])
    model.tie_weights()  # which the move has undone
    return model
