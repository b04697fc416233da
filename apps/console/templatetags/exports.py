"""What the list of exports says about each file."""

from django import template

from apps.console.audit_list import filters_told

register = template.Library()
register.filter("filters_told", filters_told)
