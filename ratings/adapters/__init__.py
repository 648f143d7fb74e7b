"""Real adapters of the ports: NATS and Redis. SQL's are in `store`."""
