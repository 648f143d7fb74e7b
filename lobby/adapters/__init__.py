"""The lobby's ports made real: one client library a file."""
