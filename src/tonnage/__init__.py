"""Tonnage: does a large language model fit on a set of accelerators, from one ledger of bytes per rank."""

__version__ = "0.1.0"
