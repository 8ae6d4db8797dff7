"""Random weights of announced shapes: a rehearsal measures a Model before its weights are out.

The file has every tensor that the real one will have, in the same quantisation: the same bytes are read and the same FLOPs are
done. What it says is noise. Nothing is random about the file: equal shapes give equal bytes, on every machine.
"""

import os
import shutil
from collections.abc import Iterator
from hashlib import sha256
from itertools import product
from pathlib import Path
from string import ascii_lowercase, printable

import numpy as np
from gguf import GGMLQuantizationType, GGUFWriter, LlamaFileType, TokenType, quants
from numpy.typing import NDArray

from perfd.builders.locks import held
from perfd.builders.shapes import Shapes, random_weights_hash, read_shape
from perfd.builders.words import Progress, quiet
from perfd.domain.model import Model
from perfd.errors import BadInputError, PerfdError

FORMATS = ("F32", "F16", "BF16", "Q8_0", "Q5_1", "Q5_0", "Q4_1", "Q4_0")
"""Quantisations that are written."""
BLOCK = 32
"""Values that one scale of these quantisations covers; a row that is no multiple of it stays F16."""
TILE_VALUES = 1 << 22
"""So many values are drawn for a tensor; a larger one repeats them, which no kernel notices."""
SPREAD = 0.02
"""Standard deviation of a weight, as models are initialised."""
SPACE = "\N{LOWER ONE EIGHTH BLOCK}"
"""What a sentencepiece vocabulary writes for a space."""


def random_weights(model: Model, state: Path, progress: Progress = quiet) -> Path:
    """The GGUF file with random weights of the Model's shapes, written where it was not there yet.

    Raises BadInputError where the shapes are no longer those that the Model was planned with, or cannot be written.
    """
    if random_weights_hash(model) != model.sha256:
        raise BadInputError(f"the shapes in {model.shape} are not those that {model.name} was planned with")
    shapes, form = read_shape(model), _form(model)
    folder = state.absolute() / "models" / model.sha256
    path = folder / f"random.{model.quantisation}.gguf"
    with held(state.absolute() / "models" / f"{model.sha256}.lock", lambda: progress(f"another process writes {model.name}")):
        if path.exists():
            return path
        folder.mkdir(parents=True, exist_ok=True)
        needed = sum(_bytes_of(shape, form) for _, shape in shapes.tensors())
        if shutil.disk_usage(folder).free < 1.1 * needed:
            raise PerfdError(f"random weights of {model.name} need {needed / 1e9:.1f} GB, and {folder} has less", permanent=False)
        progress(f"writing {needed / 1e9:.2f} GB of random weights for {model.name}")
        beside = folder / f".writing.{os.getpid()}.gguf"
        try:
            _write(beside, model.name, shapes, form)
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)
    return path


def _form(model: Model) -> GGMLQuantizationType:
    name = model.quantisation.upper()
    if name not in FORMATS:
        raise BadInputError(
            f"random weights of {model.name} cannot be written in {model.quantisation}; expected one of {', '.join(FORMATS)}"
        )
    return GGMLQuantizationType[name]


def _form_of(shape: tuple[int, ...], form: GGMLQuantizationType) -> GGMLQuantizationType:
    """Norms and biases are F32, as llama.cpp's own converter leaves them."""
    if len(shape) == 1:
        return GGMLQuantizationType.F32
    return form if shape[-1] % BLOCK == 0 else GGMLQuantizationType.F16


def _bytes_of(shape: tuple[int, ...], form: GGMLQuantizationType) -> int:
    rows = int(np.prod(shape[:-1], dtype=np.int64))
    return rows * int(quants.quant_shape_to_byte_shape((shape[-1],), _form_of(shape, form))[0])


def _write(path: Path, name: str, shapes: Shapes, form: GGMLQuantizationType) -> None:
    writer = GGUFWriter(path, shapes.architecture)
    _describe(writer, name, shapes)
    writer.add_file_type(LlamaFileType[f"{'ALL' if form is GGMLQuantizationType.F32 else 'MOSTLY'}_{form.name}"])
    _add_vocabulary(writer, shapes.vocabulary)
    for tensor, shape in shapes.tensors():
        own = _form_of(shape, form)
        stored = quants.quant_shape_to_byte_shape(shape, own)
        writer.add_tensor_info(tensor, stored, np.dtype(np.uint8), _bytes_of(shape, form), raw_dtype=own)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_ti_data_to_file()
    for tensor, shape in shapes.tensors():
        writer.write_tensor_data(_tensor(tensor, shape, _form_of(shape, form)))
    writer.close()


def _describe(writer: GGUFWriter, name: str, shapes: Shapes) -> None:
    writer.add_name(name)
    writer.add_context_length(shapes.context)
    writer.add_embedding_length(shapes.hidden)
    writer.add_block_count(shapes.layers)
    writer.add_feed_forward_length(shapes.feed_forward)
    writer.add_head_count(shapes.heads)
    writer.add_head_count_kv(shapes.kv_heads)
    writer.add_key_length(shapes.head)
    writer.add_value_length(shapes.head)
    writer.add_rope_dimension_count(shapes.head)
    writer.add_rope_freq_base(shapes.rope_base)
    writer.add_layer_norm_rms_eps(shapes.norm_epsilon)
    writer.add_vocab_size(shapes.vocabulary)
    if shapes.experts:
        writer.add_expert_count(shapes.experts)
        writer.add_expert_used_count(shapes.experts_used)
        writer.add_expert_feed_forward_length(shapes.feed_forward)


def _add_vocabulary(writer: GGUFWriter, size: int) -> None:
    """A sentencepiece vocabulary of short pieces of words, so that a prompt has a few characters a token, as real ones do."""
    pieces = _pieces()
    normal = [next(pieces) for _ in range(size - 3 - 256)]
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), *normal]
    kinds = [TokenType.UNKNOWN, TokenType.CONTROL, TokenType.CONTROL, *[TokenType.BYTE] * 256, *[TokenType.NORMAL] * len(normal)]
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores([-float(place) for place in range(size)])
    writer.add_token_types(kinds)
    writer.add_unk_token_id(0)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)


def _pieces() -> Iterator[str]:
    yield from dict.fromkeys([SPACE, *printable[:94]])
    for length in (1, 2, 3):
        for letters in product(ascii_lowercase, repeat=length):
            word = "".join(letters)
            yield from (SPACE + word,) if length == 1 else (SPACE + word, word)
    number = 0
    while True:
        yield f"{SPACE}word{number}"
        number += 1


def _tensor(name: str, shape: tuple[int, ...], form: GGMLQuantizationType) -> NDArray[np.uint8]:
    """The tensor's bytes; rows repeat once `TILE_VALUES` are drawn. Norms are ones, or activations would vanish."""
    stored = quants.quant_shape_to_byte_shape(shape, form)
    if name.endswith("norm.weight"):
        return np.ones(shape, np.float32).view(np.uint8)
    rows = min(int(np.prod(shape[:-1], dtype=np.int64)), max(1, TILE_VALUES // shape[-1]))
    chance = np.random.Generator(np.random.PCG64(int.from_bytes(sha256(name.encode()).digest()[:8])))
    drawn = chance.normal(0.0, SPREAD, (rows, shape[-1])).astype(np.float32)
    packed = np.ascontiguousarray(quants.quantize(drawn, form)).view(np.uint8)
    return np.resize(packed, stored)
