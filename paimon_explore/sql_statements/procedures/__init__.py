"""`CALL sys.…`: the procedures, by what they do."""
