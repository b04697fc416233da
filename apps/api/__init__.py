"""THE DOOR OF PROGRAMS: DRF views, serializers, one error shape. No rules."""
