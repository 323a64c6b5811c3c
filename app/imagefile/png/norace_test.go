//go:build !race

package png

const raceEnabled = false
