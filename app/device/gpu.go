//go:build cuda && (linux || windows) && amd64

package device

import (
	"fmt"

	"blik/cuda"
	"blik/processing"
)

func gpus() ([]Device, error) {
	infos, err := cuda.Devices()
	var list []Device
	for _, i := range infos {
		list = append(list, Device{Name: fmt.Sprintf("cuda:%d", i.Ordinal), Title: i.Name, Memory: i.Memory,
			Capability: i.Capability, Driver: i.Driver})
	}
	return list, err
}

func openGPU(ordinal int) (processing.Backend, error) {
	b, err := cuda.Open(ordinal)
	if err != nil {
		// Not a nil *cuda.Backend in an interface.
		return nil, err
	}
	return b, nil
}
