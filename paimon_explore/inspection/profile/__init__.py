"""Column profiles: counts, bounds, distinct values and histograms, from statistics or from rows."""
