from django.apps import AppConfig


class AuditConfig(AppConfig):
    """The append-only trail."""

    name = "felix_web.audit"
    label = "audit"
    default_auto_field = "django.db.models.BigAutoField"
