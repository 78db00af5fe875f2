# SPDX-License-Identifier: BSD-3-Clause
"""A headless Chromium that does as chromedriver is told (W3C WebDriver over HTTP), without further libraries."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
DRIVER = shutil.which("chromedriver")
OPTIONS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND",  # no network, even by mistake
]


class Browser:
    def __init__(self, address: str, session: str) -> None:
        self.base = f"{address}/session/{session}"

    def open(self, page: Path, width: int = 1280, height: int = 900, dark: bool = False) -> None:
        self.command(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=width < 600,
        )  # fmt: skip
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.command("Emulation.setEmulatedMedia", features=[scheme])
        _call("POST", f"{self.base}/url", {"url": page.resolve().as_uri()})

    def command(self, name: str, **params: Any) -> Any:
        """Of the protocol of the developer tools."""
        return _call("POST", f"{self.base}/goog/cdp/execute", {"cmd": name, "params": params})

    def run(self, script: str) -> Any:
        """The value of a script's `return`."""
        return _call("POST", f"{self.base}/execute/sync", {"script": script, "args": []})

    def log(self, kind: str) -> list[dict[str, Any]]:
        """What has come since it was last asked: "browser" (the console) or "performance" (requests among them)."""
        return _call("POST", f"{self.base}/se/log", {"type": kind})

    def requests(self) -> list[str]:
        """All addresses that were asked for."""
        messages = [json.loads(entry["message"])["message"] for entry in self.log("performance")]
        return [
            message["params"]["request"]["url"]
            for message in messages
            if message["method"] == "Network.requestWillBeSent"
        ]

    def picture(self) -> bytes:
        """PNG of the whole page."""
        shot = self.command("Page.captureScreenshot", captureBeyondViewport=True)
        return base64.b64decode(shot["data"])


@contextmanager
def browser() -> Iterator[Browser]:
    assert DRIVER is not None
    assert CHROMIUM is not None
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        driver = subprocess.Popen(
            [DRIVER, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        try:
            address = f"http://127.0.0.1:{_port(driver)}"
            arguments = [*OPTIONS, f"--user-data-dir={profile}"]
            wanted = {
                "goog:chromeOptions": {"binary": CHROMIUM, "args": arguments},
                "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
            }
            session = _call("POST", f"{address}/session", {"capabilities": {"alwaysMatch": wanted}})
            own = Browser(address, session["sessionId"])
            try:
                yield own
            finally:
                with suppress(OSError):
                    _call("DELETE", own.base)
        finally:
            driver.terminate()
            driver.wait(20)
            if driver.stdout:
                driver.stdout.close()


def _port(driver: subprocess.Popen[str]) -> int:
    """chromedriver takes a free one and says so."""
    assert driver.stdout is not None
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        line = driver.stdout.readline()
        if "on port" in line and "successfully" in line:
            return int(line.rstrip(".\n").rsplit(" ", 1)[1])
        if not line:
            break
    raise RuntimeError("chromedriver did not start")


def _call(method: str, url: str, body: dict[str, Any] | None = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)["value"]
    except urllib.error.HTTPError as error:
        raise RuntimeError(error.read().decode()[:2000]) from None
