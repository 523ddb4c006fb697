"""Speed of torch's attention and of vLLM's CPU MLA kernel on the shapes of `benches/attention.rs`.

Prints one JSON object: seconds of the fastest call of each, `null` where a package is missing.

    python tests/python/bench_attention.py --threads 2 --seconds 2
"""

import argparse
import json
import time


def fastest(call, seconds):
    """The fastest of as many calls as fit, at least five, in seconds."""
    call()
    best, calls = float("inf"), 0
    end = time.perf_counter() + seconds
    while calls < 5 or time.perf_counter() < end:
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
        calls += 1
    return best


def gqa(torch, sequences, tokens, heads, kv_heads, dim, seconds):
    """`scaled_dot_product_attention` of one query token a sequence over bfloat16 keys and values.

    The keys are contiguous by head here, as torch prefers them; a paged cache would have to be gathered first. Groups
    are expanded by torch itself, or the group's heads stand as query rows of one KV head: the faster one counts.
    """
    from torch.nn.functional import scaled_dot_product_attention as sdpa

    def normal(*shape):
        return torch.randn(shape, dtype=torch.float32).to(torch.bfloat16)

    k = normal(1, kv_heads, tokens, dim).expand(sequences, -1, -1, -1).contiguous()
    v = normal(1, kv_heads, tokens, dim).expand(sequences, -1, -1, -1).contiguous()
    q = normal(sequences, heads, 1, dim)
    rows = q.view(sequences, kv_heads, heads // kv_heads, dim)
    return {
        "sdpa enable_gqa": fastest(lambda: sdpa(q, k, v, enable_gqa=True), seconds),
        "sdpa group as rows": fastest(lambda: sdpa(rows, k, v), seconds),
    }


def mla(torch, sequences, tokens, heads, rank, rope, seconds):
    """vLLM's decode kernel over a bfloat16 latent cache in blocks of 16."""
    block = 16
    blocks = tokens // block
    cache = torch.randn(blocks, block, rank + rope, dtype=torch.float32).to(torch.bfloat16)
    cache = cache.repeat(sequences, 1, 1)
    table = torch.arange(sequences * blocks, dtype=torch.int32).view(sequences, blocks)
    lens = torch.full((sequences,), tokens, dtype=torch.int32)
    q = torch.randn(sequences, heads, rank + rope, dtype=torch.float32).to(torch.bfloat16)
    out = torch.empty(sequences, heads, rank, dtype=torch.bfloat16)
    scale = (rank + rope) ** -0.5
    kernel = torch.ops._C.mla_decode_kvcache
    return fastest(lambda: kernel(out, q, cache, scale, table, lens), seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--only", choices=["gqa", "mla"])
    args = parser.parse_args()
    results = {"torch": None, "vllm": None, "gqa": None, "mla": {}}
    try:
        import torch
    except ImportError:
        print(json.dumps(results))
        return
    torch.set_num_threads(args.threads)
    torch.manual_seed(1)
    results["torch"] = torch.__version__
    if args.only != "mla":
        results["gqa"] = gqa(torch, 8, 16384, 32, 8, 128, args.seconds)
    if args.only != "gqa":
        try:
            import vllm
            from vllm.platforms import current_platform

            current_platform.import_kernels()
            results["vllm"] = vllm.__version__
            torch.set_num_threads(args.threads)
            for heads in (16, 128):
                results["mla"][str(heads)] = mla(torch, 8, 4096, heads, 512, 64, args.seconds)
        except (ImportError, AttributeError):
            results["mla"] = None
    print(json.dumps(results))


if __name__ == "__main__":
    main()
