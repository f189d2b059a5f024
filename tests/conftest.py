"""What every test runs under."""

from hypothesis import settings

# A property is about what is true, not about how fast this machine is today.
settings.register_profile("felix", deadline=None)
settings.load_profile("felix")
