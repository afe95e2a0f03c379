"""From one form of memory to another: so far, from a recorded session to the draft of a packet."""
