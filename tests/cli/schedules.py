"""Schedule strings as somebody else could write them: "v1:", then base64url of a zstd frame of lines."""
import base64
import ctypes

ZSTD = ctypes.CDLL("libzstd.so.1")
ZSTD.ZSTD_compressBound.restype = ctypes.c_size_t
ZSTD.ZSTD_compress.restype = ctypes.c_size_t
ZSTD.ZSTD_decompress.restype = ctypes.c_size_t
MOST = 1 << 24


def lines_of(schedule):
    data = base64.urlsafe_b64decode(schedule.removeprefix("v1:") + "==")
    room = ctypes.create_string_buffer(MOST)
    size = ZSTD.ZSTD_decompress(room, ctypes.c_size_t(MOST), data, ctypes.c_size_t(len(data)))
    assert size < MOST, "not a schedule"
    return room.raw[:size].decode().splitlines()


def schedule_of(lines):
    data = "".join(line + "\n" for line in lines).encode()
    room = ctypes.create_string_buffer(len(data) + 1000)
    size = ZSTD.ZSTD_compress(room, ctypes.c_size_t(len(room)), data, ctypes.c_size_t(len(data)), 3)
    return "v1:" + base64.urlsafe_b64encode(room.raw[:size]).decode().rstrip("=")


def changed(schedule, **values):
    """The schedule with other values of some keys; a list of them for several lines, None for no line."""
    lines = [line for line in lines_of(schedule) if line.split(" ", 1)[0] not in values]
    for key, value in values.items():
        of_key = [] if value is None else value if isinstance(value, list) else [value]
        lines = [f"{key} {one}" for one in of_key] + lines
    return schedule_of(lines)
