"""Sources: memories of others, read from a folder or over HTTPS, without trusting them."""
