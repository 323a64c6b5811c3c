//go:build cuda && (linux || windows) && amd64

package device

import "blik/cuda"

func openExperiments(ordinal int) (Provider, error) {
	x, err := cuda.OpenExperiments(ordinal)
	if err != nil {
		// Not a nil *cuda.Experiments in an interface.
		return nil, err
	}
	return x, nil
}
