package words

import (
	"fmt"
	"strings"

	"blik/app/document"
	"blik/processing"
	"blik/processing/detect"
)

// Found counts the findings of a picture.
func (w *Words) Found(doc *document.Document) string {
	stats, size := doc.Stats(), doc.Size()
	if stats.Area == 0 {
		return w.t("Mask is empty")
	}
	share := float64(stats.Area) / float64(size.X) / float64(size.Y)
	return w.texts.Plural(stats.Spots, "%s finding, %s px, %s %%", "%s findings, %s px, %s %%",
		w.texts.Int(stats.Spots), w.texts.Int(stats.Area), w.texts.Number(share*100, 3))
}

// Findings writes a number of findings.
func (w *Words) Findings(n int) string {
	return w.texts.Plural(n, "%s finding", "%s findings", w.texts.Int(n))
}

// Methods are the methods for one finding in their order; the first stands for the method of all findings.
func (w *Words) Methods() []string {
	var names []string
	for _, m := range processing.Methods() {
		names = append(names, w.texts.Sprint(m.Name()))
	}
	names[0] = w.t("same as the others")
	return names
}

// State describes how a finding is corrected.
func (w *Words) State(s document.Spot) string {
	switch s.State {
	case document.Corrected:
		return w.texts.Sprint(s.Method.Name())
	case document.PartlyCorrected:
		return w.t("edited after correction – correct again")
	default:
		return w.t("not corrected")
	}
}

// ShortState describes in a word how a finding is corrected, for the list.
func (w *Words) ShortState(s document.Spot) string {
	switch s.State {
	case document.Corrected:
		return w.texts.Sprint(s.Method.Word())
	case document.PartlyCorrected:
		return w.t("partly")
	default:
		return w.t("–")
	}
}

// Number is the number of a finding, with a mark if it is kept or ignored.
func (w *Words) Number(f document.Spot) string {
	switch f.Decision {
	case document.Ignored:
		return "× " + fmt.Sprint(f.Number)
	case document.Kept:
		return "✓ " + fmt.Sprint(f.Number)
	}
	return fmt.Sprint(f.Number)
}

// Area is the number of pixels of a finding.
func (w *Words) Area(f document.Spot) string { return w.texts.Int(f.Area) }

// Score is the score of a finding, or a note that it was painted by hand.
func (w *Words) Score(f document.Spot) string {
	if !f.Detected {
		return w.t("by hand")
	}
	return w.texts.Fixed(f.Score, 1)
}

// Kind is the kind of a finding, with a mark as long as a person should look at it; it is empty for a painted finding
// and for one of the classical detector.
func (w *Words) Kind(f document.Spot) string {
	if f.Strength == 0 {
		return ""
	}
	text := w.texts.Sprint(f.Kind.Name())
	if f.ToCheck() {
		text += " ?"
	}
	return text
}

// Contrast is the contrast of a finding in per cent of white; it is empty for a painted finding.
func (w *Words) Contrast(f document.Spot) string {
	if !f.Detected {
		return ""
	}
	return w.texts.Fixed(100*f.Contrast, 1) + "\u00a0%"
}

// Why says what a finding was judged by.
func (w *Words) Why(f document.Spot) string {
	reasons := f.Reasons()
	if len(reasons) == 0 {
		return w.t("Finding %s was painted by hand or loaded.", fmt.Sprint(f.Number))
	}
	lines := make([]string, len(reasons))
	for i, r := range reasons {
		lines[i] = w.texts.Sprint(r.Message())
	}
	return strings.Join(lines, "\n")
}

// Finding returns the measures of a finding and what it was judged by.
func (w *Words) Finding(f document.Spot) string {
	text := w.t("Finding %s, %s px", fmt.Sprint(f.Number), w.texts.Int(f.Area))
	if f.Detected {
		text += w.t("; score %s, contrast %s, brightest level %s", w.texts.Fixed(f.Score, 1), w.Contrast(f),
			w.texts.Int(f.Peak))
	}
	return text + "\n" + w.Why(f)
}

// Closeup returns the line under the close-ups: number, score and correction.
func (w *Words) Closeup(f document.Spot) string {
	return w.Number(f) + "   " + w.Score(f) + "   " + w.ShortState(f)
}

// Thresholds lists the thresholds of a layer with their values by parameters.
func (w *Words) Thresholds(spec *detect.LayerSpec, by processing.Params) string {
	text := ""
	for _, t := range spec.Thresholds(by) {
		if text != "" {
			text += "; "
		}
		text += w.texts.Sprint(t.Name) + " " + w.texts.Number(t.Value, spec.Decimals)
	}
	return text
}
