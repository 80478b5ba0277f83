"""pytest --heddle: each test in a process of its own under `heddle run`, with a report of its own.

    pytest --heddle tests/                      # starts itself again as: heddle run -m pytest …
    pytest --heddle --heddle-sarif=out.sarif tests/
    @pytest.mark.heddle_races                   # this test also looks for data races
    @pytest.mark.heddle_skip("needs a real GPU")

A test in which Heddle finds a defect fails, and the report of the test is Heddle's. What Heddle does not
implement skips the test with that reason.
"""
import os
import shutil
import subprocess
import sys
import tempfile

import pytest

_INSIDE = "HEDDLE_PYTEST_INSIDE"
_DEFECT, _UNSUPPORTED = 1, 3


def pytest_addoption(parser):
    group = parser.getgroup("heddle")
    group.addoption("--heddle", action="store_true", help="run each test under Heddle, without a GPU")
    group.addoption("--heddle-sarif", metavar="FILE", help="all findings, with the test in each")
    group.addoption("--heddle-options", metavar="TEXT", default="", help="options of `heddle run` for all tests")


def pytest_configure(config):
    config.addinivalue_line("markers", "heddle_races: the test also looks for data races (heddle run --races)")
    config.addinivalue_line("markers", "heddle_skip(reason): not under Heddle")
    if config.getoption("--heddle") and _INSIDE not in os.environ:
        if shutil.which("heddle") is None:
            raise pytest.UsageError("--heddle: there is no `heddle` on PATH")
        config.pluginmanager.register(_Runner(config), "heddle-runner")


def pytest_collection_modifyitems(config, items):
    if not config.getoption("--heddle") and _INSIDE not in os.environ:
        return
    for item in items:
        mark = item.get_closest_marker("heddle_skip")
        if mark is not None:
            reason = mark.args[0] if mark.args else mark.kwargs.get("reason", "not under Heddle")
            item.add_marker(pytest.mark.skip(reason=reason))


class _Runner:
    """Collects here, where nothing calls CUDA, and runs each test in a process of Heddle's."""

    def __init__(self, config):
        self._config = config
        self._runs = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item, nextitem):
        if any(mark.name == "skip" for mark in item.iter_markers()):
            return None
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        for report in self._reports(item):
            item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    def pytest_sessionfinish(self, session):
        target = self._config.getoption("--heddle-sarif")
        if target:
            _write_sarif(target, self._runs)

    def _reports(self, item):
        with tempfile.TemporaryDirectory() as folder:
            sarif = os.path.join(folder, "report.sarif")
            races = ["--races"] if item.get_closest_marker("heddle_races") else []
            command = ["heddle", "run", *races, *self._config.getoption("--heddle-options").split(),
                       "--format=sarif", "-o", sarif, "-m", "pytest", "-q", "-p", "no:cacheprovider",
                       "--no-header", "-rs", item.nodeid]
            done = subprocess.run(command, cwd=self._config.rootpath, env=dict(os.environ, **{_INSIDE: "1"}),
                                  capture_output=True, text=True)
            if os.path.exists(sarif):
                with open(sarif, encoding="utf-8") as file:
                    self._runs.append((item.nodeid, file.read()))
        said = done.stdout + done.stderr
        if done.returncode == _UNSUPPORTED:
            text = next((line for line in said.splitlines() if "unsupported" in line), "Heddle does not implement it")
            outcome, longrepr = "skipped", (str(item.path), (item.location[1] or 0) + 1, f"Skipped: {text}")
        elif done.returncode != 0:
            outcome, longrepr = "failed", f"in {item.nodeid}, under Heddle (exit code {done.returncode}):\n{said}"
        elif " skipped" in done.stdout and " passed" not in done.stdout:
            text = next((line for line in said.splitlines() if line.startswith("SKIPPED")), "skipped")
            outcome, longrepr = "skipped", (str(item.path), (item.location[1] or 0) + 1, text)
        else:
            outcome, longrepr = "passed", None
        for when in ("setup", "call", "teardown"):
            called = when == "call"
            yield pytest.TestReport(nodeid=item.nodeid, location=item.location, keywords={}, when=when,
                                    outcome=outcome if called else "passed", longrepr=longrepr if called else None)


def _write_sarif(target, runs):
    import json

    whole = None
    for nodeid, text in runs:
        report = json.loads(text)
        for run in report.get("runs", []):
            for result in run.get("results", []):
                result["message"]["text"] = f"{nodeid}: {result['message']['text']}"
                result.setdefault("properties", {})["test"] = nodeid
        if whole is None:
            whole = report
        else:
            whole["runs"].extend(report.get("runs", []))
    if whole is None:
        whole = {"version": "2.1.0", "runs": []}
    with open(target, "w", encoding="utf-8") as file:
        json.dump(whole, file, indent=1)
    sys.stderr.write(f"heddle: {len(runs)} reports in {target}\n")
