//go:build !(cuda && (linux || windows) && amd64)

package gpu

import "blik/cuda/driver"

func openProvider(int) (Provider, error) { return nil, &driver.Problem{Reason: driver.NotBuilt} }
