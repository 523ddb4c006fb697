"""Loggers."""

import logging
from typing import Any


def init_logger(name: str) -> Any:
    return logging.getLogger(name)
