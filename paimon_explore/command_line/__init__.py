"""The command line program `paimon-explore`: one module per group of commands.

`program.run` runs a command line with click; `show` and `lab` are parsed by `plain_commands`,
which needs no package of the extra `cli`.
"""
