"""The tools of two snapshots as one set of bits, so that their masks can be compared."""

from apps.firewall.engine.compile import Engine


class Joint:
    """Brings the masks of one snapshot to the bits of both."""

    __slots__ = ("_beyond", "_bits", "_known", "_same")

    def __init__(self, engine: Engine, names: tuple[str, ...]) -> None:
        own = engine.universe.names
        self._same = own == names
        places = {name: 1 << bit for bit, name in enumerate(names)}
        self._bits = [places[name] for name in own]
        self._beyond = 0 if self._same else (1 << len(names)) - 1 - sum(self._bits)
        self._known: dict[int, int] = {}

    def mask(self, mask: int) -> int:
        """Return a mask over the tools of both."""
        if self._same:
            return mask
        joint = self._known.get(mask)
        if joint is None:
            joint = self._known[mask] = sum(bit for at, bit in enumerate(self._bits) if mask >> at & 1)
        return joint

    def open_mask(self, mask: int) -> int:
        """Return the mask of one layer: it says nothing about tools that only the other snapshot has."""
        return self.mask(mask) | self._beyond
