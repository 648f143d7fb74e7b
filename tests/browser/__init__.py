"""The web client in real headless Chromium against a real cluster."""
