"""A real browser for tests: headless Chromium, driven over HTTP as WebDriver says.

Needs Debian's packages `chromium` and `chromium-driver`.
"""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

IS_INSTALLED = bool(shutil.which("chromium") and shutil.which("chromedriver"))
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
KEYS = {
    "Enter": "\ue007",
    "Escape": "\ue00c",
    "Tab": "\ue004",
    "F2": "\ue032",
    "Delete": "\ue017",
    "Home": "\ue011",
    "End": "\ue010",
    "PageDown": "\ue00f",
    "ArrowUp": "\ue013",
    "ArrowDown": "\ue015",
    "ArrowLeft": "\ue012",
    "ArrowRight": "\ue014",
    "Control": "\ue009",
    "Shift": "\ue008",
    "Alt": "\ue00a",
    "Backspace": "\ue003",
}
# Milliseconds after which a condition that has not come true has failed.
PATIENCE = 60_000


class Browser:
    """One browser with one window, which ends with the block."""

    def __init__(self, profile: Path, width: int = 1280, height: int = 800) -> None:
        self.driver = subprocess.Popen(
            ["chromedriver", "--port=0"], stdout=subprocess.PIPE, text=True
        )
        assert self.driver.stdout
        for line in self.driver.stdout:
            if "started successfully on port" in line:
                port = line.rstrip(". \n").split()[-1]
                self.address = f"http://127.0.0.1:{port}"
                break
        arguments = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--hide-scrollbars",
            "--force-color-profile=srgb",
            f"--user-data-dir={profile}",
            f"--window-size={width},{height}",
        ]
        options = {
            "browserName": "chrome",
            "goog:chromeOptions": {"args": arguments},
            "timeouts": {"script": PATIENCE},
        }
        made = self._send("POST", "/session", {"capabilities": {"alwaysMatch": options}})
        self.session = f"/session/{made['sessionId']}"
        self.resize(width, height)

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._send("DELETE", self.session)
        finally:
            self.driver.terminate()
            self.driver.wait()

    def _send(self, method: str, path: str, body: object | None = None) -> Any:
        request = urllib.request.Request(
            self.address + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(json.load(error)["value"]["message"]) from None

    def _do(self, path: str, **body: object) -> Any:
        return self._send("POST", self.session + path, body)

    def open(self, address: str) -> None:
        self._do("/url", url=address)

    def resize(self, width: int, height: int) -> None:
        """Gives the page a size, whatever a window needs."""
        self.protocol(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def protocol(self, command: str, **parameters: object) -> Any:
        """Sends a command of Chromium's own protocol."""
        return self._do("/goog/cdp/execute", cmd=command, params=parameters)

    def run(self, script: str, *arguments: object) -> Any:
        """The value of an expression of JavaScript, in which arguments are `arguments[0]`..."""
        return self._do("/execute/sync", script=f"return {script}", args=arguments)

    def wait(self, condition: str, *arguments: object) -> Any:
        """Waits until an expression is true, looking at it with each frame; an error, as of an
        element that the page has not made yet, is not true.
        """
        script = """
            const done = arguments[arguments.length - 1];
            const look = () => {
                let found = false;
                try { found = (CONDITION); } catch {}
                if (found) done(found); else requestAnimationFrame(look);
            };
            look();
        """
        try:
            return self._do(
                "/execute/async", script=script.replace("CONDITION", condition), args=arguments
            )
        except AssertionError as error:
            status = self.run("document.getElementById('status')?.textContent")
            raise AssertionError(f"{condition}: {error}; the page says: {status}") from None

    def find(self, selector: str) -> str:
        self.wait("document.querySelector(arguments[0])", selector)
        found = self._do("/element", **{"using": "css selector", "value": selector})
        return found[ELEMENT]

    def click(self, selector: str) -> None:
        """Clicks an element, also if it is drawn anew meanwhile."""
        while True:
            try:
                return self._do(f"/element/{self.find(selector)}/click")
            except AssertionError as error:
                if "stale element" not in str(error):
                    raise

    def write(self, selector: str, text: str) -> None:
        """Replaces the text of a field, as keys do."""
        self.find(selector)
        self.run(
            "(() => { const field = document.querySelector(arguments[0]);"
            " field.focus(); field.select(); })()",
            selector,
        )
        self.press("Backspace", *text)

    def text(self, selector: str) -> str:
        self.find(selector)
        return self.run("document.querySelector(arguments[0]).textContent", selector)

    def press(self, *keys: str) -> None:
        """Presses keys one after the other; `Control+End` holds one down for the next."""
        actions: list[dict] = []
        for key in keys:
            parts = [key] if len(key) == 1 else key.split("+")
            values = [KEYS.get(part, part) for part in parts]
            actions += [{"type": "keyDown", "value": value} for value in values]
            actions += [{"type": "keyUp", "value": value} for value in reversed(values)]
        self._do("/actions", actions=[{"type": "key", "id": "keys", "actions": actions}])

    def type(self, text: str) -> None:
        self.press(*text)

    def picture(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        shot = self._send("GET", self.session + "/screenshot")
        path.write_bytes(base64.b64decode(shot))
