#!/usr/bin/env python3
"""What vLLM takes from a configuration: counts and sizes of heads, whether its cache is MLA's, and its draft model.

    python3 tests/oracle/engine_configs.py            write tests/data/model-types/engine.jsonl anew
    python3 tests/oracle/engine_configs.py --check    exit 1 if that is not what would be written

Runs in the environment of `just vllm`. One JSON object a line, sorted by `model_type`: one for every class of
configuration that vLLM brings itself, one for every model of transformers whose architecture vLLM registers, both at
their defaults, that is for a config.json of {"model_type", "architectures"}; after them the registered architectures
that have neither, in one line. The classes of transformers are those of the version that vLLM has there.

- `model_type`, `architectures`: as the config names them; `class`, and `own` where it is a class of vLLM.
- `text_model_type`: the model type of the text decoder's part.
- `num_hidden_layers`, `num_heads`, `num_kv_heads`, `head_size`, `mla`: what vLLM's convertor for the model type says.
  `head_size` of MLA is that of the latent with its rope part.
- `draft`: where `--speculative-config '{"method": "mtp"}'` makes a draft model of the config: its `model_type`,
  `architectures` and `n_predict`, the number of its layers, which is null where the config must name one.
- `defaults`: of a class of vLLM, the defaults of the keys that concern attention, as in
  src/checkpoint/model_types.jsonl.
- `reason_absent`: why the class could not be made or read; `draft_refused`: why it makes no draft.
- `architectures_without_configuration`: of the last line. Those of them that make a draft come before it, without
  a `model_type`.
"""

import copy
import inspect
import json
import os
import sys
from pathlib import Path

os.environ["VLLM_LOGGING_LEVEL"] = "ERROR"
os.environ["TRANSFORMERS_VERBOSITY"] = "critical"
os.environ["HF_HUB_OFFLINE"] = "1"

import transformers
import vllm.config
from model_types import field_defaults, is_wanted, plain
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from vllm.config.speculative import SpeculativeConfig
from vllm.model_executor.models import registry
from vllm.transformers_utils import model_arch_config_convertor as convertors
from vllm.transformers_utils.config import _CONFIG_REGISTRY, get_hf_text_config

TESTS = Path(__file__).resolve().parent.parent
OUT = TESTS / "data/model-types/engine.jsonl"
KNOWN = TESTS.parent / "src/checkpoint/model_types.jsonl"
TABLE = TESTS.parent / "src/checkpoint/engine_model_types.jsonl"


def defaults(cls):
    """The defaults that a class declares, in its fields or in the arguments of its initializer."""
    found = field_defaults(cls)
    for name, parameter in inspect.signature(cls.__init__).parameters.items():
        if is_wanted(name) and parameter.default is not inspect.Parameter.empty:
            if (value := plain(parameter.default)) is not None:
                found[name] = value
    return found


def registered():
    """Registered architectures of language models, by model type; those of no known model type under None."""
    names = {**registry._TEXT_GENERATION_MODELS, **registry._MULTIMODAL_MODELS, **registry._SPECULATIVE_DECODING_MODELS}
    found = {}
    for name in sorted(names):
        config_class = getattr(getattr(transformers, name, None), "config_class", None)
        found.setdefault(getattr(config_class, "model_type", None), []).append(name)
    return found


def draft(config):
    """The draft model that vLLM makes of a config, None where it makes none."""
    before = (config.model_type, list(config.architectures))
    made = SpeculativeConfig.hf_config_override(copy.deepcopy(config))
    if (made.model_type, list(made.architectures)) == before:
        return None
    n_predict = getattr(made, "n_predict", None)
    return {"model_type": made.model_type, "architectures": list(made.architectures), "n_predict": n_predict}


def facts(model_type, cls, architectures):
    """The line of a model type."""
    line = {"model_type": model_type, "class": cls.__name__}
    if architectures:
        line["architectures"] = architectures
    if cls.__module__.startswith("vllm."):
        line |= {"own": True, "defaults": defaults(cls)}
    try:
        config = cls()
        config.model_type, config.architectures = model_type, architectures[:1] or ["none"]
        text = get_hf_text_config(config)
        base = convertors.ModelArchConfigConvertorBase
        convertor = convertors.MODEL_ARCH_CONFIG_CONVERTORS.get(model_type, base)(config, text)
        if convertor.get_per_layer_hf_configs() is not None:
            arch = convertor.convert()
            line |= {"num_heads": arch.total_num_attention_heads, "num_kv_heads": arch.total_num_kv_heads}
            line |= {"head_size": arch.head_size, "num_hidden_layers": arch.total_num_hidden_layers}
        else:
            line |= {"num_heads": convertor.get_total_num_attention_heads()}
            line |= {"num_kv_heads": convertor.get_total_num_kv_heads(), "head_size": convertor.get_head_size()}
            line |= {"num_hidden_layers": convertor.get_num_hidden_layers()}
        line["mla"] = convertor.is_deepseek_mla()
        line["text_model_type"] = text.model_type
    except Exception as error:
        line["reason_absent"] = f"{type(error).__name__}: {error}".split("\n")[0][:160]
        return line
    try:
        line["draft"] = draft(config)
    except Exception as error:
        line["draft_refused"] = f"{type(error).__name__}: {error}".split("\n")[0][:160]
    return {key: plain(value) for key, value in line.items() if plain(value) is not None}


def unknown_drafts(architectures):
    """The lines of architectures without a configuration that have drafts nevertheless."""
    for architecture in architectures:
        config = transformers.PreTrainedConfig(architectures=[architecture])
        config.model_type = "unknown"
        try:
            made = draft(config)
        except Exception as error:
            yield {"architectures": [architecture], "draft_refused": f"{type(error).__name__}: {error}"[:160]}
            continue
        if made is not None:
            yield {"architectures": [architecture], "draft": made}


def table(lines):
    """The classes of vLLM that transformers does not have, in the form of src/checkpoint/model_types.jsonl."""
    known = {json.loads(line).get("model_type") for line in KNOWN.read_text().splitlines()}
    for line in lines:
        if not line.get("own") or line["model_type"] in known:
            continue
        entry = {key: line[key] for key in ("class", "model_type")}
        if line.get("defaults"):
            entry["defaults"] = line["defaults"]
        if line.get("text_model_type", line["model_type"]) != line["model_type"]:
            entry["text"] = {"key": "text_config", "model_type": line["text_model_type"]}
        yield entry


def main():
    architectures = registered()
    classes = {key: CONFIG_MAPPING[key] for key in architectures if key in CONFIG_MAPPING}
    classes |= {key: _CONFIG_REGISTRY[key] for key in _CONFIG_REGISTRY}
    lines = [facts(key, classes[key], architectures.get(key, [])) for key in sorted(classes)]
    lines += unknown_drafts(architectures[None])
    lines.append({"architectures_without_configuration": architectures[None]})
    for path, content in ((OUT, lines), (TABLE, table(lines))):
        text = "".join(json.dumps(line, sort_keys=True, separators=(",", ":")) + "\n" for line in content)
        if "--check" not in sys.argv:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            sys.exit(f"{path.name} is not what this vLLM says: run tests/oracle/engine_configs.py")


if __name__ == "__main__":
    main()
