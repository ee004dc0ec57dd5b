"""Readers of `quantization_config`, one per method."""
