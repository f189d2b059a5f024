"""The bare view as an application for daphne."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchmarks.bare.settings")

from django.core.asgi import get_asgi_application

application = get_asgi_application()
