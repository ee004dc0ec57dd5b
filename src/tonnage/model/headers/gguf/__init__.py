"""The GGUF format: metadata and tensor list of one file, and files split in parts."""
