"""What the doors call: each method is one unit of work over the store, with the parts deciding and storage writing."""
