"""Files of a directory, so that no link leads out of it and no crash leaves half a file. Source: SB-25, SB-49, SB-50.

A path is resolved first, then opened segment by segment without following any link: whatever somebody swaps meanwhile,
nothing outside is touched. Files are replaced by renaming a finished one over them.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from rootward.errors import PathRefused
from rootward.sandbox.layout import clean_path

_PIECE = 1 << 20
_MARK = ".rootward-"


class LocalFiles:
    """The files below one directory. Methods block.

    Args:
        root: the directory; it must exist.
        owner: goes into the names of unfinished files, so that only their owner sweeps them.
    """

    def __init__(self, root: Path, owner: str) -> None:
        self.root = root.resolve(strict=True)
        self._unfinished = f"{_MARK}{owner}-"

    def canonical(self, path: str) -> str:
        """Return a path with all links followed.

        Raises:
            PathRefused: it leads out of the root, or to the root itself.
        """
        real = Path(os.path.realpath(self.root / clean_path(path)))
        if self.root not in real.parents:
            raise PathRefused("the path leaves the workspace")
        return real.relative_to(self.root).as_posix()

    def read(self, path: str) -> bytes | None:
        """Return the bytes of a plain file; None if there is none."""
        try:
            with self._parent(path, make=False) as (folder, name), _opened(name, os.O_RDONLY, folder) as file:
                return b"".join(_pieces(file))
        except FileNotFoundError:
            return None

    def replace(self, path: str, data: bytes) -> None:
        """Make a file hold exactly this, at once; its mode stays."""
        with self._parent(path, make=True) as (folder, name), self._finished(folder, name, data) as unfinished:
            os.rename(unfinished, name, src_dir_fd=folder, dst_dir_fd=folder)
            os.fsync(folder)

    def create(self, path: str, data: bytes) -> bool:
        """Make a file unless there is something of its name."""
        with self._parent(path, make=True) as (folder, name), self._finished(folder, name, data) as unfinished:
            try:
                os.link(unfinished, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
            except FileExistsError:
                return False
            os.fsync(folder)
            return True

    def append_line(self, path: str, line: bytes) -> int:
        """Append a line, after a newline where one is missing; return how many lines there are."""
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT
        with self._parent(path, make=True) as (folder, name), _opened(name, flags, folder) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            size = os.fstat(file).st_size
            missing = b"\n" if size and os.pread(file, 1, size - 1) != b"\n" else b""
            try:
                _write(file, missing + line)
            except OSError:
                os.ftruncate(file, size)
                raise
            os.fsync(file)
            os.fsync(folder)
            os.lseek(file, 0, os.SEEK_SET)
            return sum(piece.count(b"\n") for piece in _pieces(file))

    def delete(self, path: str) -> None:
        """Delete a file if it is there."""
        with suppress(FileNotFoundError), self._parent(path, make=False) as (folder, name):
            os.unlink(name, dir_fd=folder)
            os.fsync(folder)

    def make_directory(self, path: str) -> None:
        """Make a directory and its parents where they are missing."""
        os.close(self._directory(self.canonical(path).split("/"), make=True))

    def paths(self, directory: str = "") -> list[str]:
        """Return the paths of all plain files below a directory, sorted; nothing if it is not there."""
        start = self.root / self.canonical(directory) if directory else self.root
        found = [
            (Path(folder) / name).relative_to(self.root).as_posix()
            for folder, _, names in os.walk(start)
            for name in names
            if not name.startswith(_MARK) and _is_plain(os.path.join(folder, name))
        ]
        return sorted(path for path in found if _is_text(path))

    def sweep(self) -> None:
        """Remove unfinished files that a crash of their owner left."""
        for folder, _, names in os.walk(self.root):
            for name in names:
                if name.startswith(self._unfinished):
                    os.unlink(os.path.join(folder, name))

    @contextmanager
    def _parent(self, path: str, *, make: bool) -> Iterator[tuple[int, str]]:
        """Give the open directory of a path and the name in it."""
        *folders, name = self.canonical(path).split("/")
        folder = self._directory(folders, make=make)
        try:
            yield folder, name
        finally:
            os.close(folder)

    def _directory(self, folders: list[str], *, make: bool) -> int:
        current = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        for name in folders:
            try:
                following = _step(current, name, make=make)
            finally:
                os.close(current)
            current = following
        return current

    @contextmanager
    def _finished(self, folder: int, name: str, data: bytes) -> Iterator[str]:
        """Give the name of a finished file that holds the data, and remove it if it is still there afterwards."""
        mode = _mode_of(folder, name)
        unfinished = f"{self._unfinished}{uuid.uuid4().hex}"
        try:
            with _opened(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, folder) as file:
                _write(file, data)
                if mode is not None:
                    os.fchmod(file, mode)
                os.fsync(file)
            yield unfinished
        finally:
            with suppress(FileNotFoundError):
                os.unlink(unfinished, dir_fd=folder)


def _step(folder: int, name: str, *, make: bool) -> int:
    """Open a directory in a directory, making it if it is wanted; never by a link."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    if make:
        with suppress(FileExistsError):
            os.mkdir(name, dir_fd=folder)
    with _refusing():
        return os.open(name, flags, dir_fd=folder)


@contextmanager
def _opened(name: str, flags: int, folder: int) -> Iterator[int]:
    """Open a plain file; never by a link, and without waiting for the other end of a pipe."""
    with _refusing():
        file = os.open(name, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o666, dir_fd=folder)
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise PathRefused("the path names no plain file")
        yield file
    finally:
        os.close(file)


@contextmanager
def _refusing() -> Iterator[None]:
    """Say what is wrong with a path where the system says it with a number."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.EISDIR, errno.ENXIO):
            raise PathRefused("the path names no plain file, or leads through something that is no directory") from None
        raise


def _mode_of(folder: int, name: str) -> int | None:
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):
        raise PathRefused("the path names no plain file")
    return stat.S_IMODE(found.st_mode)


def _write(file: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(file, rest) :]


def _pieces(file: int) -> Iterator[bytes]:
    return iter(lambda: os.read(file, _PIECE), b"")


def _is_plain(path: str) -> bool:
    with suppress(FileNotFoundError):
        return stat.S_ISREG(os.lstat(path).st_mode)
    return False


def _is_text(path: str) -> bool:
    """Tell whether a path can be told to anybody: Unix also allows bytes that are no UTF-8, and new lines."""
    with suppress(UnicodeEncodeError, PathRefused):
        return bool(path.encode()) and clean_path(path) == path
    return False
