"""Peers at the same work, as scripts for an environment of their own, without Felix."""
