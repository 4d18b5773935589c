"""The room of all games of OpenSpiel: words, drawing and agents that serve any of them."""
