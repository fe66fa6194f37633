"""The bounds that the paper compares itself with, and later ones, one file each."""
