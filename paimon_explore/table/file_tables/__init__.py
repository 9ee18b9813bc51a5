"""Tables that are folders of files without Paimon's metadata: format tables and object tables."""
