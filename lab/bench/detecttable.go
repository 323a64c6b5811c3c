package bench

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"blik/app/i18n"
	"blik/internal/message"
	"blik/lab/experiment"
	"blik/processing"
)

// Table writes a comparison as text: the machine, the picture, the warm stages side by side, the first detection after
// opening, the copy limits, and the conclusions.
func (c *Comparison) Table(w io.Writer, m Machine, tr *i18n.Printer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n%s\n\n", tr.Sprintf("Detection of glare on the CPU and on GPUs"), m.line(tr),
		c.picture(tr))
	if warm := c.Warm(tr); len(warm) > 1 {
		fmt.Fprintf(&b, "%s\n", tr.Sprintf("Warm:"))
		writeAligned(&b, warm)
	}
	if cold := c.Cold(tr); len(cold) > 1 {
		fmt.Fprintf(&b, "\n%s\n", tr.Sprintf("Cold, from opening the device to the first result:"))
		writeAligned(&b, cold)
	}
	if limits := c.Copies(tr); len(limits) > 1 {
		fmt.Fprintf(&b, "\n%s\n", tr.Sprintf("Plain copies, GB/s:"))
		writeAligned(&b, limits)
	}
	fmt.Fprintf(&b, "\n%s\n\n", legend(tr))
	for _, line := range c.Conclusions(tr) {
		fmt.Fprintf(&b, "%s\n", line)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// markdown writes the tables of a comparison and the conclusions.
func (c *Comparison) markdown(w io.Writer, tr *i18n.Printer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", c.picture(tr))
	for _, rows := range [][][]string{c.Warm(tr), c.Cold(tr), c.Copies(tr)} {
		if len(rows) > 1 {
			b.WriteByte('\n')
			writeMarkdown(&b, rows)
		}
	}
	b.WriteByte('\n')
	for _, line := range c.Conclusions(tr) {
		fmt.Fprintf(&b, "- %s\n", line)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// picture describes the picture and the mode in one line.
func (c *Comparison) picture(tr *i18n.Printer) string {
	mode := tr.Sprintf("adaptive mode")
	if c.Params.Mode == processing.Manual {
		mode = tr.Sprintf("manual mode")
	}
	return tr.Sprintf("%d × %d pixels (%.1f MP), channels: %d, bits: %d, %s",
		c.Width, c.Height, float64(c.Width)*float64(c.Height)/1e6, c.Channels, c.Depth, mode)
}

func legend(tr *i18n.Printer) string {
	return tr.Sprintf(
		"Kernels are the sum of the stages, without the copies between host and device; rest is what runs between " +
			"the stages.\nGB/s: the least that the operations of a stage have to read and write, divided by its " +
			"time; % of copy: of a plain copy's rate.")
}

// measured returns the devices that have a result.
func (c *Comparison) measured() []*Measurement {
	var list []*Measurement
	for i := range c.Devices {
		if len(c.Devices[i].Stages) > 0 {
			list = append(list, &c.Devices[i])
		}
	}
	return list
}

// DeviceName returns the name of a device as people read it.
func DeviceName(name string) message.Message {
	if name == "cpu" {
		return message.Of("cpu")
	}
	return message.Of(message.Text(name))
}

// Names returns the names of the rows of all devices, each once: the stages in order, then the sums.
func (c *Comparison) Names() []message.Message {
	var stages, sums []message.Message
	for _, m := range c.measured() {
		for i, s := range m.Rows() {
			list := &stages
			if i >= len(m.Stages) {
				list = &sums
			}
			if !slices.ContainsFunc(*list, s.Name.Equal) {
				*list = append(*list, s.Name)
			}
		}
	}
	return append(stages, sums...)
}

// Row returns the stage or sum with the given name; its times are 0 if the device has none.
func (m *Measurement) Row(name message.Message) Stage {
	for _, s := range m.Rows() {
		if s.Name.Equal(name) {
			return s
		}
	}
	return Stage{Name: name}
}

// Warm returns the table of the warm times, the first row being its head. A cell is empty if the device has no such
// stage.
func (c *Comparison) Warm(tr *i18n.Printer) [][]string {
	var list []*Measurement
	for _, m := range c.measured() {
		if m.Runs > 0 {
			list = append(list, m)
		}
	}
	head := []string{tr.Sprintf("stage")}
	for i, m := range list {
		head = append(head, tr.Sprint(DeviceName(m.Name))+tr.Sprintf(", ms"), tr.Sprintf("quartiles"),
			tr.Sprintf("GB/s"), tr.Sprintf("% of copy"))
		if i > 0 {
			head = append(head, tr.Sprintf("speed-up"))
		}
	}
	rows := [][]string{head}
	if len(list) == 0 {
		return rows
	}
	for _, name := range c.Names() {
		row := []string{tr.Sprint(name)}
		base := list[0].Row(name)
		for i, m := range list {
			s := m.Row(name)
			cells := make([]string, 4, 5)
			if s.Warm.Median > 0 {
				cells[0] = milliseconds(s.Warm.Median)
				cells[1] = milliseconds(s.Warm.Q1) + "…" + milliseconds(s.Warm.Q3)
			}
			if v := s.Rate(); v > 0 {
				cells[2] = figure(v / 1e9)
			}
			if v := s.Share(); v > 0 {
				cells[3] = percent(100 * v)
			}
			if i > 0 {
				cells = append(cells, "")
				if v := ratio(base, s); v > 0 {
					cells[4] = figure(v)
				}
			}
			row = append(row, cells...)
		}
		// Without a GPU, the rows of the copies are empty.
		if slices.ContainsFunc(row[1:], func(cell string) bool { return cell != "" }) {
			rows = append(rows, row)
		}
	}
	return withoutEmpty(localized(rows, tr))
}

// percent formats v with one decimal, or with two below 0.1.
func percent(v float64) string {
	if v < 0.1 {
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.1f", v)
}

// Cold returns the table of the first detection after opening, in milliseconds, the first row being its head.
func (c *Comparison) Cold(tr *i18n.Printer) [][]string {
	list := c.measured()
	head := []string{tr.Sprintf("step")}
	for _, m := range list {
		head = append(head, tr.Sprint(DeviceName(m.Name))+tr.Sprintf(", ms"))
	}
	rows := [][]string{head}
	add := func(name string, of func(m *Measurement) time.Duration) {
		row := []string{name}
		for _, m := range list {
			cell := ""
			if d := of(m); d > 0 {
				cell = milliseconds(d)
			}
			row = append(row, cell)
		}
		if slices.ContainsFunc(row[1:], func(s string) bool { return s != "" }) {
			rows = append(rows, row)
		}
	}
	add(tr.Sprint(stepStart()), func(m *Measurement) time.Duration { return m.Start })
	add(tr.Sprint(stepOpen()), func(m *Measurement) time.Duration { return m.Open })
	for _, name := range c.Names() {
		if name.Equal(nameTotal()) {
			continue
		}
		add(tr.Sprint(name), func(m *Measurement) time.Duration { return m.Row(name).Cold })
	}
	add(tr.Sprintf("first detection"), func(m *Measurement) time.Duration { return m.Total.Cold })
	add(tr.Sprintf("together with opening"), func(m *Measurement) time.Duration { return m.Open + m.Total.Cold })
	add(tr.Sprintf("from the start of the program"), func(m *Measurement) time.Duration {
		if m.Start == 0 {
			return 0
		}
		return m.Start + m.Open + m.Total.Cold
	})
	return localized(rows, tr)
}

// Copies returns the table of the copy limits, in GB/s, the first row being its head.
func (c *Comparison) Copies(tr *i18n.Printer) [][]string {
	rows := [][]string{{tr.Sprintf("device"), tr.Sprintf("within its memory"), tr.Sprintf("to the device"),
		tr.Sprintf("from the device")}}
	for _, m := range c.Devices {
		if m.Limits == (CopyRates{}) {
			continue
		}
		row := []string{tr.Sprint(DeviceName(m.Name))}
		for _, v := range []float64{m.Limits.Local, m.Limits.Up, m.Limits.Down} {
			cell := ""
			if v > 0 {
				cell = figure(v / 1e9)
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	return withoutEmpty(localized(rows, tr))
}

// Conclusions returns one line for each device that was not fully measured, each speed-up, and whether all devices have
// the same result.
func (c *Comparison) Conclusions(tr *i18n.Printer) []string {
	var lines []string
	if !c.Missing.IsZero() {
		lines = append(lines, tr.Sprintf("No GPU was measured. ")+tr.Sprint(c.Missing))
	}
	for _, m := range c.Devices {
		switch {
		case m.State == experiment.NeedsGPU:
			lines = append(lines, tr.Sprintf("%s was not measured. %s", DeviceName(m.Name), tr.Sprint(m.Note)))
		case m.State == experiment.Failed:
			lines = append(lines, tr.Sprintf("%s failed; warm runs before that: %d. %s", DeviceName(m.Name), m.Runs,
				tr.Sprint(m.Note)))
		case !m.Note.IsZero():
			lines = append(lines, tr.Sprint(DeviceName(m.Name))+": "+tr.Sprint(m.Note))
		}
	}
	list := c.measured()
	for i, m := range list {
		if v := ratio(list[0].Total, m.Total); i > 0 && v > 0 {
			cold := float64(list[0].Open+list[0].Total.Cold) / float64(m.Open+m.Total.Cold)
			lines = append(lines, tr.Sprintf("Speed-up of %s over %s: %s × for a whole detection, %s × from opening "+
				"to the first result.", DeviceName(m.Name), DeviceName(list[0].Name),
				message.Figures(figure(v)), message.Figures(figure(cold))))
		}
	}
	if len(list) == 0 {
		return lines
	}
	sums := tr.Sprintf("findings: %d, pixels of the mask: %d", c.Findings, c.Marked)
	for _, d := range c.Differences {
		lines = append(lines, tr.Sprint(d.Text()))
	}
	switch {
	case len(list) == 1:
		lines = append(lines, tr.Sprintf("Masks were not compared: there is one device (%s).", sums))
	case len(c.Differences) == 0:
		names := make([]string, len(list))
		for i, m := range list {
			names[i] = tr.Sprint(DeviceName(m.Name))
		}
		lines = append(lines, tr.Sprintf("The masks and the findings of %s are identical (%s).",
			strings.Join(names, ", "), sums))
	}
	return lines
}
