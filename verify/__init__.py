"""The paper's claims: obligations, checks, verdicts, and the command line."""
