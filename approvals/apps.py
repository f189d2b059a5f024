from django.apps import AppConfig


class ApprovalsConfig(AppConfig):
    """Who may let it continue."""

    name = "approvals"
    label = "approvals"
    default_auto_field = "django.db.models.BigAutoField"
