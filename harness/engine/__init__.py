"""Where the stages run: on this machine, in sandboxed child processes that the parent watches.

One module per stage, each taking the previous stage's result and giving its own or a verdict; `submit` joins them.
"""
