"""What the attention of a transformers model is called with: a forward pass on torch's meta device, recorded.

Tensors have shapes there and no contents, so that a model of any size runs in seconds. Where a model asks for contents
(`item`, `nonzero`), it gets zeros; where a module without attention fails, such as a mixture of experts, its input is
passed on. Neither changes what attention is called with.
"""

import contextlib
import functools
import math
import re

import torch
from torch.overrides import TorchFunctionMode
from transformers import cache_utils, masking_utils
from transformers.modeling_outputs import BaseModelOutput
from transformers.modeling_utils import AttentionInterface

NAME = "recorder"
TOKENS = 5
ATTENTION = re.compile("Attention|Attn")
MULTIPLICATIONS = ("mul", "mul_", "__mul__", "__imul__", "__rmul__", "div", "div_", "__truediv__", "__itruediv__")


class Recorder:
    """Every update of a cache and every call of an attention function, each with the module that makes it."""

    def __init__(self, model):
        self.names = {module: name for name, module in model.named_modules()}
        self.stack, self.calls, self.updates = [], [], []
        self.factors, self.softmaxes = {}, {}

    def module(self):
        """The innermost module that runs."""
        return next((module for module in reversed(self.stack) if module in self.names), None)

    def attend(self, module, query, key, value, attention_mask=None, **arguments):
        """Takes the place of an attention function."""
        module = module if module in self.names else self.module()
        call = {"module": module, "query": query.shape, "key": key.shape, "value": value.shape}
        call |= {name: arguments.get(name) for name in ("scaling", "sliding_window", "softcap")}
        self.calls.append(call | {"cached_by": getattr(key, "cached_by", None)})
        return query.new_empty((query.shape[0], query.shape[2], query.shape[1], value.shape[-1])), None

    def update(self, original, cache, keys, values, layer, *args, **kwargs):
        """Takes the place of a cache's update."""
        entry = {"module": self.module(), "layer": layer, "key": keys.shape, "value": values.shape, "cache": cache}
        self.updates.append(entry)
        try:
            keys, values = original(cache, keys, values, layer, *args, **kwargs)
        except (RuntimeError, TypeError, AttributeError, IndexError):
            entry["refused"] = True
        for tensor in (keys, values):
            if isinstance(tensor, torch.Tensor):
                tensor.cached_by = layer
        return keys, values


class NoContents(TorchFunctionMode):
    """Answers for the contents that tensors do not have, and notes what scores are multiplied with."""

    def __init__(self, recorder):
        super().__init__()
        self.recorder = recorder

    def note(self, name, args, kwargs):
        """Notes the numbers that a module of attention multiplies tensors with before its softmax."""
        modules = [module for module in self.recorder.stack if ATTENTION.search(type(module).__name__)]
        if not modules or (module := modules[-1]) in self.recorder.softmaxes:
            return
        factors = self.recorder.factors.setdefault(module, [])
        if name == "softmax":
            self.recorder.softmaxes[module] = math.prod(factors)
        elif name == "baddbmm":
            factors.append(kwargs.get("alpha", 1.0))
        elif name in MULTIPLICATIONS and isinstance(args[0], torch.Tensor) and isinstance(args[1], (int, float)):
            if args[0].dim() >= 3 and abs(args[1]) < 1e3:
                factors.append(1 / args[1] if "div" in name else args[1])

    def __torch_function__(self, function, types, args=(), kwargs=None):
        name = getattr(function, "__name__", "")
        self.note(name, args, kwargs or {})
        if name in ("item", "__bool__", "__int__", "__float__", "is_nonzero"):
            return {"__bool__": False, "is_nonzero": False}.get(name, 0)
        if name == "tolist":
            return torch.zeros(args[0].shape, device="cpu").tolist()
        if name in ("equal", "allclose"):
            return False
        if name == "nonzero" or (name == "where" and len(args) == 1):
            dims = args[0].dim()
            if name == "where" or (kwargs or {}).get("as_tuple"):
                return tuple(torch.empty(0, dtype=torch.long, device="meta") for _ in range(dims))
            return torch.empty((0, dims), dtype=torch.long, device="meta")
        if name in ("__getitem__", "__setitem__"):
            args = (args[0], without_masks(args[1]), *args[2:])
        return function(*args, **(kwargs or {}))


def without_masks(index):
    """An index into a tensor in which masks choose nothing."""
    items = index if isinstance(index, tuple) else (index,)
    found = []
    for item in items:
        if isinstance(item, torch.Tensor) and item.dtype == torch.bool and item.dim() > 0:
            found += [torch.empty(0, dtype=torch.long, device="meta")] * item.dim()
        else:
            found.append(item)
    return tuple(found) if isinstance(index, tuple) or len(found) != 1 else found[0]


