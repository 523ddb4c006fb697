"""Native fp8."""

from typing import Any

import torch
import vllm_gaudi.extension.ops as hpu_ops
from vllm.model_executor.layers.quantization import fp8
from vllm.model_executor.layers.quantization.fp8 import Fp8LinearMethod as OrigFp8LinearMethod
from vllm.model_executor.layers.quantization.fp8 import Fp8MoEMethod
from vllm_gaudi.ops.hpu_fused_moe import select_experts_from_routed


class Fp8LinearMethod(OrigFp8LinearMethod):
    def create_weights(self, *args: Any, **kwargs: Any) -> None:
        if hpu_ops.is_hpu_gaudi2:
            kwargs["weight_loader"] = hpu_ops.gaudi_weight_wrapper(kwargs.get("weight_loader"))
        super().create_weights(*args, **kwargs)


class HPUFp8MoEMethod(Fp8MoEMethod):
    def process_weights_after_loading(self, layer: Any) -> None:
        layer.is_processed = True

    def apply_monolithic(self, layer: Any, x: Any, router_logits: Any, **kwargs: Any) -> Any:
        topk_weights, topk_ids = select_experts_from_routed(layer, x, router_logits)
        return layer.moe_op(x, topk_ids.to(torch.int64), topk_weights.to(x.dtype))


fp8.Fp8LinearMethod = Fp8LinearMethod
fp8.Fp8MoEMethod = HPUFp8MoEMethod
