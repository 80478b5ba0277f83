#!/usr/bin/env python3
"""heddle lint --lsp as an editor meets it: diagnostics on opening and saving, quick fixes, places.

    test_server.py HEDDLE_LINT
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

LINT = None
BAD = "__global__ void k(int *p) {\n  if (threadIdx.x < 3) {\n    p[0] = 1;\n    __syncthreads();\n  }\n  p[1] = 2;\n}\n"
GOOD = BAD.replace("threadIdx", "blockIdx")
REGION = "thread_synchronization_in_divergent_region"


class Client:
    def __init__(self, folder, *arguments, encodings=None):
        environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache")}
        self.server = subprocess.Popen([LINT, "--lsp", "--cuda-path=none", *arguments], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, cwd=folder, env=environment)
        self.number = 0
        general = {"general": {"positionEncodings": encodings}} if encodings else {}
        self.capabilities = self.ask("initialize", {"processId": None, "rootUri": folder.as_uri(), "capabilities": general})
        self.tell("initialized", {})

    def send(self, message):
        text = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.server.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(text), text))
        self.server.stdin.flush()

    def receive(self):
        length = None
        while line := self.server.stdout.readline().strip():
            name, _, value = line.partition(b":")
            if name == b"Content-Length":
                length = int(value)
        return json.loads(self.server.stdout.read(length))

    def tell(self, method, parameters):
        self.send({"method": method, "params": parameters})

    def ask(self, method, parameters):
        self.number += 1
        self.send({"id": self.number, "method": method, "params": parameters})
        answer = self.receive()
        assert answer["id"] == self.number, answer
        return answer.get("result", answer.get("error"))

    def diagnostics(self, what, path):
        """Of this document, after it was opened, saved or closed."""
        document = {"uri": path.as_uri()}
        if what == "Open":
            document |= {"languageId": "cuda", "version": 1, "text": path.read_bytes().decode()}
        self.tell(f"textDocument/did{what}", {"textDocument": document})
        answer = self.receive()
        assert answer["method"] == "textDocument/publishDiagnostics", answer
        assert answer["params"]["uri"] == path.as_uri(), answer
        return answer["params"]["diagnostics"]

    def actions(self, path, line):
        at = {"line": line, "character": 6}
        return self.ask("textDocument/codeAction", {"textDocument": {"uri": path.as_uri()}, "range": {"start": at, "end": at},
                                                    "context": {"diagnostics": []}})

    def stop(self):
        self.ask("shutdown", None)
        self.tell("exit", None)
        code = self.server.wait(30)
        self.server.stdin.close()
        self.server.stdout.close()
        return code


def apply(text, edits):
    """Edits of the protocol in a text of one-byte characters."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    offset = lambda at: starts[at["line"]] + at["character"]
    for edit in sorted(edits, key=lambda one: -offset(one["range"]["start"])):
        text = text[:offset(edit["range"]["start"])] + edit["newText"] + text[offset(edit["range"]["end"]):]
    return text


