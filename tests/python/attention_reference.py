"""Attention by other implementations, for tests/attention_reference.rs.

    attention_reference.py sdpa|mla [--probe]

Reads a JSON list of cases from stdin and writes a JSON list of their outputs to stdout, bfloat16 numbers in order.
"sdpa" is torch's scaled_dot_product_attention, "mla" is vLLM's MLA decode kernel for CPUs. Ends with code 77 and the
reason on stdout where the package is missing; "--probe" does only that.

A case of "sdpa": {"q": [queries, heads, dim], "k": [keys, kv_heads, dim], "v": [keys, kv_heads, value_dim],
"scale": .., "window": null or a number, "slopes": null or one for each head}, the tensors as flat lists with "heads" and
"kv_heads". A case of "mla": {"query": [sequences, heads, 576], "cache": [blocks, 16, 576], "heads": .., "scale": ..,
"block_table": [sequences, blocks], "seq_lens": [sequences]}.
"""

import json
import os
import sys

UNAVAILABLE = 77


def sdpa(torch, case):
    def tensor(name, heads):
        rows = torch.tensor(case[name], dtype=torch.bfloat16)
        return rows.view(case["queries" if name == "q" else "keys"], heads, -1).transpose(0, 1).unsqueeze(0)

    q, k, v = tensor("q", case["heads"]), tensor("k", case["kv_heads"]), tensor("v", case["kv_heads"])
    queries, keys = q.shape[2], k.shape[2]
    distance = torch.arange(keys - queries, keys).unsqueeze(1) - torch.arange(keys).unsqueeze(0)
    seen = distance >= 0
    if case["window"] is not None:
        seen &= distance < case["window"]
    if case["slopes"] is None:
        mask = seen
    else:
        slopes = torch.tensor(case["slopes"]).view(1, -1, 1, 1)
        mask = torch.where(seen, -slopes * distance, -torch.inf).to(torch.bfloat16)
    out = torch.nn.functional.scaled_dot_product_attention(
        q, k, v, attn_mask=mask, scale=case["scale"], enable_gqa=True
    )
    return out.squeeze(0).transpose(0, 1).float().flatten().tolist()


def mla(torch, case):
    sequences = len(case["seq_lens"])
    query = torch.tensor(case["query"], dtype=torch.bfloat16).view(sequences, case["heads"], 576)
    cache = torch.tensor(case["cache"], dtype=torch.bfloat16).view(-1, 16, 576)
    block_table = torch.tensor(case["block_table"], dtype=torch.int32).view(sequences, -1)
    seq_lens = torch.tensor(case["seq_lens"], dtype=torch.int32)
    out = torch.zeros(sequences, case["heads"], 512, dtype=torch.bfloat16)
    torch.ops._C.mla_decode_kvcache(out, query, cache, case["scale"], block_table, seq_lens)
    return out.float().flatten().tolist()


def main():
    kind = sys.argv[1]
    os.environ["VLLM_NO_USAGE_STATS"] = "1"
    os.environ["VLLM_LOGGING_LEVEL"] = "ERROR"
    # What packages print while they are imported is not the answer.
    answer, sys.stdout = sys.stdout, sys.stderr
    try:
        import torch

        if kind == "mla":
            import vllm._custom_ops  # noqa: F401 (registers the kernels)

            torch.ops._C.mla_decode_kvcache  # noqa: B018
    except (ImportError, AttributeError, RuntimeError) as error:
        print(f"{type(error).__name__}: {error}", file=answer)
        return UNAVAILABLE
    if "--probe" not in sys.argv:
        run = {"sdpa": sdpa, "mla": mla}[kind]
        json.dump([run(torch, case) for case in json.load(sys.stdin)], answer)
    return 0


if __name__ == "__main__":
    sys.exit(main())
