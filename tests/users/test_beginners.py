"""`heddle app.cu` on what people write in their first year: as test_everything.py, for tests/users/beginners. What the
help says must fit the mistake."""
import pathlib
import unittest

import test_everything

test_everything.PROGRAMS = pathlib.Path(__file__).parent / "beginners"

HELP = {
    "exclusive_index": "an unsigned index gives that went below zero",
    "heap_exhausted": "when its heap is used up",
    "host_array_of_pointers": "give the kernel memory of the device",
    "in_place": "from another array than this one writes",
    "no_shared_size": "as the third argument of <<<",
    "plain_lock": "a lock, for example, is released by an atomic",
    "scan_in_place": "put a barrier at the end of the loop body",
    "stencil_halo": "put __syncthreads() between the two",
    "tile_edges": "set all of it first",
    "two_streams": "order them by an event",
}


class Beginners(test_everything.Everything):
    def test_help_fits(self):
        for name, words in HELP.items():
            with self.subTest(name):
                self.assertIn(words, test_everything.look(f"{name}.cu")[1])

    def test_nothing_is_said_of_what_a_fault_left(self):
        self.assertNotIn("were not freed", test_everything.look("host_pointer.cu")[1])


if __name__ == "__main__":
    unittest.main()
