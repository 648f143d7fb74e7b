"""A dealt field with the rules it is played under: what no move changes."""

from dataclasses import dataclass

from tablesvc.engine import blocks
from tablesvc.engine.decided import PIE_VARIANTS
from tablesvc.engine.geometry import Geometry, geometry
from tablesvc.engine.settings import Deal, GameSettings


@dataclass(frozen=True, slots=True)
class Field:
    """The deal as sets of cells. Secret: holds the solution."""

    geometry: Geometry
    solution: tuple[int, ...]
    """The right digit of each cell."""
    digits: str
    """The same as characters."""
    givens: int
    """Cells open from the start."""
    blocks: tuple[int, ...]
    """Each block's cells."""
    domains: bool
    """Whether blocks are counted (Domains) or sides connected (Bridge, Blitz)."""
    pie: bool
    """Whether the pie rule holds."""
    claim_price: int


def make_field(settings: GameSettings, deal: Deal) -> Field:
    """The field of a deal. Trusts it: `record_check` is where deals are doubted."""
    return Field(
        geometry=geometry(settings.side),
        solution=tuple(map(int, deal.solution)),
        digits=deal.solution,
        givens=sum(1 << cell for cell, digit in enumerate(deal.givens) if digit != "."),
        blocks=blocks.masks(settings.side, deal.blocks),
        domains=settings.variant == "domains",
        pie=settings.variant in PIE_VARIANTS,
        claim_price=settings.claim_price,
    )
