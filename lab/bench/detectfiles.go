package bench

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"blik/app/i18n"
	"blik/lab/experiment"
	"blik/processing"
)

// CSV writes a head and a row for each stage and sum of each device, with warm and cold times in nanoseconds. A device
// that was not measured has one row that says why. The text is English in every language.
func (c *Comparison) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	head := []string{"device", "title", "width", "height", "channels", "depth", "state", "note", "stage", "runs",
		"median_ns", "q1_ns", "q3_ns",
		"fastest_ns", "cold_ns", "bytes", "bytes_per_s", "limit_bytes_per_s"}
	out.Write(head)
	for i := range c.Devices {
		m := &c.Devices[i]
		fixed := []string{m.Name, m.Title, strconv.Itoa(c.Width), strconv.Itoa(c.Height), strconv.Itoa(c.Channels),
			strconv.Itoa(c.Depth),
			string(m.State), m.Note.String()}
		write := func(cells ...string) {
			row := append(append([]string{}, fixed...), cells...)
			out.Write(append(row, make([]string, len(head)-len(row))...))
		}
		if len(m.Stages) == 0 {
			write()
			continue
		}
		if m.Start > 0 {
			write(stepStart().String(), "", "", "", "", "", fmt.Sprint(int64(m.Start)))
		}
		write(stepOpen().String(), "", "", "", "", "", fmt.Sprint(int64(m.Open)))
		for _, s := range m.Rows() {
			times := make([]string, 4)
			if m.Runs > 0 {
				times = []string{fmt.Sprint(int64(s.Warm.Median)), fmt.Sprint(int64(s.Warm.Q1)),
					fmt.Sprint(int64(s.Warm.Q3)), fmt.Sprint(int64(s.Warm.Fastest))}
			}
			write(s.Name.String(), strconv.Itoa(m.Runs), times[0], times[1], times[2], times[3],
				fmt.Sprint(int64(s.Cold)),
				positive(float64(s.Bytes)), positive(s.Rate()), positive(s.Limit))
		}
	}
	out.Flush()
	return out.Error()
}

// positive formats v as a whole number, or as nothing unless it is positive.
func positive(v float64) string {
	if v <= 0 {
		return ""
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}

// comparisonDocument is the JSON of a comparison.
type comparisonDocument struct {
	Format   string            `json:"format"`
	Version  int               `json:"version"`
	Machine  Machine           `json:"machine"`
	Width    int               `json:"width"`
	Height   int               `json:"height"`
	Channels int               `json:"channels"`
	Depth    int               `json:"depth"`
	Params   map[string]string `json:"params"`
	Missing  string            `json:"missing,omitempty"`
	Devices  []deviceDocument  `json:"devices"`
	Findings int               `json:"findings"`
	Marked   int               `json:"markedPixels"`
	// Identical is nil if there was nothing to compare.
	Identical   *bool    `json:"identical,omitempty"`
	Differences []string `json:"differences,omitempty"`
}

type deviceDocument struct {
	Name  string           `json:"name"`
	Title string           `json:"title,omitempty"`
	State experiment.State `json:"state"`
	Note  string           `json:"note,omitempty"`
	Runs  int              `json:"runs"`
	// Start is the time from the start of the process to the opening of the device.
	Start   int64   `json:"startNs,omitempty"`
	Open    int64   `json:"openNs,omitempty"`
	Speedup float64 `json:"speedup,omitempty"`
	// The copy limits are in bytes per second.
	Local  float64         `json:"copyWithin,omitempty"`
	Up     float64         `json:"copyTo,omitempty"`
	Down   float64         `json:"copyFrom,omitempty"`
	Stages []stageDocument `json:"stages"`
}

type stageDocument struct {
	// Stage is the same in every language.
	Stage   string  `json:"stage"`
	Name    string  `json:"name"`
	Cold    int64   `json:"coldNs"`
	Median  int64   `json:"medianNs"`
	Q1      int64   `json:"q1Ns"`
	Q3      int64   `json:"q3Ns"`
	Fastest int64   `json:"fastestNs"`
	Bytes   int64   `json:"bytes,omitempty"`
	Rate    float64 `json:"bytesPerSecond,omitempty"`
	Share   float64 `json:"shareOfCopy,omitempty"`
}

// JSON writes machine, picture, parameters and measurements, with texts in the language of tr and times in nanoseconds.
func (c *Comparison) JSON(w io.Writer, m Machine, tr *i18n.Printer) error {
	d := comparisonDocument{Format: "blik bench detect", Version: 1, Machine: m, Width: c.Width, Height: c.Height,
		Channels: c.Channels, Depth: c.Depth,
		Params: map[string]string{}, Missing: tr.Sprint(c.Missing), Devices: []deviceDocument{}, Findings: c.Findings,
		Marked: c.Marked}
	for _, s := range processing.SpecsOf(processing.StageDetection) {
		d.Params[s.ID] = s.Format(s.Get(c.Params))
	}
	for i, v := range c.Devices {
		device := deviceDocument{Name: v.Name, Title: v.Title, State: v.State, Note: tr.Sprint(v.Note), Runs: v.Runs,
			Start: int64(v.Start), Open: int64(v.Open),
			Speedup: c.Speedup(i), Local: v.Limits.Local, Up: v.Limits.Up, Down: v.Limits.Down,
			Stages: []stageDocument{}}
		for _, s := range v.Rows() {
			device.Stages = append(device.Stages, stageDocument{s.Name.String(), tr.Sprint(s.Name), int64(s.Cold),
				int64(s.Warm.Median), int64(s.Warm.Q1),
				int64(s.Warm.Q3), int64(s.Warm.Fastest), s.Bytes, s.Rate(), s.Share()})
		}
		d.Devices = append(d.Devices, device)
	}
	if len(c.measured()) > 1 {
		identical := len(c.Differences) == 0
		d.Identical = &identical
	}
	for _, v := range c.Differences {
		d.Differences = append(d.Differences, tr.Sprint(v.Text()))
	}
	return writeJSON(w, d)
}
