package report

import (
	"encoding/csv"
	"io"
	"strconv"

	"blik/processing/detect"
)

// ListedFinding is a finding in the list of the window.
type ListedFinding struct {
	detect.Finding
	// Number is what the window calls the finding.
	Number int
	// Detected: a detection found it; otherwise peak, contrast and score are left empty.
	Detected bool
	// Decision is "kept", "ignored" or empty, State "not corrected", "partly" or "corrected", Method the ID of the
	// method that corrected it.
	Decision, State, Method string
}

// WriteList writes a line for each finding under a heading, as WriteCSV does, with what was decided and corrected. Its
// id is the number of the window, also that of an ignored finding.
func WriteList(w io.Writer, file string, list []ListedFinding) error {
	rows := [][]string{heading("kind", "certainty", "check", "decision", "state", "method", "reasons")}
	real := func(v float64, digits int) string { return strconv.FormatFloat(v, 'f', digits, 64) }
	for _, f := range list {
		peak, contrast, score, kind := "", "", "", ""
		if f.Detected {
			peak, contrast, score = strconv.Itoa(f.Peak), real(f.Contrast, 4), real(f.Score, 3)
			kind = f.Kind.ID()
		}
		rows = append(rows, append(where(file, f.Number, &f.Finding, real), peak, contrast, real(f.Elongation, 2),
			score, kind, certainty(f.Evidence, real), check(f.Evidence),
			f.Decision, f.State, f.Method, inWords(f.Reasons())))
	}
	return csv.NewWriter(w).WriteAll(rows)
}
