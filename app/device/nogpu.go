//go:build !(cuda && (linux || windows) && amd64)

package device

import (
	"blik/cuda/driver"
	"blik/processing"
)

func gpus() ([]Device, error) { return nil, &driver.Problem{Reason: driver.NotBuilt} }

func openGPU(int) (processing.Backend, error) { return nil, &driver.Problem{Reason: driver.NotBuilt} }
