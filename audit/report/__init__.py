"""Writers: one result, one view, several formats. Pick one from here; `audit.wiring` lists them all."""
