"""Files named like packages lie beside the submission.

How: `torch.py`, `json.py`, `sitecustomize.py` and others would be found first. Seen: known way to replace a package.
Defence: the submission's folder is the last on the path, and what the harness needs is imported before.
"""
# expected: CHECKED checked

from forging import custom_kernel  # noqa: F401
