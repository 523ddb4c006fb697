"""Stand-ins of the few modules of vLLM and vllm-gaudi that the plugin touches. See README.md."""
