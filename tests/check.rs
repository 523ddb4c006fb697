//! `gaudi-kv check` against captured activations, their float64 results, and what goes wrong in public.
