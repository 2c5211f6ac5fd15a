# SPDX-License-Identifier: MIT
"""The ledger of a run: what is promised, what was measured."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any

from ._library import lib, text

_MEASURES = {"energy": "worst relative error", "linear_momentum": "worst relative error",
             "angular_momentum": "worst relative error", "joints": "m worst opening", "constraints": "worst residual",
             "equations": "worst residual"}
_LABEL, _FIGURE = 18, 52  # columns, as the tool prints them
_ALLOWANCE_SHOWN = 0.01


@dataclass(frozen=True)
class Entry:
    """One line: the fields of hn_ledger_entry."""

    name: str
    conserved: bool
    error: float
    drift: float
    drift_per_step: float
    bound: float
    allowance: float
    kept: bool
    note: str

    def __str__(self) -> str:
        figure = f"{self.error:8.1e} {_MEASURES.get(self.name, '')}"
        if self.name == "energy":
            figure += f", {self.drift:.1e} at the end"
        line = "  " + self.name.replace("_", " ").ljust(_LABEL)
        momentum = self.name.endswith("momentum")
        if momentum and not self.conserved:
            return line + (self.note or "not conserved by this model")
        line += figure.ljust(_FIGURE)
        if not self.conserved:
            return line + "not promised" + (f": {self.note}" if self.note else "")
        line += "kept" if self.kept else "NOT KEPT"
        if not self.kept or self.allowance > _ALLOWANCE_SHOWN * self.bound:
            line += f" (bound {self.bound:.1e}"
            line += f", of it {self.allowance:.1e} for round-off)" if self.allowance > 0.0 else ")"
        if (momentum or self.name == "equations" or not self.kept) and self.note:
            line += f"  {self.note}"
        return line


class Ledger:
    """Entries by name, as attributes and keys: ledger.energy.error. Prints as the tool prints it."""

    def __init__(self, value: Any, bodies: list[str]) -> None:
        self.entries: dict[str, Entry] = {}
        for i in range(lib.HN_PROMISE_COUNT):
            e, name = value.entry[i], text(lib.hn_promise_name(i))
            self.entries[name] = Entry(name, bool(e.conserved), e.error, e.drift, e.drift_per_step, e.bound, e.allowance,
                                       bool(e.kept), text(e.note))
        a = value.accuracy
        self.step_count = int(value.step_count)
        self.energy_scale = float(value.energy_scale)  # J
        self.accuracy = {"position": a.position.value, "angle": a.angle.value, "relative": a.relative.value,
                         "sum": a.relative_sum,
                         "time": a.relative.time, "sample_count": a.sample_count,
                         "halved_step_count": a.halved_step_count}
        self.worst_body = bodies[a.relative.body] if 0 <= a.relative.body < len(bodies) else None

    def __getattr__(self, name: str) -> Entry:
        try:
            return self.__dict__["entries"][name]  # type: ignore[no-any-return]
        except KeyError:
            raise AttributeError(name) from None

    def __getitem__(self, name: str) -> Entry:
        return self.entries[name]

    @property
    def kept(self) -> bool:
        """Is every promise kept?"""
        return all(e.kept for e in self.entries.values())

    def __str__(self) -> str:
        a = self.accuracy
        line = "  " + "accuracy".ljust(_LABEL)
        if a["sample_count"] == 0 or self.worst_body is None:
            line += "not known: no step could be compared with finer ones"
        else:
            line += f"{a['relative']:8.1e} worst error of a step, {a['sum']:.1e} summed".ljust(_FIGURE)
            line += f"{self.worst_body} at t = {a['time']:.6g} s; {a['position']:.1e} m, {a['angle']:.1e} rad"
            if a["halved_step_count"] > 0:
                line += f"; {a['halved_step_count']} steps were halved"
        return "\n".join([str(e) for e in self.entries.values()] + [line])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{e.name.replace('_', ' ')}</td><td>{e.error:.1e}</td>"
            f"<td>{'kept' if e.kept and e.conserved else 'not promised' if not e.conserved else 'NOT KEPT'}</td>"
            f"<td>{html.escape(e.note)}</td></tr>" for e in self.entries.values())
        return f"<table><tr><th></th><th>error</th><th></th><th></th></tr>{rows}</table>"
