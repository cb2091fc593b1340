"""Stage 3: rules and subjects become answers; one folder per engine."""
