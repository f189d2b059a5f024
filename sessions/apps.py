from django.apps import AppConfig


class SessionsConfig(AppConfig):
    """The log. The label is not `sessions`.

    Django.contrib.sessions has that one, and tables are named by label.
    """

    name = "sessions"
    label = "agent_sessions"
    verbose_name = "Agent sessions"
    default_auto_field = "django.db.models.BigAutoField"
