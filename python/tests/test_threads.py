"""The interpreter's lock is released, calls that share memory wait for each other, and children work."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import gaudi_kv
from gaudi_kv import AttentionOptions, Batch, Device, MhaAttention, MhaCache, Scale

ONE = Scale(1.0, 1.0)


def size_that_lasts(run: Callable[[int], None]) -> int:
    """A size with which `run` takes a fifth of a second or more, so that other threads are seen in it."""
    size, seconds = 64, 0.0
    while seconds < 0.2 and size < 4096:
        size *= 2
        start = time.perf_counter()
        run(size)
        seconds = time.perf_counter() - start
    return size


def test_other_threads_run_during_a_call() -> None:
    heads, dim = 4, 64
    attention = MhaAttention(
        Device("gaudi2"), num_heads=heads, num_kv_heads=heads, head_dim=dim, options=AttentionOptions(0.125)
    )

    def prefill(tokens: int) -> None:
        rows = np.full((tokens, heads, dim), 0x3F80, np.uint16)
        attention.prefill(rows, rows, rows, Batch([0, tokens], [tokens]))

    size = size_that_lasts(prefill)
    ticks: list[float] = []
    stop = threading.Event()

    def tick() -> None:
        while not stop.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    watchdog = threading.Thread(target=tick)
    watchdog.start()
    try:
        start = time.perf_counter()
        prefill(size)
        end = time.perf_counter()
    finally:
        stop.set()
        watchdog.join()
    # A call that held the lock would let the other thread in before and after it only.
    margin = (end - start) / 10
    during = [tick for tick in ticks if start + margin < tick < end - margin]
    assert len(during) >= 3, (end - start, len(ticks))


def test_threads_that_share_a_cache_wait_for_each_other() -> None:
    # Two caches in the same tensors: each thread stores rows of its own number everywhere and reads them back in one
    # call each. Rows of one write are never mixed with those of another, which a lock in each cache would not ensure,
    # and every call succeeds, which it would not if one that finds the memory in use were refused.
    # A call takes so long that others run meanwhile.
    key, value = np.zeros((8, 128, 8, 128), np.uint8), np.zeros((8, 128, 8, 128), np.uint8)
    caches = [MhaCache.over(Device("gaudi3"), key, value, k_scale=ONE, v_scale=ONE) for _ in range(2)]
    slots = np.arange(8 * 128)
    mixed: list[str] = []

    def write_and_read(number: int) -> int:
        word = np.float32(2.0**number).view(np.uint32) >> 16
        rows = np.full((8 * 128, 8, 128), word, np.uint16)
        for _ in range(20):
            caches[number % 2].write(rows, rows, slots)
            for plane in caches[(number + 1) % 2].read(slots):
                if plane.min() != plane.max():
                    mixed.append(f"{number}: {plane.min()} to {plane.max()}")
        return number

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(write_and_read, range(4))) == [0, 1, 2, 3]
    assert not mixed


@pytest.mark.parametrize("shared", ["nothing", "what both read", "a tensor of which each has a part"])
def test_calls_that_do_not_disturb_each_other_run_at_the_same_time(shared: str) -> None:
    # Small calls begin and end while a long one runs: one lock for all memory would have them wait for it.
    heads, dim = 4, 64
    attention = MhaAttention(
        Device("gaudi2"), num_heads=heads, num_kv_heads=heads, head_dim=dim, options=AttentionOptions(0.125)
    )
    memory = np.full((4097, heads, dim), 0x3F80, np.uint16)
    x, out = np.zeros((1, heads, dim), np.float32), np.empty((1, heads, dim), np.uint8)

    def prefill(tokens: int) -> None:
        rows = memory[1 : tokens + 1]
        attention.prefill(rows, rows, rows, Batch([0, tokens], [tokens]))

    def small() -> None:
        if shared == "nothing":
            gaudi_kv.quant_fp8(x, 1.0, "gaudi2", out)
        elif shared == "what both read":
            gaudi_kv.quant_fp8(memory[1:2], 1.0, "gaudi2", out)
        else:
            gaudi_kv.round_bf16(x, memory[:1])

    size = size_that_lasts(prefill)
    times: list[float] = []
    with ThreadPoolExecutor(1) as thread:
        start = time.perf_counter()
        long = thread.submit(prefill, size)
        while not long.done():
            small()
            times.append(time.perf_counter())
            time.sleep(0.001)
        end = time.perf_counter()
    margin = (end - start) / 10
    during = [moment for moment in times if start + margin < moment < end - margin]
    assert len(during) >= 3, (end - start, len(times))


def test_large_decodes_end_while_another_thread_writes() -> None:
    # So much work that the threads of the library share each decode, and a writer that waits for the decodes.
    heads, dim, blocks, sequences = 8, 64, 64, 16
    device = Device("gaudi2", mode="fast")
    cache = MhaCache(
        device,
        num_blocks=blocks,
        block_size=16,
        num_kv_heads=heads,
        head_dim=dim,
        kv_cache_dtype="fp8",
        k_scale=ONE,
        v_scale=ONE,
    )
    attention = MhaAttention(
        device, num_heads=heads, num_kv_heads=heads, head_dim=dim, options=AttentionOptions(0.125)
    )
    table = np.tile(np.arange(blocks, dtype=np.int32), (sequences, 1))
    batch = Batch(list(range(sequences + 1)), [1000] * sequences, table)
    q, row = np.zeros((sequences, heads, dim), np.uint16), np.zeros((1, heads, dim), np.uint16)
    over = threading.Event()

    def decode() -> None:
        for _ in range(40):
            attention.decode(cache, q, batch)

    def write() -> None:
        while not over.is_set():
            cache.write(row, row, np.array([0]))

    readers = [threading.Thread(target=decode, daemon=True) for _ in range(4)]
    writer = threading.Thread(target=write, daemon=True)
    deadline = time.monotonic() + 60
    for thread in (writer, *readers):
        thread.start()
    for thread in readers:
        thread.join(max(0.0, deadline - time.monotonic()))
    assert not any(thread.is_alive() for thread in readers), "the decodes wait for each other"
    over.set()
    writer.join(30)
    assert not writer.is_alive()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_forked_child_has_threads_of_its_own() -> None:
    x = np.ones(4, np.float32)
    expected = gaudi_kv.quant_fp8(x, 1.0, "gaudi2").tolist()
    child = os.fork()
    if child == 0:
        os._exit(0 if gaudi_kv.quant_fp8(x, 1.0, "gaudi2").tolist() == expected else 1)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            assert os.waitstatus_to_exitcode(status) == 0
            return
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    pytest.fail("the child hangs")
