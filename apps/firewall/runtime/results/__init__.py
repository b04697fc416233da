"""What a tool returned, made fit for a model and safe to store: `settle(outcome, …)` gives both copies at once.

`cutting` cuts a value and says so, `media` takes images and files out while texts are masked, `settling` puts it all
together. No clock, no store, no port: everything is an argument. May import what `apps.firewall.runtime` may.
"""

from apps.firewall.runtime.results.cutting import Cut, characters_of, cut_value
from apps.firewall.runtime.results.rules import ResultRules
from apps.firewall.runtime.results.settling import Settled, settle, shown_of

__all__ = ["Cut", "ResultRules", "Settled", "characters_of", "cut_value", "settle", "shown_of"]
