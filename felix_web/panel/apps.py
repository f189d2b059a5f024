from django.apps import AppConfig


class PanelConfig(AppConfig):
    """The HTML shell: sign-in, home, attention line, error pages, template tags."""

    name = "felix_web.panel"
    label = "panel"
    default_auto_field = "django.db.models.BigAutoField"
