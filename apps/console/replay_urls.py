"""Paths of replays: the part of the review, and the pages of their own."""

from django.urls import URLPattern, URLResolver, path

from apps.console.views import replays

replaying: list[URLPattern | URLResolver] = [
    path("publish/replay/", replays.panel, name="publish-replay"),
    path("publish/replay/check/", replays.check, name="publish-replay-check"),
    path("replays/", replays.replays, name="replays"),
    path("replays/rule/", replays.rule, name="replays-rule"),
    path("replays/<replay_id:replay_id>/", replays.replay, name="replay"),
    path("replays/<replay_id:replay_id>/cancel/", replays.cancel, name="replay-cancel"),
]
