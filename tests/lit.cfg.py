# lit configuration for tests/{pass,fail,…}: each .cu or .ptx file says by itself what must happen.
import os
import sys

sys.path.insert(0, os.path.dirname(__file__))
from uitest import UiTest

here = os.path.dirname(os.path.abspath(__file__))
config.name = "heddle"
config.test_source_root = os.path.join(here, "ui")
config.test_exec_root = os.environ.get("HEDDLE_LIT_OUTPUT", os.path.join(here, "..", "build", "lit"))
config.test_format = UiTest()
config.suffixes = [".cu"]
config.excludes = ["inputs"]
config.heddle = os.environ.get("HEDDLE", os.path.join(here, "..", "heddle"))
