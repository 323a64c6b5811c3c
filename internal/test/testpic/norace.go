//go:build !race

package testpic

// Race reports whether the test runs under the race detector, which slows decoders about tenfold.
const Race = false
