"""One module per numbered statement or small family: its obligations and checks."""
