"""``python -m audit`` is ``fleetaudit``."""

from __future__ import annotations

import sys

from audit.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
