"""Authentication at a REST catalog: bearer tokens and signatures of Alibaba Cloud DLF."""
