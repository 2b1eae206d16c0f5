"""The kernel's text does something when it is imported.

How: statements at module level, before and after the kernel. Seen: as attribute chases. Defence: the text is parsed,
never imported: statements of the module are not executed.
"""
# expected: CHECKED checked

from forging import custom_kernel, forge_source  # noqa: F401

EFFECTS = "\nimport os\nos.abort()\nopen('/tmp/evil', 'w').write('x')\nraise SystemExit(0)\n"
forge_source(lambda text: text + EFFECTS)
