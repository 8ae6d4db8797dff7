"""Small programs that are copied into a Build and run by its own interpreter, for packages without a server command."""
