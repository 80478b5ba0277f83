"""`heddle app.cu` on what students and engineers write when they know CUDA: as test_everything.py, for tests/users/engineers.
One mistake in each program, none of the kinds in tests/users/beginners."""
import pathlib
import unittest

import test_everything

test_everything.PROGRAMS = pathlib.Path(__file__).parent / "engineers"


class Engineers(test_everything.Everything):
    pass


if __name__ == "__main__":
    unittest.main()
