package bench

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"blik/app/i18n"
	"blik/lab/experiment"
)

// CSV writes a head and the rows of a result, with times in nanoseconds. The text is English in every language.
func CSV(w io.Writer, r *experiment.Result) error {
	out := csv.NewWriter(w)
	head := []string{"experiment", "variant", "device", "width", "height", "samples"}
	for _, p := range r.Experiment.Params {
		head = append(head, p.ID)
	}
	head = append(head, "state", "note", "runs", "median_ns", "q1_ns", "q3_ns", "fastest_ns", "operations",
		"compared", "deviation", "tolerance", "error", "paper_ns", "gpus")
	out.Write(head)
	for _, row := range r.Rows {
		cells := []string{r.Experiment.ID, row.Variant.ID, string(row.Variant.Device)}
		if s := row.Case.Size; s.W > 0 {
			cells = append(cells, strconv.Itoa(s.W), strconv.Itoa(s.H), strconv.Itoa(s.Samples()))
		} else {
			cells = append(cells, "", "", "")
		}
		for _, p := range r.Experiment.Params {
			cells = append(cells, row.Case.Values[p.ID])
		}
		cells = append(cells, string(row.State), row.Note.String())
		if row.State == experiment.Measured {
			failure, paper := "", ""
			if row.Check.Error != nil {
				failure = number(*row.Check.Error)
			}
			if t := paperTime(row); t > 0 {
				paper = strconv.FormatInt(int64(t), 10)
			}
			cells = append(cells, strconv.Itoa(row.Runs), fmt.Sprint(int64(row.Median)), fmt.Sprint(int64(row.Q1)),
				fmt.Sprint(int64(row.Q3)),
				fmt.Sprint(int64(row.Fastest)), number(row.Operations), strconv.FormatInt(row.Check.Compared, 10),
				number(row.Check.Deviation), number(row.Check.Tolerance), failure, paper, alike(row.Variant.GPUs))
		}
		for len(cells) < len(head) {
			cells = append(cells, "")
		}
		out.Write(cells)
	}
	out.Flush()
	return out.Error()
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// document is the JSON of a result.
type document struct {
	Format      string        `json:"format"`
	Version     int           `json:"version"`
	Machine     Machine       `json:"machine"`
	Experiment  string        `json:"experiment"`
	Question    string        `json:"question"`
	Picture     bool          `json:"ownPicture"`
	Rows        []documentRow `json:"rows"`
	Conclusions []conclusion  `json:"conclusions"`
}

type documentRow struct {
	Variant    string            `json:"variant"`
	Device     experiment.Device `json:"device"`
	GPUs       []string          `json:"gpus,omitempty"`
	Width      int               `json:"width,omitempty"`
	Height     int               `json:"height,omitempty"`
	Values     map[string]string `json:"values,omitempty"`
	State      experiment.State  `json:"state"`
	Note       string            `json:"note,omitempty"`
	Runs       int               `json:"runs,omitempty"`
	Median     int64             `json:"medianNs,omitempty"`
	Q1         int64             `json:"q1Ns,omitempty"`
	Q3         int64             `json:"q3Ns,omitempty"`
	Fastest    int64             `json:"fastestNs,omitempty"`
	Operations float64           `json:"operations,omitempty"`
	Compared   int64             `json:"compared,omitempty"`
	Samples    int64             `json:"samples,omitempty"`
	Deviation  float64           `json:"deviation"`
	Tolerance  float64           `json:"tolerance"`
	Error      *float64          `json:"error,omitempty"`
	Paper      int64             `json:"paperNs,omitempty"`
}

type conclusion struct {
	Verdict experiment.Verdict `json:"verdict"`
	Claim   string             `json:"claim"`
	Ratio   float64            `json:"ratio,omitempty"`
	Low     float64            `json:"low,omitempty"`
	High    float64            `json:"high,omitempty"`
	Unsure  bool               `json:"unsure,omitempty"`
	Paper   float64            `json:"paper,omitempty"`
	Text    string             `json:"text"`
}

// JSON writes machine, rows and conclusions, with texts in the language of tr and times in nanoseconds.
func JSON(w io.Writer, m Machine, r *experiment.Result, tr *i18n.Printer) error {
	d := document{Format: "blik bench", Version: 1, Machine: m, Experiment: r.Experiment.ID,
		Question: tr.Sprint(r.Experiment.Question),
		Picture:  r.Picture, Rows: []documentRow{}, Conclusions: []conclusion{}}
	for _, row := range r.Rows {
		d.Rows = append(d.Rows, documentRow{
			Variant: row.Variant.ID, Device: row.Variant.Device, GPUs: row.Variant.GPUs, Width: row.Case.Size.W,
			Height: row.Case.Size.H, Values: row.Case.Values,
			State: row.State, Note: tr.Sprint(row.Note), Runs: row.Runs, Median: int64(row.Median), Q1: int64(row.Q1),
			Q3:      int64(row.Q3),
			Fastest: int64(row.Fastest), Operations: row.Operations, Compared: row.Check.Compared,
			Samples:   row.Check.Samples,
			Deviation: row.Check.Deviation, Tolerance: row.Check.Tolerance, Error: row.Check.Error,
			Paper: int64(paperTime(row)),
		})
	}
	for _, c := range r.Conclusions {
		d.Conclusions = append(d.Conclusions, conclusion{c.Verdict, tr.Sprint(c.Claim), c.Ratio, c.Low, c.High,
			c.Unsure, c.Paper, tr.Sprint(c.Text)})
	}
	return writeJSON(w, d)
}

func writeJSON(w io.Writer, v any) error {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	return out.Encode(v)
}
