"""One script per claim of docs/benchmarks.md, beside a floor or a peer of the same run."""
