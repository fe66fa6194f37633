"""Records in, pages out: reports know no mathematics."""
