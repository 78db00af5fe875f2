# SPDX-License-Identifier: BSD-3-Clause
"""Hypothesis profiles and the tables that many tests share.

HYPOTHESIS_PROFILE chooses how hard the property tests look: "quick" while working, "ci" (default),
"thorough" before a release. `pytest -m campaign` runs the campaigns alone, LONG times as long as they are among the
other tests, and `pytest -m slow` the simulations in full.
"""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

slow_is_fine = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("quick", max_examples=15, **slow_is_fine)
settings.register_profile("ci", max_examples=60, print_blob=True, **slow_is_fine)
settings.register_profile("thorough", max_examples=2000, **slow_is_fine)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

# A shell's background jobs ignore Ctrl-C, and would hand that on to the processes that tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


LONG_MARKERS = ("campaign", "slow")
LONG = 100  # times the ordinary length of a campaign
LONG_SECONDS = 4 * 3600


def is_long(config: pytest.Config) -> bool:
    return config.getoption("markexpr") in LONG_MARKERS


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items if is_long(config) else ():
        if any(map(item.get_closest_marker, LONG_MARKERS)):
            item.add_marker(pytest.mark.timeout(LONG_SECONDS), append=False)


@pytest.fixture
def length(request: pytest.FixtureRequest) -> int:
    """How many times as long as among the other tests a campaign shall be."""
    return LONG if is_long(request.config) else 1


def pytest_configure(config: pytest.Config) -> None:
    """Every process of a run as on another processor makes sure that it is one, workers too."""
    if "FASTTREE_PROCESSOR" in os.environ:
        from as_other_processors import check

        check()


@pytest.fixture(scope="session")
def numeric_table() -> tuple[np.ndarray, np.ndarray]:
    """3,000 x 6 numbers: three smooth columns, two with ties and a constant one; three classes."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(3000, 6)).astype(np.float32).astype(np.float64)  # float32 can hold it
    X[:, 3] = np.round(X[:, 3] * 8) / 8
    X[:, 4] = rng.integers(0, 4, 3000)
    X[:, 5] = 1.5
    noise = rng.normal(scale=0.5, size=3000)
    y = np.digitize(X[:, 0] + X[:, 1] * (X[:, 4] - 1) + noise, [-0.5, 0.8])
    return X, y


@pytest.fixture(scope="session")
def big_table() -> tuple[np.ndarray, np.ndarray]:
    """60,000 x 10: enough work that several threads take part."""
    rng = np.random.default_rng(11)
    X = rng.normal(size=(60_000, 10))
    X[:, 7] = rng.integers(0, 200, 60_000)
    X[:, 8] = rng.integers(0, 3, 60_000)
    y = (X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(scale=0.7, size=60_000) > 0).astype(int)
    return X, y
