"""A folder of the same name each time, for the programs that a test writes.

What Heddle has compiled is found again by the folder as well, because reports name it: in a folder with a new name nvcc compiles every
program again. This one lies in the build folder of $HEDDLE. It is empty at first and is removed at the end. Elsewhere, and while another
process has it, a temporary folder takes its place.
"""
import contextlib
import fcntl
import os
import pathlib
import shutil
import tempfile


class SameFolder(contextlib.AbstractContextManager):
    def __init__(self, name):
        self._lock = self._temporary = None
        build = pathlib.Path(os.environ.get("HEDDLE", "")).resolve().parents[1:2]
        if build and (build[0] / "CMakeCache.txt").exists():
            path = build[0] / "tests/written" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            lock = os.open(path.with_name(f"{name}.lock"), os.O_RDWR | os.O_CREAT, 0o600)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(lock)
            else:
                self._lock = lock
                shutil.rmtree(path, ignore_errors=True)
                path.mkdir(mode=0o700)
        if self._lock is None:
            self._temporary = tempfile.TemporaryDirectory(prefix=f"heddle-{name}-")
            path = pathlib.Path(self._temporary.name)
        self.path = path

    def cleanup(self):
        if self._temporary is not None:
            self._temporary.cleanup()
        else:
            shutil.rmtree(self.path)
            os.close(self._lock)

    def __exit__(self, *_):
        self.cleanup()
