"""Stubs generated from proto/numbridge/v1 by `make proto`; never edited by hand."""
