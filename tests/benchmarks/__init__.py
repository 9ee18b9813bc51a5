"""Speed and memory, measured side by side with other implementations on the same tables.

    python tests/benchmarks                            # everything; tables are made when missing
    python tests/benchmarks plan commit --rounds 3     # some groups
    python tests/benchmarks plan --only 1m --contenders ours,rust

Each contender lives in a child process of its own and the runs are interleaved: A B C A B C. The
first round warms up; its peak of memory is what is told, its times are not. A machine is never
quiet, so what is compared is CPU seconds over all threads, as a ratio to a peer in the same run.
Contenders must agree on what a run returns (`check`).

- `case.py`: what a measurement is. `workloads/`: the measurements, one module per group.
- `data/`: the tables, written by this library from fixed seeds.
- `contenders/`: one module per implementation, a function per operation, public APIs only. They run
  in the environment with the peers (see `.ci/test`) or in what `--python rust=/path` says.
- `far_server.py`: the store of the group `far`, which counts requests and answers late.
- `runner.py`, `child.py`: both ends of the pipe. `report.py`: Markdown from the JSON.
"""
