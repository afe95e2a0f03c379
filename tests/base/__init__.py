"""Tests of `segue.base`. A package, so that its modules may have the names of what they test."""
