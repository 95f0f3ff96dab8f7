"""Tests of Rootward."""
