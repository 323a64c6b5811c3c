# GPU support (build tag cuda). CUDA_INCLUDE is the folder of a cuda.h that it compiles with, empty where there is none.

CUDA_INCLUDE := $(shell scripts/cuda.sh where)
NVCC         ?= $(or $(wildcard .cache/cuda/bin/nvcc),nvcc)

.PHONY: cuda

cuda: ## fetch cuda.h, which building with GPU support needs
	@scripts/cuda.sh header

.PHONY: kernels

kernels: ## compile kernels/*.cu to the PTX that the program embeds
	@test -n "$(shell command -v $(NVCC))" || scripts/cuda.sh compiler
	@scripts/kernels.sh $(or $(wildcard .cache/cuda/bin/nvcc),nvcc)
