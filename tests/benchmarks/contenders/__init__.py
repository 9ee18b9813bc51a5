"""One module per implementation.

A function is an operation: it takes the warehouse and the case's parameters, and gives what all
contenders must agree on; under `figures`, numbers of its own. What `prepare_<operation>` gives is
made outside of the clock and handed over as `prepared`; `check_<operation>` turns what the
operation gave into what contenders must agree on, outside of the clock, too.
"""
