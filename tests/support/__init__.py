"""Builders, fakes and servers that tests share."""
