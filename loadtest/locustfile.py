"""What locust loads: `locust -f loadtest/locustfile.py --host http://127.0.0.1:8080`."""

import os
import sys
from pathlib import Path

from locust import LoadTestShape

sys.path.insert(0, str(Path(__file__).parents[1]))

from loadtest import health  # noqa: F401  # its listeners
from loadtest.people import Commuter, Player, Spectator, Troublemaker
from loadtest.shapes import Shape

__all__ = ["Commuter", "Player", "Spectator", "Troublemaker"]

SPAWN_PER_S = 20.0

if name := os.environ.get("SHAPE"):
    _SHAPE = Shape(name, int(os.environ.get("USERS", "100")), float(os.environ.get("LENGTH_S", "300")))
    _SHAPE.at(0)  # a wrong name ends here

    class Run(LoadTestShape):
        """The shape that the environment names."""

        def tick(self) -> tuple[int, float] | None:
            """People now, and how fast they come."""
            people = _SHAPE.at(self.get_run_time())
            return None if people is None else (people, SPAWN_PER_S)
