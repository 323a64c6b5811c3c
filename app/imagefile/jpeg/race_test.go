//go:build race

package jpeg

// raceEnabled: the race detector slows decoders about tenfold.
const raceEnabled = true
