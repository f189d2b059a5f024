"""Django's settings, read from the environment through `env`; none needs to be set."""

from __future__ import annotations

from pathlib import Path

from felix_web import env
from felix_web.deployment import secret_key
from felix_web.logs import logging_settings

BASE_DIR = Path(__file__).resolve().parent.parent
DATA_DIR = Path(env.text("FELIX_DATA_DIR")).absolute()

BIND = env.text("FELIX_BIND")
PORT = env.integer("FELIX_PORT")
IS_LOOPBACK = BIND in ("127.0.0.1", "::1", "localhost")
REDIS_URL = env.url("FELIX_REDIS_URL")
IS_EMBEDDED = not REDIS_URL
AUTH_MODE = env.text("FELIX_AUTH_MODE")
LEASE_SECONDS = env.number("FELIX_LEASE_SECONDS")
SWEEP_SECONDS = env.number("FELIX_SWEEP_SECONDS")
WORKER_SLOTS = env.integer("FELIX_WORKER_SLOTS")
DEPLOYMENT_SCOPE_TENANTS = env.names("FELIX_DEPLOYMENT_SCOPE_TENANTS")

DEBUG = False
SECRET_KEY = secret_key(env.text("FELIX_SECRET_KEY"), DATA_DIR)
ALLOWED_HOSTS = [*env.names("FELIX_ALLOWED_HOSTS"), "127.0.0.1", "localhost", "[::1]"]

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "channels",
    "csp",
    "django_htmx",
    "felix_web.tenancy.apps.TenancyConfig",
    "felix_web.audit.apps.AuditConfig",
    "felix_web.panel.apps.PanelConfig",
    "sessions.apps.SessionsConfig",
    "approvals.apps.ApprovalsConfig",
    "agents.apps.AgentsConfig",
]

MIDDLEWARE = [
    "felix_web.surfaces.hosts.known_host",
    "felix_web.panel.page_middleware.PageSecurity",
    "felix_web.surfaces.static_files.static_files",
    "felix_web.panel.page_middleware.PageCsp",
    "felix_web.panel.page_middleware.PageSessions",
    "felix_web.panel.page_middleware.PageCsrf",
    "felix_web.panel.page_middleware.PageAuthentication",
    "felix_web.panel.page_middleware.PageHtmx",
    "felix_web.panel.middleware.signed_in_member",
    "felix_web.panel.page_middleware.PageFrames",
]

ROOT_URLCONF = "felix_web.urls"
ASGI_APPLICATION = "felix_web.asgi.application"
APPEND_SLASH = True

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": False,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "felix_web.panel.context.shell",
            ],
            "libraries": {"felix": "felix_web.panel.tags"},
        },
    }
]

DATABASES = {
    "default": env.database(
        env.text("FELIX_DATABASE_URL"), sqlite_synchronous=env.text("FELIX_SQLITE_SYNCHRONOUS")
    )
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_USER_MODEL = "tenancy.User"
LOGIN_URL = "/sign-in/"
AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 12},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

CACHES = {
    "default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": REDIS_URL}
    if REDIS_URL
    else {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}
}
CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {"hosts": [REDIS_URL]},
    }
    if REDIS_URL
    else {"BACKEND": "channels.layers.InMemoryChannelLayer"}
}

SESSION_ENGINE = "django.contrib.sessions.backends.cached_db"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = env.flag("FELIX_HTTPS")
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if env.flag("FELIX_HTTPS") else None
CSRF_TRUSTED_ORIGINS = [
    f"https://{host}" for host in env.names("FELIX_ALLOWED_HOSTS") if "*" not in host
]
CSRF_FAILURE_VIEW = "felix_web.panel.errors.csrf_failure"
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CONTENT_TYPE_NOSNIFF = True
DATA_UPLOAD_MAX_MEMORY_SIZE = LARGEST_BODY_BYTES = 1024 * 1024
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'"],
        "font-src": ["'self'"],
        "connect-src": ["'self'"],
        "form-action": ["'self'"],
        "frame-ancestors": ["'none'"],
        "base-uri": ["'none'"],
    }
}

STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = False

USE_TZ = True
TIME_ZONE = "UTC"
USE_I18N = False
LANGUAGE_CODE = "en"

CELERY_BROKER_URL = REDIS_URL or "felix-embedded://localhost/"
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
if REDIS_URL:
    # Without Redis a ring must fail at once: the send it follows is committed and must not wait.
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "max_retries": 0,
        "socket_connect_timeout": 0.5,
        "socket_timeout": 5.0,
    }
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_DEFAULT_QUEUE = "felix"
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BEAT_SCHEDULE = {
    "sweep": {"task": "agents.sweep", "schedule": SWEEP_SECONDS, "options": {"expires": 30}}
}

LOGGING = logging_settings(
    level=env.text("FELIX_LOG_LEVEL"), log_format=env.text("FELIX_LOG_FORMAT")
)
NINJA_PAGINATION_MAX_LIMIT = 200
