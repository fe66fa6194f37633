"""One module a command: its file name is the command's name, `command` the click command, `ABOUT`
what it is about."""
