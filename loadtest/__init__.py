"""Load test with locust: real players over the public protocol. See README.md here."""
