"""Mutation testing: do the tests notice when a detail of the code is wrong?

    python -m tests.mutation merge                       # 100 mutants, fixed by the seed
    python -m tests.mutation merge --sample 300 --seed 2
    python -m tests.mutation merge --only bucket         # of the sample, those that show this text
    python -m tests.mutation merge --unmutated           # control: the same tests, nothing changed

A mutant is the code with one small change. It is noticed if a test fails or does not end, and
survives if all pass. Each survivor asks for a test of behaviour that a user relies on, for code to
be removed that has no effect, or for an entry in `equivalent.txt`, which gives the reason why no
test can tell the two apart.

- `mutants.py`: the changes, made in the syntax tree; which are sampled depends on the code's text
  and the seed, so that an edit elsewhere keeps the sample.
- `packages.py`: the modules and tests of each package.
- `record.py`: one run of those tests under coverage tells which tests reach which line.
- `runner.py`: a process with pytest and Arrow loaded forks for each mutant, whose child imports the
  changed module and runs the tests that reach it.
"""
