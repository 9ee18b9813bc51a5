"""Read, write, explain and explore Apache Paimon tables."""
