"""Tensor parallelism, which the test sets."""

SIZE, RANK = 1, 0


def get_tensor_model_parallel_world_size() -> int:
    return SIZE


def get_tensor_model_parallel_rank() -> int:
    return RANK
