"""The parts of a picture: elements as text, what is shown of them, and three ways to draw it."""
