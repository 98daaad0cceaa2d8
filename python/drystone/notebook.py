"""The browser page of `drystone view` in a notebook's cell."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
from typing import Any, List, Optional, Union

from ._library import InputError
from .recording import Recorder, Recording
from .scene import Scene, Source
from .simulation import Simulation


def program() -> str:
    """The program `drystone`: DRYSTONE_PROGRAM, in the build folder, or in PATH."""
    beside = pathlib.Path(__file__).resolve().parents[2] / "drystone"
    for path in (os.environ.get("DRYSTONE_PROGRAM"), str(beside) if beside.is_file() else None, shutil.which("drystone")):
        if path:
            return path
    raise InputError("the program 'drystone' was not found; set DRYSTONE_PROGRAM to its path")


class Page:
    """A page that is being served. A notebook shows it; `close` ends it, as does the end of the interpreter."""

    def __init__(self, arguments: List[str], folder: Optional[Any], width: Union[int, str], height: int) -> None:
        self._folder, self.width, self.height = folder, width, height
        self._process = subprocess.Popen([program(), "view", "--no-open", "--embed", *arguments], stdin=subprocess.DEVNULL,
                                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert self._process.stdout is not None and self._process.stderr is not None
        self.url: str = self._process.stdout.readline().strip()
        """Address of the page, with its access token."""
        if not self.url:
            message = self._process.stderr.read().strip()
            self.close()
            raise InputError(re.sub(r"^drystone view: ", "", message))

    def _repr_html_(self) -> str:
        width = f"{self.width}px" if isinstance(self.width, int) else self.width
        return (f'<iframe src="{self.url}" style="width: {width}; height: {self.height}px; border: 0" '
                'allow="fullscreen"></iframe>')

    def close(self) -> None:
        """Ends the page."""
        if self._process.poll() is None:
            self._process.terminate()
        self._process.wait()
        for stream in (self._process.stdout, self._process.stderr):
            if stream:
                stream.close()
        if self._folder:
            self._folder.cleanup()
            self._folder = None

    def __enter__(self) -> "Page":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_process"):
            self.close()

    def __repr__(self) -> str:
        return f"<Page {self.url}>"


def show(source: Union[Scene, Simulation, Recording, Source], *, width: Union[int, str] = "100%", height: int = 480) -> Page:
    """Opens a scene live, or a recording, in the cell of a notebook.

    A simulation is shown as it is now. In a terminal the page is at `show(...).url`.
    """
    if isinstance(source, Recording):
        return Page([source.path], None, width, height)
    if isinstance(source, (str, os.PathLike)) and os.path.exists(source):
        return Page([os.fspath(source)], None, width, height)
    if not isinstance(source, (Scene, Simulation)):
        source = Scene(source)
    folder = tempfile.TemporaryDirectory(prefix="drystone-")
    path = os.path.join(folder.name, "scene.json" if isinstance(source, Scene) else "now.h5")
    if isinstance(source, Scene):
        with open(path, "w", encoding="utf-8") as file:
            file.write(source.text)
    else:
        with Recorder(path, source) as recorder:
            recorder.append()
    return Page([path], folder, width, height)
