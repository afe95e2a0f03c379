"""How the services of an open store are made: each when it is first asked for, from what the store was opened with."""
