package batch

import (
	"encoding/json"

	"blik/app/farm"
	"blik/app/preset"
	"blik/app/work"
)

// Order describes work to a farm; reports and messages are written in a language.
func Order(w work.Work, language string) farm.Work {
	command := "correct"
	if w.Detect {
		command = "detect"
	}
	return farm.Work{
		Command: command, Preset: json.RawMessage(preset.Encode(w.Params)), Region: w.Region, Format: w.Format,
		Limit: w.Limit, Language: language, Overwrite: w.Overwrite, KeepTime: w.KeepTime, SaveMask: w.SaveMask,
		NoReport: w.NoReport, Marked: w.Marked, Preview: w.Preview,
	}
}

// Work is the inverse of Order.
func Work(o farm.Work) (work.Work, error) {
	w := work.Default()
	params, _, err := preset.Decode(o.Preset)
	if err != nil {
		return w, err
	}
	w.Detect, w.Params, w.Region, w.Format, w.Limit = o.Command == "detect", params, o.Region, o.Format, o.Limit
	w.Overwrite, w.KeepTime, w.SaveMask, w.NoReport = o.Overwrite, o.KeepTime, o.SaveMask, o.NoReport
	w.Marked, w.Preview = o.Marked, o.Preview
	return w, w.Check()
}
