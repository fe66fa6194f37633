"""What proofs and refutations leave behind, and a checker that shares no code with the prover."""
