# SPDX-License-Identifier: MIT
"""The studies of examples/: what their page says of them holds.

usage: test_study_examples.py TOOL SOURCE_FOLDER
"""

import os
import sys
import time
import unittest

import test_cli
from test_cli import SOURCE, h5py, need_h5py


class Examples(test_cli.ToolTest):
    def study(self, name, *words):
        begun = time.monotonic()
        done = self.check(0, "study", os.path.join(SOURCE, "examples/studies", name + ".yaml"), "-o", name + ".h5", *words)
        self.assertLess(time.monotonic() - begun, 60)  # s; measured 0.3 s, and 4 s for a part of the deployment
        return done.stdout

    @need_h5py
    def test_the_linkage_moves_where_bricard_says_so(self):
        self.assertIn("44 of 64 members failed", self.study("linkage-tolerances"))
        with h5py.File(self.path("linkage-tolerances.h5"), "r") as file:
            errors, failed, messages = file["parameters"][:], file["failed"][:], file["messages"][:]
        for row, bound, message in zip(errors, failed, messages):
            lengths = 0.1 + row
            # m^2; an error of one link is 2e-6
            closes = abs(sum(lengths[0::2] ** 2) - sum(lengths[1::2] ** 2)) < 1e-9
            self.assertEqual(bool(bound), not closes, f"{row}: {message}")
            if bound:
                self.assertIn(b"does not close", message)

    @need_h5py
    def test_panels_that_are_alike_open_alike(self):
        self.study("deployment-scatter", "--shard", "1/8")
        with h5py.File(self.path("deployment-scatter.h5"), "r") as file:
            names = [name.decode() for name in file["output_names"][:]]
            rows = {name: file["outputs"][:, i] for i, name in enumerate(names)}
        self.assertEqual(len(rows["left_open"]), 32)
        for side in ("left_open", "right_open"):
            self.assertTrue(((rows[side] > 3.4) & (rows[side] < 4.4)).all(), rows[side])
        # no torque from outside: what turns the hub is the difference of the panels, and it turns back
        self.assertLess(abs(rows["hub_drift"]).max(), 0.03)

    def test_the_wishbone_is_mapped(self):
        self.assertIn("26 of 104 members", self.study("wishbone-map", "--shard", "1/4"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=2)
