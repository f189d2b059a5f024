"""One script per claim of docs/benchmarks.md, each beside a floor or a peer measured in the same run."""
