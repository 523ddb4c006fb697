"""Prints what is replaced in vllm-gaudi and vLLM, as a table in Markdown."""

from __future__ import annotations

from gaudi_kv.vllm_gaudi.patches import markdown

print(markdown())
