"""The safetensors format: header of one file, and the index over several."""
