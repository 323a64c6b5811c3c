package processing

import (
	"fmt"
	"math"

	"blik/internal/message"
)

// mostSensitivity is the largest sensitivity; the least one is its opposite.
const mostSensitivity = 5

// stops returns the stops of the default decision.
func stops() []Stop {
	d, err := DefaultDecision()
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
	for _, s := range stops() {
		list = append(list, SpecStop{s.ID, names[s.ID], s.Sensitivity})
	}
	return list
}

// StopValues returns the sensitivities of the stops.
func StopValues() []float64 {
	var values []float64
	for _, s := range stops() {
		values = append(values, s.Sensitivity)
	}
	return values
}

// sensitivityHelp describes what the sensitivity does, and what was measured at its stops.
func sensitivityHelp() message.Message {
	parts := []message.Message{message.Of("The least strength of a finding: higher values find more and fainter " +
		"glare, lower ones keep only what is certain. The classical detector does not use it. The following values " +
		"can also be given by name:")}
	for i, s := range stops() {
		end := ";"
		if i == len(stops())-1 {
			end = "."
		}
		figure := message.Figures(fmt.Sprintf("%g", s.Sensitivity))
		if s.Bright == 0 {
			parts = append(parts, message.Of("%s (%s, %s)%s", stopNames()[s.ID], s.ID, figure, end))
			continue
		}
		percent := func(share float64) int { return int(math.Round(100 * share)) }
		parts = append(parts, message.Of("%s (%s, %s) finds %d %% of the bright and %d %% of the dim glints on "+
			"crops by which the training was chosen, with %s false findings per megapixel without glare%s",
			stopNames()[s.ID], s.ID, figure, percent(s.Bright), percent(s.Dim),
			message.Figures(fmt.Sprintf("%.1f", s.False)), end))
	}
	return message.Join(" ", parts...)
}
