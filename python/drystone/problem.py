"""Contact problems without a simulator: find impulses r and velocities u that satisfy Coulomb's law."""
import ctypes
import os
from typing import Any, List, Optional, Tuple, Union

import numpy as np

from . import _structs as structs
from ._library import InputError, Message, Owner, library

OUTCOMES = ("solved", "unsolved", "no solution", "jam")


class Solution:
    """Impulses, velocities and certificate of a contact problem."""

    def __init__(self, r: np.ndarray, u: np.ndarray, v: Optional[np.ndarray], struct: structs.ds_solution) -> None:
        self.r, self.u, self.v = r, u, v
        self.outcome: str = OUTCOMES[struct.outcome]
        """"solved", "unsolved", "no solution" (proven) or "jam"."""
        self.certificate: structs.ds_certificate = struct.certificate.copy()
        self.error: float = struct.certificate.natural_error
        """Scale-free natural-map error."""
        self.islands: int = struct.islands
        self.conflict: float = struct.conflict
        self.path: str = struct.path.decode()
        """The methods that were used, with their iterations."""

    def __repr__(self) -> str:
        return f"<Solution: {self.outcome}, error {self.error:.1e}, {self.path}>"


def _numbers(value: Any, count: int, name: str) -> np.ndarray:
    array = np.ascontiguousarray(value, dtype=float).reshape(-1)
    if array.size == 1 and count != 1 and name == "mu":
        array = np.full(count, array[0])
    if array.size != count:
        raise InputError(f"{name}: {count} numbers were expected, not {array.size}")
    return array


def _triplets(matrix: Any, name: str) -> Tuple[np.ndarray, np.ndarray, np.ndarray, Tuple[int, int]]:
    """Rows, columns and values of an array or of a matrix of scipy.sparse."""
    if hasattr(matrix, "tocoo"):
        coo = matrix.tocoo()
        row, column, value, shape = coo.row, coo.col, coo.data, coo.shape
    else:
        dense = np.asarray(matrix, dtype=float)
        if dense.ndim != 2:
            raise InputError(f"{name}: a matrix was expected, not an array of {dense.ndim} dimensions")
        row, column = np.nonzero(dense)
        value, shape = dense[row, column], dense.shape
    return (np.ascontiguousarray(row, dtype=np.int32), np.ascontiguousarray(column, dtype=np.int32),
            np.ascontiguousarray(value, dtype=float), shape)


