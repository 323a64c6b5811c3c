//go:build cuda && linux && amd64

package cuda

import "blik/processing/experiment"

func slidingVariants(*Backend) []experiment.Variant { return nil }
