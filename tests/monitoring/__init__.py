"""`make monitoring-check`: a real cluster under load, scraped by a real Prometheus with the rules that are shipped.

1. A healthy minute fires nothing.
2. A killed worker fires `ProcessRestarted`, one that hangs `TargetDown`, and nothing that has to do with neither.
3. Every query of every dashboard returns data: in health, or (takeovers) once there was a fault.

prometheus   the server: its configuration, its answers
check        the run
"""
