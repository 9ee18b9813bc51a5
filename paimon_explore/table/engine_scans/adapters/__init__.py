"""Scans as PyTorch datasets, Ray datasources and Daft sources; one package for each module."""
