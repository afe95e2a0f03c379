"""The HTTP door: packets, memories and context for people and teams, over the network (facts, 000.3; decisions H)."""
