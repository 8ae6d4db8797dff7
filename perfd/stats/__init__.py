"""The numbers: floats in, floats out; numpy and nothing else. Each file says its formula, its cost and its source."""
