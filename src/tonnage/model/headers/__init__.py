"""Headers of checkpoint files: tensor names, types and shapes without reading tensor data."""
