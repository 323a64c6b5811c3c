package bench

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"blik/processing"
	"blik/processing/experiment"
)

// Table writes a comparison for people: the machine, the picture, the warm stages side by side, the first detection after
// opening, the copy limits, and what follows. lang is an ISO 639-1 code.
func (c *Comparison) Table(w io.Writer, m Machine, lang string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n%s\n\n", say(lang, "Detection of glare on the CPU and on GPUs", "Поиск бликов на процессоре и видеокартах"), m.line(lang), c.picture(lang))
	if warm := c.Warm(lang); len(warm) > 1 {
		fmt.Fprintf(&b, "%s\n", say(lang, "Warm:", "После прогрева:"))
		writeAligned(&b, warm)
	}
	if cold := c.Cold(lang); len(cold) > 1 {
		fmt.Fprintf(&b, "\n%s\n", say(lang, "Cold, from opening the device to the first result:", "Без прогрева, от открытия устройства до первого результата:"))
		writeAligned(&b, cold)
	}
	if limits := c.Copies(lang); len(limits) > 1 {
		fmt.Fprintf(&b, "\n%s\n", say(lang, "Plain copies, GB/s:", "Простое копирование, ГБ/с:"))
		writeAligned(&b, limits)
	}
	fmt.Fprintf(&b, "\n%s\n\n", legend(lang))
	for _, line := range c.Says(lang) {
		fmt.Fprintf(&b, "%s\n", line)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Markdown writes the tables of a comparison and what follows from them.
func (c *Comparison) Markdown(w io.Writer, lang string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", c.picture(lang))
	for _, rows := range [][][]string{c.Warm(lang), c.Cold(lang), c.Copies(lang)} {
		if len(rows) > 1 {
			b.WriteByte('\n')
			writeMarkdown(&b, rows)
		}
	}
	b.WriteByte('\n')
	for _, line := range c.Says(lang) {
		fmt.Fprintf(&b, "- %s\n", line)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// picture is what was measured in one line.
func (c *Comparison) picture(lang string) string {
	mode := say(lang, "adaptive mode", "адаптивный режим")
	if c.Params.Mode == processing.Manual {
		mode = say(lang, "manual mode", "ручной режим")
	}
	return fmt.Sprintf(say(lang, "%d × %d pixels (%.1f MP), channels: %d, bits: %d, %s", "%d × %d пикселей (%.1f Мп), каналов: %d, бит: %d, %s"),
		c.Width, c.Height, float64(c.Width)*float64(c.Height)/1e6, c.Channels, c.Depth, mode)
}

func legend(lang string) string {
	return say(lang,
		`Kernels are the sum of the stages, without the copies between host and device; rest is what runs between the stages.
GB/s: the least that the operations of a stage have to read and write, divided by its time; % of copy: of a plain copy's rate.`,
		`Вычисления — сумма этапов без копирования между памятью процессора и видеокарты; прочее — работа между этапами.
ГБ/с: наименьшее, что операции этапа должны прочесть и записать, делённое на время; % копии: от скорости простого копирования.`)
}

// measured are the devices with a result.
func (c *Comparison) measured() []*Measurement {
	var list []*Measurement
	for i := range c.Devices {
		if len(c.Devices[i].Stages) > 0 {
			list = append(list, &c.Devices[i])
		}
	}
	return list
}

// Names are those of the rows of all devices, each once: the stages in their order, then the sums.
func (c *Comparison) Names() []processing.Text {
	var stages, sums []processing.Text
	for _, m := range c.measured() {
		for i, s := range m.Rows() {
			list := &stages
			if i >= len(m.Stages) {
				list = &sums
			}
			if !slices.Contains(*list, s.Name) {
				*list = append(*list, s.Name)
			}
		}
	}
	return append(stages, sums...)
}

// Row returns the stage or the sum of a name; its times are 0 where the device has none such.
func (m *Measurement) Row(name processing.Text) Stage {
	for _, s := range m.Rows() {
		if s.Name == name {
			return s
		}
	}
	return Stage{Name: name}
}

// Warm returns head and rows of the warm times, side by side. Cells of what a device does not have are empty.
func (c *Comparison) Warm(lang string) [][]string {
	var list []*Measurement
	for _, m := range c.measured() {
		if m.Runs > 0 {
			list = append(list, m)
		}
	}
	head := []string{say(lang, "stage", "этап")}
	for i, m := range list {
		head = append(head, m.Name+say(lang, ", ms", ", мс"), say(lang, "quartiles", "квартили"), say(lang, "GB/s", "ГБ/с"), say(lang, "% of copy", "% копии"))
		if i > 0 {
			head = append(head, say(lang, "speed-up", "ускорение"))
		}
	}
	rows := [][]string{head}
	if len(list) == 0 {
		return rows
	}
	for _, name := range c.Names() {
		row := []string{name.In(lang)}
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
		// Without a GPU nothing is copied.
		if slices.ContainsFunc(row[1:], func(cell string) bool { return cell != "" }) {
			rows = append(rows, row)
		}
	}
	return withoutEmpty(rows)
}

// percent has two digits after the point where one would be 0.
func percent(v float64) string {
	if v < 0.1 {
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.1f", v)
}

// Cold returns head and rows of the first detection after opening, side by side, in milliseconds.
func (c *Comparison) Cold(lang string) [][]string {
	list := c.measured()
	head := []string{say(lang, "step", "шаг")}
	for _, m := range list {
		head = append(head, m.Name+say(lang, ", ms", ", мс"))
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
	add(stepStart().In(lang), func(m *Measurement) time.Duration { return m.Start })
	add(stepOpen().In(lang), func(m *Measurement) time.Duration { return m.Open })
	for _, name := range c.Names() {
		if name == nameTotal() {
			continue
		}
		add(name.In(lang), func(m *Measurement) time.Duration { return m.Row(name).Cold })
	}
	add(say(lang, "first detection", "первый поиск"), func(m *Measurement) time.Duration { return m.Total.Cold })
	add(say(lang, "together with opening", "вместе с открытием"), func(m *Measurement) time.Duration { return m.Open + m.Total.Cold })
	add(say(lang, "from the start of the program", "от запуска программы"), func(m *Measurement) time.Duration {
		if m.Start == 0 {
			return 0
		}
		return m.Start + m.Open + m.Total.Cold
	})
	return rows
}

// Copies returns head and rows of the copy limits, in GB/s.
func (c *Comparison) Copies(lang string) [][]string {
	rows := [][]string{{say(lang, "device", "устройство"), say(lang, "within its memory", "в своей памяти"), say(lang, "to the device", "на устройство"), say(lang, "from the device", "с устройства")}}
	for _, m := range c.Devices {
		if m.Limits == (CopyRates{}) {
			continue
		}
		row := []string{m.Name}
		for _, v := range []float64{m.Limits.Local, m.Limits.Up, m.Limits.Down} {
			cell := ""
			if v > 0 {
				cell = figure(v / 1e9)
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	return withoutEmpty(rows)
}

// Says returns what follows from the measurements, each in one line: what is missing, the speed-up, and whether all
// devices have the same result.
func (c *Comparison) Says(lang string) []string {
	var lines []string
	if c.Missing != (processing.Text{}) {
		lines = append(lines, say(lang, "No GPU was measured. ", "Видеокарта не измерена. ")+c.Missing.In(lang))
	}
	for _, m := range c.Devices {
		switch {
		case m.State == experiment.NeedsGPU:
			lines = append(lines, fmt.Sprintf(say(lang, "%s was not measured. %s", "%s: не измерено. %s"), m.Name, m.Note.In(lang)))
		case m.State == experiment.Failed:
			lines = append(lines, fmt.Sprintf(say(lang, "%s failed; warm runs before that: %d. %s", "%s: сбой; измеренных запусков до него: %d. %s"), m.Name, m.Runs, m.Note.In(lang)))
		case m.Note != (processing.Text{}):
			lines = append(lines, m.Name+": "+m.Note.In(lang))
		}
	}
	list := c.measured()
	for i, m := range list {
		if v := ratio(list[0].Total, m.Total); i > 0 && v > 0 {
			cold := float64(list[0].Open+list[0].Total.Cold) / float64(m.Open+m.Total.Cold)
			lines = append(lines, fmt.Sprintf(say(lang, "Speed-up of %s over %s: %s × for a whole detection, %s × from opening to the first result.",
				"Ускорение на %s против %s: %s × для всего поиска, %s × от открытия до первого результата."), m.Name, list[0].Name, figureIn(lang, v), figureIn(lang, cold)))
		}
	}
	if len(list) == 0 {
		return lines
	}
	sums := fmt.Sprintf(say(lang, "findings: %d, pixels of the mask: %d", "находок: %d, пикселей маски: %d"), c.Findings, c.Marked)
	for _, d := range c.Differences {
		lines = append(lines, d.Text().In(lang))
	}
	switch {
	case len(list) == 1:
		lines = append(lines, fmt.Sprintf(say(lang, "Masks were not compared: there is one device (%s).", "Маски не сравнивались: устройство одно (%s)."), sums))
	case len(c.Differences) == 0:
		names := make([]string, len(list))
		for i, m := range list {
			names[i] = m.Name
		}
		lines = append(lines, fmt.Sprintf(say(lang, "The masks and the findings of %s are identical (%s).", "Маски и находки %s одинаковы (%s)."), strings.Join(names, ", "), sums))
	}
	return lines
}
