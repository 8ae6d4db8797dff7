"""Pictures made from a seed, as PNG data URLs: no two Runs show the same ones, and nothing is downloaded."""

import base64
import struct
import zlib

import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint8]
"""(height, width, 3)."""
BLOCK = 16
"""Pixels of a patch's side: large enough that a picture of a megapixel stays under a hundred kilobytes."""


def picture(rng: np.random.Generator, width: int, height: int) -> Pixels:
    """Coloured patches over a slope of light."""
    patches = rng.integers(0, 200, size=(-(-height // BLOCK), -(-width // BLOCK), 3), dtype=np.uint8)
    whole = patches.repeat(BLOCK, axis=0).repeat(BLOCK, axis=1)[:height, :width]
    light = np.linspace(0, 55, width, dtype=np.uint8)[None, :, None]  # (1, width, 1)
    made: Pixels = whole + light
    return made


def frames(rng: np.random.Generator, first: Pixels, count: int) -> list[Pixels]:
    """`count` pictures that follow `first`: in each, one patch has changed and the rest has moved by a pixel."""
    made, last = [], first
    for _ in range(count):
        last = np.roll(last, 1, axis=1)
        y, x = (int(rng.integers(0, max(1, side - BLOCK))) for side in last.shape[:2])
        last[y : y + BLOCK, x : x + BLOCK] = rng.integers(0, 256, size=3, dtype=np.uint8)
        made.append(last)
    return made


def png(pixels: Pixels) -> bytes:
    """The picture as a PNG file: 8 bits a channel, no filter, one compressed block (ISO/IEC 15948)."""
    height, width, _ = pixels.shape
    rows = np.concatenate([np.zeros((height, 1), dtype=np.uint8), pixels.reshape(height, width * 3)], axis=1)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = _chunk(b"IHDR", header) + _chunk(b"IDAT", zlib.compress(rows.tobytes(), level=1)) + _chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def data_url(pixels: Pixels) -> str:
    """The picture as the chat API takes it in a message."""
    return "data:image/png;base64," + base64.b64encode(png(pixels)).decode("ascii")
