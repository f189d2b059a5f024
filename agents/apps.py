from django.apps import AppConfig


class AgentsConfig(AppConfig):
    """What an agent is, and running it."""

    name = "agents"
    label = "agents"
    default_auto_field = "django.db.models.BigAutoField"
