"""What an hour of a device costs, from a table with dates: `prices.toml` beside the suites' data. The given price decides."""

import math
import tomllib
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from perfd.errors import BadInputError

FILE = "prices.toml"


@dataclass(frozen=True)
class Price:
    """One line of the table."""

    device_class: str
    """As perfd names it: "gpu:NVIDIA H200"; "*" at its end stands for anything."""
    per_hour: float
    """For one device."""
    currency: str
    valid_from: date
    source: str
    """A sentence on where the price is from."""

    def fits(self, device_class: str) -> bool:
        """Whether the line is for that device class."""
        if self.device_class.endswith("*"):
            return device_class.startswith(self.device_class[:-1])
        return device_class == self.device_class


def price_for(path: Path, device_class: str, day: date) -> Price | None:
    """The youngest price of that device class that was valid on `day`; absent where the table has none, or there is no table."""
    valid = [price for price in read_prices(path) if price.fits(device_class) and price.valid_from <= day]
    return max(valid, key=lambda price: price.valid_from, default=None)


def read_prices(path: Path) -> list[Price]:
    """Every line of the table; raises BadInputError with the number of the line that is wrong."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        raise BadInputError(f"{path}: no readable TOML ({error})") from None
    lines = document.get("prices", [])
    if not isinstance(lines, list) or set(document) - {"prices"}:
        raise BadInputError(f"{path}: holds [[prices]] and nothing else; see the comment at its top")
    return [_price(path, number, line) for number, line in enumerate(lines, start=1)]


def _price(path: Path, number: int, line: Any) -> Price:
    wanted: dict[str, type | tuple[type, ...]] = {
        "device_class": str,
        "per_hour": (int, float),
        "currency": str,
        "valid_from": date,
        "source": str,
    }
    wrong = [name for name, kind in wanted.items() if not isinstance(line, dict) or not isinstance(line.get(name), kind)]
    if wrong or set(line) - set(wanted):
        told = wrong[0] if wrong else min(set(line) - set(wanted))
        raise BadInputError(f"{path}: price {number}: {told} is missing or wrong; a price has {', '.join(wanted)}")
    if not (math.isfinite(line["per_hour"]) and line["per_hour"] > 0):
        raise BadInputError(f"{path}: price {number}: per_hour is {line['per_hour']}; give an amount above 0")
    return Price(line["device_class"], float(line["per_hour"]), line["currency"], line["valid_from"], line["source"])
