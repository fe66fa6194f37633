"""Results as Parquet: parts as they are made, one file at the end.

While a sweep runs, FILE.parts/ holds `sweep.json`, which says what the parts belong to, and one
Parquet file for each finished range of points. A part is written beside its place and moved there,
so that it is whole or absent. At the end the parts are put together in order, in row groups of
`ROWS` points: the bytes of FILE depend on the sweep and on the versions of what wrote it, and not
on how the points were shared out.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bounds.setting import InvalidInput
from verify.sweep.grid import Sweep

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT = 1
ROWS = 1 << 16
PACKAGES = ("hiddenstate", "numpy", "scipy", "mpmath", "python-flint", "pyarrow")


def versions() -> dict[str, str]:
    """What a result depends on beside the sweep."""
    return {"format": str(FORMAT), **{name: version(name) for name in PACKAGES}}


def fingerprint(sweep: Sweep) -> str:
    """A digest of the sweep and of the versions."""
    whole = sweep.canonical + json.dumps(versions(), sort_keys=True)
    return hashlib.sha256(whole.encode()).hexdigest()


def serialised(table: pa.Table) -> bytes:
    """One part, as the bytes of a file."""
    import pyarrow.parquet as pq

    out = io.BytesIO()
    pq.write_table(table, out, compression="zstd")
    return out.getvalue()


class Store:
    """The file of a sweep and its parts."""

    def __init__(self, out: Path, sweep: Sweep) -> None:
        self.out = out
        self.folder = out.with_name(out.name + ".parts")
        self.sweep = sweep
        self.mark = fingerprint(sweep)

    def finished(self) -> bool:
        """Whether FILE is there, of this very sweep.

        Raises:
            InvalidInput: it is the result of another sweep, or no result of a sweep.
        """
        import pyarrow.lib
        import pyarrow.parquet as pq

        if not self.out.exists():
            return False
        try:
            found = (pq.read_schema(self.out).metadata or {}).get(b"sweep.fingerprint", b"")
        except (OSError, pyarrow.lib.ArrowException):
            found = b""
        if found.decode() != self.mark:
            raise InvalidInput(
                f"{self.out} is there and is not this sweep's result (the grid or a version has "
                "changed); remove it or name another file with --out"
            )
        return True

    def begun(self) -> int | None:
        """The points of a part, where this sweep was begun before; else None.

        Raises:
            InvalidInput: the parts belong to another sweep.
        """
        path = self.folder / "sweep.json"
        if not path.exists():
            if self.folder.exists() and any(self.folder.glob("*.parquet")):
                raise InvalidInput(f"{self.folder} holds parts of which nothing says what they are")
            return None
        try:
            data = json.loads(path.read_text("utf-8"))
            mark, size = data["fingerprint"], int(data["size"])
        except (OSError, ValueError, KeyError, TypeError):
            raise InvalidInput(f"{path} cannot be read; remove {self.folder} to begin") from None
        if mark != self.mark:
            raise InvalidInput(
                f"{self.folder} was begun for another grid or by other versions; remove it, or "
                "name another file with --out"
            )
        return size

    def begin(self, size: int) -> None:
        """Say what the parts will belong to."""
        self.folder.mkdir(parents=True, exist_ok=True)
        data = {"fingerprint": self.mark, "size": size, "points": self.sweep.count,
                "versions": versions()}  # fmt: skip
        self._put(self.folder / "sweep.json", json.dumps(data, indent=1).encode())

    def part(self, start: int, stop: int) -> Path:
        """Where the part of a range stands."""
        return self.folder / f"{start:09d}-{stop:09d}.parquet"

    def kept(self, start: int, stop: int) -> bool:
        """Whether a part is finished and whole; a damaged one is removed, to be made again."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        path = self.part(start, stop)
        try:
            if pq.read_metadata(path).num_rows == stop - start:
                return True
        except FileNotFoundError:
            return False
        except (pa.ArrowException, OSError):
            pass
        path.unlink()
        return False

    def add(self, start: int, stop: int, data: bytes) -> None:
        """Keep a finished part."""
        self._put(self.part(start, stop), data)

    def _put(self, path: Path, data: bytes) -> None:
        beside = path.with_name(path.name + ".new")
        with open(beside, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)

    def merge(self, ranges: Iterator[tuple[int, int]]) -> None:
        """Put all the parts into FILE, in order, and remove them."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        beside = self.out.with_name(self.out.name + ".new")
        writer: Any = None
        waiting: list[Any] = []
        held = 0

        def flush(rows: int) -> None:
            nonlocal waiting, held
            table = pa.concat_tables(waiting)
            # One block of memory, so that the bytes do not tell how the rows came together.
            writer.write_table(table.slice(0, rows).combine_chunks(), row_group_size=ROWS)
            waiting, held = [table.slice(rows)], held - rows

        try:
            for start, stop in ranges:
                table = pq.read_table(self.part(start, stop))
                if writer is None:
                    schema = table.schema.with_metadata(self._metadata())
                    writer = pq.ParquetWriter(beside, schema, compression="zstd")
                waiting.append(table.cast(schema))
                held += table.num_rows
                while held >= ROWS:
                    flush(ROWS)
            if held:
                flush(held)
        finally:
            if writer is not None:
                writer.close()
        os.replace(beside, self.out)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _metadata(self) -> dict[str, str]:
        return {
            "sweep.fingerprint": self.mark, "sweep.grid": self.sweep.canonical,
            "sweep.versions": json.dumps(versions(), sort_keys=True),
            "sweep.note": "the shortest decimal of a double that varies is its exact value",
        }  # fmt: skip

    def groups(self) -> Iterator[pa.Table]:
        """The finished file, a row group at a time."""
        import pyarrow.parquet as pq

        with pq.ParquetFile(self.out) as file:
            for k in range(file.num_row_groups):
                yield file.read_row_group(k)
