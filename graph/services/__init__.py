"""Use cases, one package a surface, written once against the store port."""
