from django.apps import AppConfig


class TenancyConfig(AppConfig):
    """Tenants, members and keys.

    The first app, so it makes sure that `shared_task` finds our Celery app.
    """

    name = "felix_web.tenancy"
    label = "tenancy"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        import felix_web.celery  # noqa: F401  registers the app that `shared_task` binds to
