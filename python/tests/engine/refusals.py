"""Asks vLLM for engines that are refused and prints what it says, a line of JSON for each.

`refusals.py CASES`: a JSON list of arguments of `vllm.EngineArgs`.
"""

from __future__ import annotations

import json
import sys


def main() -> None:
    from vllm import EngineArgs

    for case in json.loads(sys.argv[1]):
        try:
            config = EngineArgs(**case).create_engine_config()
            answer = f"accepted with {config.cache_config.cache_dtype}, {config.compilation_config.custom_ops}"
        except Exception as error:  # noqa: BLE001
            answer = f"{type(error).__name__}: {error}"
        print("ANSWERED", json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
