"""Peers doing the same work, as scripts for an environment of their own: nothing of Felix is imported."""
