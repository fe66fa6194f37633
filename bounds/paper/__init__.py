"""The bounds of Ye and Shokri 2022, one file each."""

PAPER = "Ye and Shokri 2022"
