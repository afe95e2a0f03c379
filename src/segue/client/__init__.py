"""The client of a packet server: its HTTP contract, credentials, and what decides about a sync."""
