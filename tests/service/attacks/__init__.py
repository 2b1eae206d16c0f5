"""Attacks on the service: a file each, named `<outcome>_<trick>`, with a function `attack(arena)`.

`refused` means that nothing of it is carried out and the answer says why; `neutral`, that it is carried out as if it
were honest, and gains nothing. The docstring says how it works, where its like was seen, what defends; what `attack`
returns is a line for the table of what came of it. `arena` is what there is to attack.
"""