class Server(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name).resolve()
        self.file = self.path / "a b.cu"  # a name that must be quoted in an address
        self.file.write_text(BAD)

    def client(self, *arguments, **options):
        client = Client(self.path, *arguments, **options)
        self.addCleanup(client.server.kill)
        return client

    def test_open_fix_save_close(self):
        client = self.client()
        self.assertIn("codeActionProvider", client.capabilities["capabilities"])
        (one,) = client.diagnostics("Open", self.file)
        self.assertEqual((one["code"], one["severity"], one["source"]), (REGION, 2, "heddle lint"))
        self.assertEqual(one["range"], {"start": {"line": 3, "character": 4}, "end": {"line": 3, "character": 19}})
        self.assertTrue(any("part at this condition" in step["message"] for step in one["relatedInformation"]))
        self.assertEqual(client.actions(self.file, 0), [])
        (action,) = client.actions(self.file, 3)
        self.assertEqual((action["kind"], action["diagnostics"]), ("quickfix", [one]))
        self.file.write_text(apply(BAD, action["edit"]["changes"][self.file.as_uri()]))
        self.assertEqual(client.diagnostics("Save", self.file), [])
        self.assertEqual(client.actions(self.file, 3), [])
        self.file.write_text(BAD)
        self.assertEqual(len(client.diagnostics("Save", self.file)), 1)
        self.assertEqual(client.diagnostics("Close", self.file), [])
        self.assertEqual(client.stop(), 0)

    def test_fixes_of_text_that_has_changed_are_held_back(self):
        client = self.client()
        client.diagnostics("Open", self.file)
        change = {"textDocument": {"uri": self.file.as_uri(), "version": 2}, "contentChanges": [{"text": "\n" + BAD}]}
        client.tell("textDocument/didChange", change)
        self.assertEqual(client.actions(self.file, 3), [])
        client.diagnostics("Save", self.file)
        self.assertEqual(len(client.actions(self.file, 3)), 1)
        self.assertEqual(client.stop(), 0)

    def test_characters(self):
        self.file.write_text('__global__ void k(int *p) {\n  /* é𝄞 */ if (threadIdx.x) __syncthreads();\n  p[0] = 1;\n}\n')
        text = self.file.read_text().splitlines()[1].split("__sync")[0]
        for encodings, column in ((None, len(text.encode("utf-16-le")) // 2), (["utf-8", "utf-16"], len(text.encode()))):
            client = self.client(encodings=encodings)
            (one,) = client.diagnostics("Open", self.file)
            self.assertEqual(one["range"]["start"], {"line": 1, "character": column})
            self.assertEqual(client.stop(), 0)

    def test_a_file_with_two_characters_at_the_end_of_lines(self):
        text = BAD.replace("\n", "\r\n")
        self.file.write_bytes(text.encode())
        client = self.client()
        client.diagnostics("Open", self.file)
        (action,) = client.actions(self.file, 3)
        self.file.write_bytes(apply(text, action["edit"]["changes"][self.file.as_uri()]).encode())
        self.assertEqual(client.diagnostics("Save", self.file), [])
        self.assertEqual(client.stop(), 0)

    def test_flags_of_the_database(self):
        (self.path / "build").mkdir()
        self.file.write_text("__global__ void k(int *p) {\n#ifdef WAIT\n  if (threadIdx.x) __syncthreads();\n#endif\n  p[0] = 1;\n}\n")
        commands = [{"file": str(self.file), "directory": str(self.path), "arguments": ["nvcc", "-DWAIT", "-c", str(self.file)]}]
        (self.path / "build/compile_commands.json").write_text(json.dumps(commands))
        client = self.client()
        self.assertEqual([one["code"] for one in client.diagnostics("Open", self.file)], [REGION])
        self.assertEqual(client.stop(), 0)

    def test_a_header_is_shown_where_it_is_and_cleared(self):
        header = self.path / "k.cuh"
        header.write_text(BAD)
        self.file.write_text('#include "k.cuh"\n')
        client = self.client()
        client.tell("textDocument/didOpen", {"textDocument": {"uri": self.file.as_uri()}})
        shown = {one["params"]["uri"]: one["params"]["diagnostics"] for one in (client.receive(), client.receive())}
        self.assertEqual({uri: len(all) for uri, all in shown.items()}, {self.file.as_uri(): 0, header.as_uri(): 1})
        header.write_text(GOOD)
        client.tell("textDocument/didSave", {"textDocument": {"uri": self.file.as_uri()}})
        shown = {one["params"]["uri"]: one["params"]["diagnostics"] for one in (client.receive(), client.receive())}
        self.assertEqual(shown, {self.file.as_uri(): [], header.as_uri(): []})
        self.assertEqual(client.stop(), 0)

    def test_what_is_suppressed_is_not_shown_and_what_is_not_read_is_said(self):
        self.file.write_text(BAD.replace("__syncthreads();", "__syncthreads(); // NOLINT(cuda-1.14): one warp") + "unknown x;\n")
        client = self.client()
        (one,) = client.diagnostics("Open", self.file)
        self.assertIn("not all of the file was read", one["message"])
        self.assertEqual(client.stop(), 0)

    def test_what_is_not_understood(self):
        client = self.client()
        self.assertEqual(client.ask("textDocument/hover", {})["code"], -32601)
        client.tell("$/setTrace", {"value": "off"})
        client.tell("textDocument/didOpen", {})  # says nothing about a document
        self.assertEqual(client.receive()["method"], "window/logMessage")
        self.assertEqual(len(client.diagnostics("Open", self.file)), 1)
        client.tell("exit", None)
        self.assertEqual(client.server.wait(30), 1)  # without shutdown
        client.server.stdin.close()
        client.server.stdout.close()


if __name__ == "__main__":
    LINT = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
