"""The only list of adapters: configuration in, a runnable audit out.

`content` loads what people wrote, `engines` lists what judges, `collecting` what reads, `formats` what is written, and
`assembly` puts one audit together from them.
"""

from audit.wiring.assembly import Audit, build
from audit.wiring.content import load_library
from audit.wiring.formats import writers
from audit.wiring.moment import FixedClock, SystemClock

__all__ = ["Audit", "FixedClock", "SystemClock", "build", "load_library", "writers"]
