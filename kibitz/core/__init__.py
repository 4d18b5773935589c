"""The contract that everything else stands on."""
