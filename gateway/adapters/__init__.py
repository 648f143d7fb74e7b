"""gRPC and NATS behind the gateway's ports; one client library a file."""