def forgiving(forward):
    """A forward pass that hands its input on where it fails."""

    @functools.wraps(forward)
    def pass_on(*args, **kwargs):
        try:
            return forward(*args, **kwargs)
        except Exception:
            tensors = [x for x in (*args, *kwargs.values()) if isinstance(x, torch.Tensor)]
            if not tensors or "Indexer" in type(forward.__self__).__name__:
                raise
            return tensors[0]

    return pass_on


def prepare(model):
    """Sets a model up for recording."""
    model.eval()
    for name, module in model.named_modules():
        config = getattr(module, "config", None)
        if hasattr(config, "_attn_implementation_internal"):
            config._attn_implementation_internal = NAME
        if type(module).__name__.endswith("Experts"):
            module.forward = lambda hidden_states, *args, **kwargs: hidden_states
        elif name and not any(ATTENTION.search(type(inner).__name__) for inner in module.modules()):
            module.forward = forgiving(module.forward)


@contextlib.contextmanager
def recording(model, with_masks):
    """Records what runs inside, with attention masks or without."""
    recorder = Recorder(model)
    update, init = cache_utils.Cache.update, cache_utils.EncoderDecoderCache.__init__

    def recorded_update(cache, *args, **kwargs):
        args = [*args, *(kwargs.pop(name) for name in ("key_states", "value_states", "layer_idx")[len(args) :])]
        return recorder.update(update, cache, *args, **kwargs)

    def marked_init(cache, *args, **kwargs):
        init(cache, *args, **kwargs)
        cache.cross_attention_cache.is_cross = True

    def after(module, *_):
        while recorder.stack and recorder.stack.pop() is not module:
            pass

    hooks = torch.nn.modules.module
    handles = [
        hooks.register_module_forward_pre_hook(lambda module, _: recorder.stack.append(module)),
        hooks.register_module_forward_hook(after, always_call=True),
    ]
    masks = masking_utils.AttentionMaskInterface._global_mapping
    AttentionInterface._global_mapping[NAME] = recorder.attend
    if with_masks:
        masks[NAME] = masks["eager"]
    cache_utils.Cache.update, cache_utils.EncoderDecoderCache.__init__ = recorded_update, marked_init
    try:
        with torch.no_grad(), torch.device("meta"), NoContents(recorder):
            yield recorder
    finally:
        cache_utils.Cache.update, cache_utils.EncoderDecoderCache.__init__ = update, init
        masks.pop(NAME, None)
        for handle in handles:
            handle.remove()


def hidden_sizes(config):
    """The sizes that the output of an encoder may have."""
    parts = [config, *(getattr(config, key, None) for key in ("encoder", "encoder_config"))]
    parts.append(config.get_text_config(decoder=True))
    sizes = {getattr(part, key, None) for part in parts for key in ("hidden_size", "d_model")}
    return sorted(size for size in sizes if isinstance(size, int))


def attempts(config, model):
    """Modules to run and their arguments: the model, then the parts of it that might run alone."""
    ids = torch.zeros((1, TOKENS), dtype=torch.long, device="meta")
    if config.is_encoder_decoder:
        yield model, {"input_ids": ids, "decoder_input_ids": ids}
        for size in hidden_sizes(config):
            states = torch.empty((1, TOKENS, size), device="meta")
            encoded = BaseModelOutput(last_hidden_state=states)
            yield model, {"encoder_outputs": encoded, "decoder_input_ids": ids}
            if hasattr(model, "get_decoder"):
                yield model.get_decoder(), {"input_ids": ids, "encoder_hidden_states": states}
    else:
        yield model, {"input_ids": ids}
    text = config.get_text_config(decoder=True)
    for streams in {getattr(part, key, None) for part in (config, text) for key in ("num_codebooks", "num_channels")}:
        # Speech has several tokens at a place, those of the text perhaps with them.
        for count in (streams, streams + 1) if streams else ():
            several = torch.zeros((1, TOKENS, count), dtype=torch.long, device="meta")
            is_decoded = config.is_encoder_decoder
            yield model, {"input_ids": ids, "decoder_input_ids": several} if is_decoded else {"input_ids": several}
    configs = (text, getattr(config, "thinker_config", None))
    for module in model.modules():
        if module is not model and hasattr(module, "dtype") and any(module.config is it for it in configs):
            yield module, {"input_ids": ids}


def record(config, model):
    """The recorder of the forward pass that got furthest, and what stopped it, `None` if nothing did."""
    prepare(model)
    best, reason = None, None
    for module, arguments in attempts(config, model):
        for with_masks in (False, True):
            error = None
            with recording(model, with_masks) as recorder:
                try:
                    module(**arguments, use_cache=True)
                except Exception as caught:
                    error = f"{type(caught).__name__}: {caught}".split("\n")[0][:200]
            if best is None or len(recorder.updates) > len(best.updates):
                best, reason = recorder, error
            if error is None and recorder.updates:
                return recorder, None
    return best, reason
