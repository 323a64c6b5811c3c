package store

import "blik/app/document"

// Step is what the user will probably want to do next.
type Step uint8

// The steps, in order.
const (
	StepOpen Step = iota
	// StepDetect: there are no findings. StepClear: a search found none.
	StepDetect
	StepClear
	// StepCorrect: findings are not corrected.
	StepCorrect
	// StepSave: the corrected picture is not saved.
	StepSave
	// StepDone: everything is saved.
	StepDone
	// StepOverwritten: the findings are corrected in the original itself.
	StepOverwritten
)

// Next returns the next step and the number of findings that it concerns.
func (d *Store) Next() (step Step, findings int) {
	if d.s.Document() == nil {
		return StepOpen, 0
	}
	found, done := CountFindings(d.s.Document())
	switch {
	case found == 0 && d.s.Document().Result() != nil && len(d.s.Document().Findings()) == 0:
		return StepClear, 0
	case found == 0:
		return StepDetect, 0
	case done == 0 && d.s.Document().Generation() == d.disk.overwritten:
		return StepOverwritten, found
	case done < found:
		return StepCorrect, found - done
	case d.s.Document().PictureDirty():
		return StepSave, done
	default:
		return StepDone, done
	}
}

// CountFindings returns the number of findings in the mask, and how many of them are corrected.
func CountFindings(d *document.Document) (findings, corrected int) {
	for _, f := range d.Spots() {
		findings++
		if f.State == document.Corrected {
			corrected++
		}
	}
	return findings, corrected
}
