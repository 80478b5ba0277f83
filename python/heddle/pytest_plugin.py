"""pytest --heddle: each test in a process of its own under `heddle run`, with a report of its own.

    pytest --heddle tests/                      # collects under Heddle, too: heddle run -m pytest …
    pytest --heddle --heddle-sarif=out.sarif tests/
    @pytest.mark.heddle_races                   # this test also looks for data races
    @pytest.mark.heddle_skip("needs a real GPU")

A test in which Heddle finds a defect fails, and the report of the test is Heddle's. What Heddle does not
implement skips the test with that reason.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

import pytest

from heddle import _sarif

_ROLE = "HEDDLE_PYTEST"  # what this process of Heddle's does: "collect", "test"; unset: it is not Heddle's
_BEFORE = "HEDDLE_PYTEST_ENVIRONMENT"  # the environment before Heddle's
_UNSUPPORTED = 3
# Options that concern the process that collects; True: a value follows.
_ONCE = {"--heddle": False, "--heddle-sarif": True, "--heddle-options": True, "--junitxml": True, "--junit-xml": True,
         "-n": True, "--numprocesses": True, "--lf": False, "--last-failed": False, "--ff": False,
         "--failed-first": False}


def pytest_addoption(parser):
    group = parser.getgroup("heddle")
    group.addoption("--heddle", action="store_true", help="run each test under Heddle, without a GPU")
    group.addoption("--heddle-sarif", metavar="FILE", help="all findings, with the test in each")
    group.addoption("--heddle-options", metavar="TEXT", default="", help="options of `heddle run` for all tests")


@pytest.hookimpl(hookwrapper=True, tryfirst=True)  # as pytest 7 has it, too
def pytest_load_initial_conftests(early_config):
    """Before any file of the project is imported, and before pytest takes the output: those may need CUDA."""
    if early_config.known_args_namespace.heddle and _ROLE not in os.environ:
        if shutil.which("heddle") is None:
            raise pytest.UsageError("--heddle: there is no `heddle` on PATH")
        path = os.path.dirname(sys.executable) + os.pathsep + os.environ.get("PATH", "")
        before = dict(os.environ, PATH=path)
        sys.stdout.flush()
        os.execvpe("heddle", ["heddle", "run", "-m", "pytest", *map(str, early_config.invocation_params.args)],
                   dict(before, **{_ROLE: "collect", _BEFORE: json.dumps(before)}))
    yield


def pytest_configure(config):
    config.addinivalue_line("markers", "heddle_races: the test also looks for data races (heddle run --races)")
    config.addinivalue_line("markers", "heddle_skip(reason): not under Heddle")
    if os.environ.get(_ROLE) == "collect":
        config.pluginmanager.register(_Runner(config), "heddle-runner")


def pytest_collection_modifyitems(config, items):
    if _ROLE not in os.environ:
        return
    for item in items:
        mark = item.get_closest_marker("heddle_skip")
        if mark is not None:
            reason = mark.args[0] if mark.args else mark.kwargs.get("reason", "not under Heddle")
            item.add_marker(pytest.mark.skip(reason=reason))


class _Runner:
    """Collects here, and runs each test in a process of its own."""

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

    def _arguments(self, item):
        """What pytest was called with, for this test alone."""
        config = self._config
        given = list(map(str, config.invocation_params.args))
        for name in config.option.file_or_dir:
            if name in given:  # and not of addopts
                given.remove(name)
        rest = []
        words = iter(given)
        for word in words:
            name = word.partition("=")[0]
            if name in _ONCE:
                if name == word and _ONCE[name]:
                    next(words, None)
            else:
                rest.append(word)
        inifile = ["-c", str(config.inipath)] if config.inipath else []
        return [*rest, "-q", "-rs", "--no-header", "-p", "no:cacheprovider", *inifile, f"--rootdir={config.rootpath}",
                f"{item.path}::{item.nodeid.partition('::')[2]}"]

    def _reports(self, item):
        with tempfile.TemporaryDirectory() as folder:
            sarif = os.path.join(folder, "report.sarif")
            races = ["--races"] if item.get_closest_marker("heddle_races") else []
            command = ["heddle", "run", *races, *self._config.getoption("--heddle-options").split(),
                       "--format=sarif", "-o", sarif, "-m", "pytest", *self._arguments(item)]
            environment = dict(json.loads(os.environ[_BEFORE]), **{_ROLE: "test"})
            begin = time.time()
            done = subprocess.run(command, cwd=self._config.invocation_params.dir, env=environment,
                                  capture_output=True, text=True)
            end = time.time()
            if os.path.exists(sarif):
                with open(sarif, encoding="utf-8") as file:
                    self._runs.append((item.nodeid, file.read()))
        said = done.stdout + done.stderr
        missing = next((line for line in said.splitlines() if "unsupported" in line), None)
        if done.returncode == _UNSUPPORTED and missing:  # 3 is an error of pytest's own, too
            text = missing
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
                                    outcome=outcome if called else "passed", longrepr=longrepr if called else None,
                                    duration=end - begin if called else 0, start=begin, stop=end)


def _write_sarif(target, runs):
    with open(target, "w", encoding="utf-8") as file:
        json.dump(_sarif.merged(runs), file, indent=1)
    sys.stderr.write(f"heddle: findings of {len(runs)} tests in {target}\n")
