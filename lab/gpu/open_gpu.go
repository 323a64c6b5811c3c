//go:build cuda && (linux || windows) && amd64

package gpu

func openProvider(ordinal int) (Provider, error) {
	x, err := openOrdinal(ordinal)
	if err != nil {
		// Not a nil *provider in an interface.
		return nil, err
	}
	return x, nil
}
