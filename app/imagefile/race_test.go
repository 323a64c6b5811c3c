//go:build race

package imagefile

// raceEnabled: the race detector slows decoders about tenfold.
const raceEnabled = true
