# SPDX-License-Identifier: MIT
"""Structure-preserving multibody dynamics.

>>> import holonom as hn
>>> model = hn.Model.load("models/six-body-linkage.yaml")
>>> result = hn.run(model, end=10.0, scheme="energy-momentum")
>>> print(result.ledger)
"""

from ._library import (Busy, Cancelled, Closed, FileAccess, FileFormat, HolonomError, InvalidArgument, InvalidModel, NotConverged,
                       version)
from .ledger import Entry, Ledger
from .model import Beam, Body, Coupling, Drive, Joint, Load, Model, ground
from .result import Result, run, run_tool
from .simulation import LinearSystem, Mode, Simulation, Snapshot, fields, schemes, settings
from .studies import Plan, plan, read_study, study

__version__ = version()
__all__ = ["Beam", "Body", "Busy", "Cancelled", "Closed", "Coupling", "Drive", "Entry", "FileAccess", "FileFormat", "HolonomError",
           "InvalidArgument", "InvalidModel", "Joint", "Ledger", "LinearSystem", "Load", "Mode", "Model", "NotConverged", "Plan", "Result",
           "Simulation", "Snapshot", "fields", "ground", "plan", "read_study", "run", "run_tool", "schemes", "settings",
           "study", "version"]
