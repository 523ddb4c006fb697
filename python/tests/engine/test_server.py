"""The OpenAI server with an emulated Gaudi."""

from __future__ import annotations

import importlib.util
import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from engines import DATA, environment, needs_vllm

pytestmark = needs_vllm

SERVER = "vllm.entrypoints.openai.api_server"
START_SECONDS = 600


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def post(url: str, **request: Any) -> Any:
    body = json.dumps({"model": "served", "temperature": 0} | request).encode()
    call = urllib.request.Request(f"{url}/v1/completions", body, {"Content-Type": "application/json"})
    return urllib.request.urlopen(call, timeout=300)


@pytest.fixture(scope="module", params=["gqa", "mla"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def url(kind: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    port, log = _free_port(), tmp_path_factory.mktemp("server") / "log"
    command = [sys.executable, "-m", SERVER, "--model", str(DATA / f"llmc-{kind}-kv")]
    command += ["--tokenizer", str(DATA / "tiny-mla"), "--served-model-name", "served", "--port", str(port)]
    command += ["--max-model-len", "512", "--kv-cache-memory-bytes", str(64 << 20), "--enforce-eager"]
    with log.open("w") as out:
        variables = environment(GAUDI_KV_EMULATE="gaudi2")
        server = subprocess.Popen(command, env=variables, stdout=out, stderr=subprocess.STDOUT)
    address = f"http://127.0.0.1:{port}"
    try:
        _wait(server, address, log)
        yield address
    finally:
        server.terminate()
        server.wait(60)


def _wait(server: subprocess.Popen[bytes], address: str, log: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        assert server.poll() is None, log.read_text()[-4000:]
        try:
            urllib.request.urlopen(f"{address}/health", timeout=5)
        except (urllib.error.URLError, TimeoutError):
            time.sleep(0.5)
        else:
            return
    raise AssertionError(log.read_text()[-4000:])


def test_64_requests_at_once(url: str) -> None:
    def ask(number: int) -> str:
        with post(url, prompt=f"And the LORD said unto {'Moses ' * (number % 8)}", max_tokens=24) as answer:
            choice = json.load(answer)["choices"][0]
        assert choice["finish_reason"] == "length"
        return str(choice["text"])

    with ThreadPoolExecutor(64) as pool:
        texts = list(pool.map(ask, range(64)))
    assert all(texts)
    alike = sum(text == texts[number % 8] for number, text in enumerate(texts))
    # Sums in another order may turn a near tie.
    assert alike >= 60


def test_it_streams(url: str) -> None:
    with post(url, prompt="In the beginning", max_tokens=96) as answer:
        whole = json.load(answer)["choices"][0]["text"]
    with post(url, prompt="In the beginning", max_tokens=96, stream=True) as answer:
        lines = [line.decode().strip().removeprefix("data: ") for line in answer if line.strip()]
    assert lines[-1] == "[DONE]"
    parts = [json.loads(line)["choices"][0]["text"] for line in lines[:-1]]
    # A server that comes late puts several tokens into one part.
    assert len(parts) >= 4
    assert "".join(parts) == whole


@pytest.mark.skipif(importlib.util.find_spec("lm_eval") is None, reason="needs lm-eval 0.4")
def test_lm_eval_runs_against_it(url: str, kind: str, tmp_path: Path) -> None:
    """A task of its own over lines of the held-out text."""
    documents = (DATA / "kjv-heldout.txt").read_text().splitlines()[1:17]
    data = tmp_path / "text.jsonl"
    data.write_text("".join(json.dumps({"text": line}) + "\n" for line in documents))
    (tmp_path / "heldout.yaml").write_text(
        "task: heldout\n"
        "dataset_path: json\n"
        f"dataset_kwargs: {{data_files: {{test: {data}}}}}\n"
        "output_type: loglikelihood_rolling\n"
        "test_split: test\n"
        'doc_to_text: ""\n'
        'doc_to_target: "{{text}}"\n'
        "metric_list: [{metric: word_perplexity}]\n"
    )
    arguments = f"model=served,base_url={url}/v1/completions,tokenizer={DATA / 'tiny-mla'}"
    arguments += ",num_concurrent=4,max_length=256"
    command = [sys.executable, "-m", "lm_eval", "--model", "local-completions", "--model_args", arguments]
    command += ["--tasks", "heldout", "--include_path", str(tmp_path), "--output_path", str(tmp_path / "out")]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    (results,) = (tmp_path / "out").rglob("results*.json")
    perplexity = json.loads(results.read_text())["results"]["heldout"]["word_perplexity,none"]
    # What Hugging Face's models say in bf16, with the token for the beginning of a text in front of each line.
    expected = {"gqa": 1988.9, "mla": 2529.2}[kind]
    assert perplexity == pytest.approx(expected, rel=0.02)
