"""The browser workbench: play, watch, kibitz, review, compare and train."""
