"""vllm-gaudi."""


def register_ops() -> None:
    """What vllm-gaudi's own entry point does: the modules replace attributes of vLLM's when they are imported."""
    import vllm_gaudi.ops.hpu_compressed_tensors
    import vllm_gaudi.ops.hpu_fp8
    import vllm_gaudi.ops.hpu_fused_moe
    import vllm_gaudi.ops.hpu_modelopt  # noqa: F401
