"""The store: tables, migrations, and functions over one connection. It retrieves and writes; it decides nothing."""
