package ui

import "blik/app/session/store"

// stepText describes the next step of the work.
func (k *kit) stepText(step store.Step, n int) string {
	switch step {
	case store.StepOpen:
		return k.t("Open a picture (%s), or drop it here", k.press(fileOpen))
	case store.StepDetect:
		return k.t("Find glare (%s) or paint it (%s)", k.press(findRun), k.press(toolBrush))
	case store.StepClear:
		return k.t("No glare found: raise the sensitivity or paint it (%s)", k.press(toolBrush))
	case store.StepCorrect:
		return k.texts.Plural(n, "%s finding is not corrected: press %s", "%s findings are not corrected: press %s",
			k.texts.Int(n), k.press(correctAll))
	case store.StepSave:
		return k.texts.Plural(n, "%s corrected: compare (%s), save (%s)", "%s corrected: compare (%s), save (%s)",
			k.texts.Int(n), k.press(holdAction), k.press(fileSavePicture))
	case store.StepOverwritten:
		return k.t("The corrections are in the original file")
	default:
		return k.texts.Plural(n, "%s finding corrected and saved", "All %s findings corrected and saved",
			k.texts.Int(n))
	}
}

// These choices always exist.
const (
	deviceAuto = "auto"
	deviceCPU  = "cpu"
)