class Problem:
    """A frictional contact problem, as matrices of numpy or scipy.sparse.

    Local form:   u = W r + q.                   Problem(W=W, q=q, mu=mu)
    Global form:  M v = H r + f,  u = Hᵀ v + w.  Problem(M=M, H=H, f=f, w=w, mu=mu)

    Per contact the normal comes first, then `dimension` - 1 tangents. Equality rows: V, R, s, or G, b. docs/problems.md.
    """

    def __init__(self, *, mu: Any, dimension: int = 3, W: Any = None, q: Any = None, V: Any = None, R: Any = None, s: Any = None,
                 M: Any = None, H: Any = None, f: Any = None, w: Any = None, G: Any = None, b: Any = None) -> None:
        if (W is None) == (M is None):
            raise InputError("give either W and q (local form) or M, H, f and w (global form)")
        self._kept: List[Any] = []
        self.struct = p = structs.ds_problem()
        p.dimension = dimension
        p.form = int(structs.ds_problem_form.DS_PROBLEM_LOCAL if W is not None else structs.ds_problem_form.DS_PROBLEM_GLOBAL)
        if W is not None:
            rows = self._matrix("W", W)[0]
            equalities = self._matrix("V", V)[1] if V is not None else 0
            self._vector("q", 0 if q is None else q, rows)
            if V is not None:
                self._matrix("R", np.zeros((equalities, equalities)) if R is None else R)
                self._vector("s", np.zeros(equalities) if s is None else s, equalities)
        else:
            p.dof = self._matrix("M", M)[0]
            rows = self._matrix("H", np.zeros((p.dof, 0)) if H is None else H)[1]
            equalities = self._matrix("G", G)[1] if G is not None else 0
            self._vector("f", f, p.dof)
            self._vector("w", np.zeros(rows) if w is None else w, rows)
            if G is not None:
                self._vector("b", np.zeros(equalities) if b is None else b, equalities)
        p.contacts, p.equalities = rows // dimension, equalities
        self._vector("mu", mu, p.contacts)
        self._rows = rows

    def _keep(self, array: np.ndarray) -> int:
        self._kept.append(array)
        return array.ctypes.data

    def _matrix(self, name: str, matrix: Any) -> Tuple[int, int]:
        row, column, value, shape = _triplets(matrix, name)
        setattr(self.struct, name, structs.ds_matrix(shape[0], shape[1], len(value), self._keep(row), self._keep(column),
                                               self._keep(value)))
        return shape

    def _vector(self, name: str, value: Any, count: int) -> None:
        setattr(self.struct, name, self._keep(_numbers(value, count, name)))

    @classmethod
    def read(cls, path: Union[str, "os.PathLike[str]"]) -> "Problem":
        """A problem file: FCLIB's HDF5, or text of Siconos."""
        message = Message()
        handle = library.ds_problem_file_read(os.fsencode(path), message())
        if not handle:
            raise message.exception()
        problem = cls.__new__(cls)
        problem._kept = [Owner(library.ds_problem_file_free, handle)]
        problem.struct = structs.ds_problem_file.from_address(handle).problem.copy()
        problem._rows = problem.struct.dimension * problem.struct.contacts
        return problem

    def write(self, path: Union[str, "os.PathLike[str]"], title: str = "") -> None:
        """Writes .hdf5 (FCLIB) or .dat (Siconos)."""
        message = Message()
        message.check(library.ds_problem_file_write(os.fsencode(path), ctypes.byref(self.struct), None, title.encode(), message()))

    def solve(self, start: Any = None, **options: Any) -> Solution:
        """Impulses and velocities with a certificate. Options are those of `ds_solve_options`; `method` is a name."""
        settings, solution, message = library.ds_default_solve_options(), structs.ds_solution(), Message()
        for name, value in options.items():
            if name not in dict(settings._fields_):
                raise InputError(f"there is no option {name!r}; known are {', '.join(dict(settings._fields_))}")
            if name == "method":
                value = library.ds_method_named(str(value).encode())
                if value < 0:
                    raise InputError(f"method: {options[name]!r} is not known")
            setattr(settings, name, value)
        r = np.zeros(self._rows) if start is None else _numbers(start, self._rows, "start").copy()
        u, v = np.zeros(self._rows), np.zeros(self.struct.dof) if self.struct.form else None
        message.check(library.ds_problem_solve(ctypes.byref(self.struct), ctypes.byref(settings), r.ctypes.data, u.ctypes.data,
                                               v.ctypes.data if v is not None else None, ctypes.byref(solution), message()))
        return Solution(r, u, v, solution)

    def error(self, r: Any) -> float:
        """Scale-free natural-map error of any impulses."""
        solution, message, array = structs.ds_solution(), Message(), _numbers(r, self._rows, "r")
        message.check(library.ds_problem_check(ctypes.byref(self.struct), array.ctypes.data, ctypes.byref(solution), message()))
        return solution.certificate.natural_error

    def __repr__(self) -> str:
        form = "global" if self.struct.form else "local"
        return f"<Problem: {form} form, {self.struct.contacts} contacts in {self.struct.dimension} dimensions>"


def solve(**arguments: Any) -> Solution:
    """`Problem(...).solve()` in one call: `solve(W=W, q=q, mu=0.5)`; options of the solver are taken too."""
    names = {name for name, *_ in structs.ds_solve_options._fields_} | {"start"}
    options = {name: arguments.pop(name) for name in list(arguments) if name in names}
    return Problem(**arguments).solve(**options)
