package processing

import (
	"fmt"
	"math"
	"sync"

	"blik/internal/message"
)

// embedded returns the decision that the program was built with.
var embedded = sync.OnceValues(func() (*Decision, error) { return ReadDecision(decisionFile) })

// measuredStops returns the stops of the embedded decision.
func measuredStops() []Stop {
	d, err := embedded()
	if err != nil {
		return nil
	}
	return d.Stops
}

// stopNames returns the names of the stops, by their IDs.
func stopNames() map[string]message.Message {
	return map[string]message.Message{
		"certain": message.Of("only certain"), "balanced": message.Of("balanced"),
		"visible": message.Of("everything visible"), "dim": message.Of("dim specks too"),
	}
}

// sensitivityStops returns the named values of the sensitivity.
func sensitivityStops() []SpecStop {
	names := stopNames()
	var list []SpecStop
	for _, s := range measuredStops() {
		list = append(list, SpecStop{s.ID, names[s.ID], s.Sensitivity})
	}
	return list
}

// sensitivityHelp describes what the sensitivity does, and what was measured at its stops.
func sensitivityHelp() message.Message {
	parts := []message.Message{message.Of("Added to every score: higher values find more and fainter glare, " +
		"lower ones keep only what is certain. Each step changes the number of false findings by the same " +
		"factor. The following values can also be given by name; they were measured with rendered glare on " +
		"paintings that were not used for the fit:")}
	for _, s := range measuredStops() {
		percent := func(share float64) int { return int(math.Round(100 * share)) }
		parts = append(parts, message.Of("%s (%s, %s) finds %d %% of the bright and %d %% of the dim glints, with "+
			"%s false findings per megapixel without glare;",
			stopNames()[s.ID], s.ID, message.Figures(fmt.Sprintf("%g", s.Sensitivity)),
			percent(s.Bright), percent(s.Dim), message.Figures(fmt.Sprintf("%.1f", s.False))))
	}
	parts = append(parts, message.Of("0 is balanced."))
	return message.Join(" ", parts...)
}
