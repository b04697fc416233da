"""Paths of the people's door."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
