"""The schema of this version: the newest migration."""

HEAD = "0010"
