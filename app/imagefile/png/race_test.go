//go:build race

package png

// raceEnabled: the race detector slows compression about tenfold.
const raceEnabled = true
