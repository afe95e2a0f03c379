"""What every part stands on: errors, text, time, ids, hashes, files. No part of Segue is imported here."""
