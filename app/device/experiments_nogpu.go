//go:build !(cuda && (linux || windows) && amd64)

package device

import "blik/cuda/driver"

func openExperiments(int) (Provider, error) { return nil, &driver.Problem{Reason: driver.NotBuilt} }
