"""The pages of `--html` in a real browser, and the trace events of `replay --perfetto`."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

HEDDLE = os.environ["HEDDLE"]
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
GALLERY = ROOT / "examples" / "gallery"
# Text that must stay text.
HOSTILE = """// </script><script>document.title = "broken"</script> <img src=x onerror=alert(1)>
__device__ volatile int flag;  // <!-- </textarea> &amp; "quotes" \\u003c
__global__ void wait_for_next_block() {
  if (blockIdx.x == 0) {
    while (flag == 0) {
    }
  } else {
    flag = 1;
  }
}
int main() {
  wait_for_next_block<<<2, 1>>>();
  return cudaDeviceSynchronize();
}
"""
PHONE = {"width": 360, "height": 740}
WIDE = {"width": 1200, "height": 900}


def browser_or_reason():
    """(start(), "") or (None, why there is no browser)."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None, "playwright of tools/python-requirements.txt is not installed"
    program = shutil.which("chromium")
    if program is None:
        return None, "there is no chromium (Debian package chromium)"
    return (lambda: (sync_playwright(), program)), ""


START, REASON = browser_or_reason()


def heddle(*words, expect=None):
    done = subprocess.run([HEDDLE, *map(str, words)], capture_output=True, text=True, timeout=300, cwd=ROOT)
    if expect is not None and done.returncode != expect:
        raise AssertionError(f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.hang = cls.folder / "hang.html"
        cls.hang_json = json.loads(
            heddle("check", "--format=json", "--html", cls.hang, GALLERY / "grid_barrier.cu", expect=1)
        )
        cls.schedule = cls.hang_json["findings"][0]["replay"]

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def data_of(self, page):
        text = page.read_text()
        begin = text.index('id="data">') + len('id="data">')
        return json.loads(text[begin : text.index("</script>", begin)])

    def test_the_page_has_what_json_says(self):
        data = self.data_of(self.hang)
        del self.hang_json["seconds"]
        self.assertEqual(data["report"], self.hang_json)
        trace = data["traces"][0]
        self.assertEqual(trace["end"], "loop")
        # The count of arrived blocks: the block that runs adds one and then reads it again and again.
        loop = trace["steps"][trace["loop_from"] :]
        read = [access for step in loop for access in step["memory"]]
        self.assertTrue(read and all(a["value"] == "1" and not a["write"] for a in read), read)
        self.assertIn("reads 1", loop[0]["note"])
        roles = {node["role"] for node in data["report"]["findings"][0]["waits"]["nodes"]}
        self.assertEqual(roles, {"runs", "left", "waits"})

    def test_the_same_page_each_time(self):
        again = self.folder / "again.html"
        heddle("check", "--html", again, GALLERY / "grid_barrier.cu", expect=1)
        # The path of the program is the same, and so is everything else.
        self.assertEqual(self.data_of(again), self.data_of(self.hang))

    def test_perfetto(self):
        """As the trace-event format asks: metadata that names tracks, complete events with ts and dur."""
        file = self.folder / "trace.json"
        heddle("replay", "--perfetto", file, self.schedule, expect=1)
        trace = json.loads(file.read_text())
        self.assertIn(trace["displayTimeUnit"], ("ms", "ns"))
        tracks, last = set(), {}
        for event in trace["traceEvents"]:
            self.assertIsInstance(event["pid"], int)
            self.assertIsInstance(event["tid"], int)
            self.assertIsInstance(event["name"], str)
            if event["ph"] == "M":
                self.assertIn(event["name"], ("process_name", "thread_name"))
                tracks.add((event["pid"], event["tid"]))
                continue
            self.assertEqual(event["ph"], "X")
            self.assertGreaterEqual(event["ts"], 0)
            self.assertGreater(event["dur"], 0)
            track = (event["pid"], event["tid"])
            self.assertIn(track, tracks)
            self.assertGreaterEqual(event["ts"], last.get(track, 0), "slices of a track do not overlap")
            last[track] = event["ts"] + event["dur"]

    def test_replay_writes_a_page_and_refuses_an_impossible_file(self):
        page = self.folder / "replay.html"
        heddle("replay", "--html", page, self.schedule, expect=1)
        self.assertEqual(self.data_of(page)["report"]["verdict"], "loop")
        heddle("replay", "--html", self.folder / "none" / "x.html", self.schedule, expect=2)

    def test_each_flag_has_a_heading(self):
        for command in ("run", "check", "replay"):
            plain = re.search(r"^Options:\n(.*?)\n\n", heddle(command, "--help", expect=0), re.M | re.S).group(1)
            self.assertEqual(re.findall(r"^ +(-\S+)", plain, re.M), ["-h,--help", "--help-all"], command)

    def test_help_all_has_what_help_leaves_out(self):
        self.assertNotIn("--no-symmetry", heddle("check", "--help", expect=0))
        everything = heddle("check", "--help-all", expect=0)
        self.assertIn("--no-symmetry", everything)
        self.assertIn("What is assumed:", everything)


@unittest.skipIf(START is None, REASON)
class InABrowser(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.pages = {}
        hostile = cls.folder / "hostile.cu"
        hostile.write_text(HOSTILE)
        for name, words in {
            "hang": ["check", GALLERY / "grid_barrier.cu"],
            "locks": ["check", GALLERY / "lock_order.cu"],
            "race": ["run", "--races", GALLERY / "missing_barrier.cu"],
            "hostile": ["check", hostile],
        }.items():
            cls.pages[name] = cls.folder / f"{name}.html"
            heddle(words[0], "--html", cls.pages[name], *words[1:], expect=1)
        playwright, program = START()
        cls.playwright = playwright.start()
        # Without a sandbox of its own: CI runs as root.
        cls.browser = cls.playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.playwright.stop()
        shutil.rmtree(cls.folder)

    def open(self, name, fragment="", size=None):
        context = self.browser.new_context(viewport=size or WIDE, offline=True)
        self.addCleanup(context.close)
        page = context.new_page()
        self.problems = []
        page.on("console", lambda message: self.problems.append(message.text))
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("request", lambda request: request.url.startswith("file:") or self.problems.append(request.url))
        page.goto(self.pages[name].as_uri() + fragment)
        return page

    def test_opens_and_steps_by_buttons_and_keys(self):
        page = self.open("hang")
        self.assertEqual(page.inner_text("#verdict"), "It may hang.")
        self.assertIn("step 1 of ", page.inner_text("#count"))
        self.assertTrue(page.locator("#back").is_disabled())
        page.click("#forward")
        self.assertIn("step 2 of ", page.inner_text("#count"))
        page.keyboard.press("ArrowRight")
        self.assertIn("step 3 of ", page.inner_text("#count"))
        page.keyboard.press("ArrowLeft")
        self.assertIn("step 2 of ", page.inner_text("#count"))
        self.assertTrue(page.url.endswith("#step=2"))
        page.click("#last")
        here = page.inner_text("#source .line.here")
        self.assertIn("while (count.load()", here)
        self.assertTrue(page.locator("#timeline .loop [aria-current=true]").count() == 1)
        # Behind the last step comes the first one of the loop, for ever.
        page.click("#forward")
        self.assertEqual(page.locator("#timeline .loop [aria-current=true]").count(), 1)
        self.assertEqual(self.problems, [])

    def test_memory_shows_values_at_each_step(self):
        page = self.open("hang")
        before = page.inner_text("#memory")
        self.assertIn("–", before)
        page.click("#last")
        self.assertIn("arrived", page.inner_text("#memory tr.touched"))
        self.assertIn("1", page.inner_text("#memory tr.touched td:nth-child(3)"))

    def test_a_link_opens_at_its_step(self):
        page = self.open("hang", "#step=3")
        self.assertIn("step 3 of ", page.inner_text("#count"))
        page.evaluate("location.hash = '#step=2'")
        page.wait_for_function("document.getElementById('count').textContent.startsWith('step 2 ')")
        page = self.open("hang", "#step=999&finding=7")
        count = page.inner_text("#count").split()
        self.assertEqual(count[1], count[3])
        self.assertEqual(self.problems, [])

    def test_the_graph_has_words(self):
        page = self.open("hang")
        self.assertEqual(page.locator("#graph svg[role=img] rect").count(), 3)
        self.assertIn("waits for", page.locator("#graph svg desc").text_content())
        self.assertGreaterEqual(page.locator("#graph-words li").count(), 2)

    def test_two_locks_each_wait_for_the_writer_of_the_word(self):
        page = self.open("locks")
        words = page.inner_text("#graph-words")
        first, second = "thread (0,0,0) of block (0,0,0)", "thread (0,0,0) of block (1,0,0)"
        kernel = "of kernel 'transfer<<<2,1>>>'"
        self.assertRegex(words, rf"{re.escape(first)} {re.escape(kernel)} reads locks \+ 4, .* by {re.escape(second)}")
        self.assertRegex(words, rf"{re.escape(second)} {re.escape(kernel)} reads locks \+ 0, .* by {re.escape(first)}")
        self.assertNotIn("runs forever", words)
        self.assertEqual(self.problems, [])

    def test_a_race_shows_both_accesses_and_what_would_have_ordered_them(self):
        page = self.open("race")
        self.assertEqual(page.locator("#race .line.here").count(), 2)
        self.assertIn("put __syncthreads() between the two", page.inner_text("#order"))
        self.assertFalse(page.locator("#steps").is_visible())
        self.assertEqual(self.problems, [])

    def test_text_stays_text(self):
        page = self.open("hostile")
        self.assertNotEqual(page.title(), "broken")
        self.assertEqual(page.locator("img").count(), 0)
        page.click("#last")
        self.assertIn("<img src=x onerror=alert(1)>", page.text_content("#source"))
        self.assertEqual(self.problems, [])

    def test_readable_on_a_phone(self):
        for name in ("hang", "race"):
            page = self.open(name, size=PHONE)
            self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), PHONE["width"])
            sizes = page.evaluate(
                "[...document.querySelectorAll('p, dd, li, button, .line')].filter(e => e.offsetParent)"
                ".map(e => parseFloat(getComputedStyle(e).fontSize))"
            )
            self.assertGreaterEqual(min(sizes), 12)
            for button in page.locator("#controls button").all():
                box = button.bounding_box()
                if box:
                    self.assertGreaterEqual(min(box["width"], box["height"]), 40)

    def test_every_control_has_a_name_and_the_keyboard_reaches_it(self):
        page = self.open("hang")
        unnamed = page.evaluate(
            "[...document.querySelectorAll('button, input')].filter(e => !e.getAttribute('aria-label') && "
            "!e.textContent.trim()).length"
        )
        self.assertEqual(unnamed, 0)
        page.focus("#forward")
        page.keyboard.press("Enter")
        self.assertIn("step 2 of ", page.inner_text("#count"))

    def test_without_scripts_the_text_is_there(self):
        context = self.browser.new_context(java_script_enabled=False)
        self.addCleanup(context.close)
        page = context.new_page()
        page.goto(self.pages["hang"].as_uri())
        self.assertIn("may hang", page.inner_text("noscript"))


if __name__ == "__main__":
    unittest.main()
