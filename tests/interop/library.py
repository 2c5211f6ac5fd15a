# SPDX-License-Identifier: MIT
"""The library by its public headers, for tests: no package has to be built."""

import importlib.util
import pathlib
import shutil

import numpy
from cffi import FFI


class Library:
    """`build/lib/libholonom.so`, its functions as `lib`, its types through `ffi`."""

    def __init__(self, root, tool):
        spec = importlib.util.spec_from_file_location("generate", pathlib.Path(root) / "python/generate.py")
        generate = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(generate)
        text = generate.declarations(shutil.which("cc"), pathlib.Path(root) / "include")
        # in this mode of cffi numbers are not taken from a compiler
        headers = "".join(path.read_text() for path in (pathlib.Path(root) / "include/holonom").glob("*.h"))
        lines = []
        for line in text.splitlines():
            if line.startswith("#define") and line.endswith("..."):
                name = line.split()[1]
                value = headers.split(f"#define {name} ")[1].split()[0]
                line = f"#define {name} {value}"
            lines.append(line)
        self.ffi = FFI()
        self.ffi.cdef("\n".join(lines))
        folder = pathlib.Path(tool).resolve().parents[1] / "lib"
        self.lib = self.ffi.dlopen(str(next(folder.glob("libholonom.so*"))))


class Robot:
    """A model with a simulation of it that has inputs; states are set, accelerations read."""

    def __init__(self, library, path, step=1e-3):
        self.ffi, self.lib = library.ffi, library.lib
        self.notes = []
        self.context = self.lib.hn_context_create(self.ffi.NULL)
        self._log = self.ffi.callback("void(const char *, void *)", self._note)
        self.lib.hn_context_set_log(self.context, self._log, self.ffi.NULL)
        model = self.ffi.new("hn_model **")
        self.model = self.simulation = self.ffi.NULL
        self._try(self.lib.hn_model_load(self.context, str(path).encode(), model))
        self.model = model[0]
        definition = self.ffi.new("hn_simulation_def *")
        self.lib.hn_simulation_def_init(definition, self.ffi.sizeof("hn_simulation_def"))
        definition.step_size = step
        definition.inputs = True
        definition.ledger = False
        simulation = self.ffi.new("hn_simulation **")
        self._try(self.lib.hn_simulation_create(self.model, definition, simulation))
        self.simulation = simulation[0]
        self.bodies = [self._text(self.lib.hn_model_body_name(self.model, self.lib.hn_model_body(self.model, i)))
                       for i in range(self.lib.hn_model_body_count(self.model))]
        self.masses = numpy.array([self.lib.hn_model_body_mass(self.model, self.lib.hn_model_body(self.model, i))
                                   for i in range(len(self.bodies))])
        self.centers = numpy.array([self._vector(self.lib.hn_model_body_center_of_mass(
            self.model, self.lib.hn_model_body(self.model, i))) for i in range(len(self.bodies))]).reshape(-1, 3)
        self.inertias = numpy.array([self._matrix(self.lib.hn_model_body_inertia(
            self.model, self.lib.hn_model_body(self.model, i))) for i in range(len(self.bodies))]).reshape(-1, 3, 3)
        self.coordinates = []  # (joint, label)
        unit = self.ffi.new("const char **")
        for k in range(self.lib.hn_model_field_width(self.model, b"joints/coordinates")):
            size = self.lib.hn_model_field_column_size(self.model, b"joints/coordinates", k)
            name = self.ffi.new("char[]", size)
            self._try(self.lib.hn_model_field_column(self.model, b"joints/coordinates", k, name, size, unit))
            _, rest = self._text(name).split("/", 1)
            joint, label = rest.split("/coordinates/")
            self.coordinates.append((joint, label))
        effort = self.ffi.new("hn_input *")
        self._try(self.lib.hn_simulation_input(self.simulation, b"joints/effort", effort))
        self.efforts = numpy.frombuffer(self.ffi.buffer(effort.data, 8 * len(self.coordinates))
                                        if self.coordinates else b"", dtype=float)

    def _note(self, line, _user):
        self.notes.append(self._text(line))

    def _text(self, text):
        return self.ffi.string(text).decode()

    @staticmethod
    def _vector(v):
        return [v.x, v.y, v.z]

    @staticmethod
    def _matrix(m):
        return [[m.m[i][k] for k in range(3)] for i in range(3)]

    def _try(self, status):
        if status != 0:
            message = self._text(self.lib.hn_context_message(self.context))
            self.close()
            raise RuntimeError(message)

    def view(self, name):
        view = self.ffi.new("hn_view *")
        self._try(self.lib.hn_simulation_view(self.simulation, name.encode(), view))
        shape = tuple(view.shape[i] for i in range(view.rank))
        size = int(numpy.prod(shape)) if shape else 1
        data = numpy.frombuffer(self.ffi.buffer(view.data, 8 * size), dtype=float) if size else numpy.zeros(0)
        return data.reshape(shape)

    def set(self, coordinates, rates):
        q = numpy.ascontiguousarray(coordinates, dtype=float)
        v = numpy.ascontiguousarray(rates, dtype=float)
        self._try(self.lib.hn_simulation_set_joints(self.simulation, self.ffi.from_buffer("double[]", q),
                                                    self.ffi.from_buffer("double[]", v), len(q)))

    def accelerations(self):
        linear, angular = numpy.zeros((len(self.bodies), 3)), numpy.zeros((len(self.bodies), 3))
        self._try(self.lib.hn_simulation_accelerations(
            self.simulation, self.ffi.from_buffer("double[]", linear, require_writable=True),
            self.ffi.from_buffer("double[]", angular, require_writable=True), len(self.bodies)))
        return linear, angular

    def close(self):
        if self.context:
            self.lib.hn_simulation_destroy(self.simulation)
            self.lib.hn_model_destroy(self.model)
            self.lib.hn_context_destroy(self.context)
            self.context = None
