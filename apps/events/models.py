"""The processes that run calls now, and the questions whether they have all heard."""

from django.db import models
from django.db.models.functions import Now

from apps.firewall.identifiers import new_id


class Process(models.Model):
    """One process that runs calls. It lives while its lease lasts, by the database's clock.

    `heard` is the highest number of a question that it has answered: it holds to all that was committed before.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    host = models.TextField()
    pid = models.IntegerField()
    kind = models.CharField(max_length=16)  # server or worker
    started_at = models.DateTimeField()
    lease_until = models.DateTimeField()
    heard = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.kind} {self.pid} on {self.host}"


class Barrier(models.Model):
    """One question, asked after a change: who holds to it? Its number is greater than that of every earlier one."""

    id = models.BigAutoField(primary_key=True)
    asked_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return str(self.pk)


class ClockStep(models.Model):
    """A step of a machine's clock of the day; one of 0 seconds is what the first process found.

    `offset_s` is how far that clock was ahead of the machine's steady one afterwards.
    """

    id = models.BigAutoField(primary_key=True)
    machine = models.TextField()
    offset_s = models.FloatField()
    step_s = models.FloatField()
    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.step_s:+.0f} s at {self.at}"
