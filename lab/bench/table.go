package bench

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"blik/app/i18n"
	"blik/lab/experiment"
)

// Table writes a result as text: the question, the machine, a row for each variant and case, the paper's figures, and
// the conclusions.
func Table(w io.Writer, m Machine, r *experiment.Result, tr *i18n.Printer) error {
	e := r.Experiment
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n%s\n\n", tr.Sprint(e.Name), tr.Sprint(e.Question), m.line(tr))
	writeAligned(&b, Cells(r, tr))
	fmt.Fprintf(&b, "\n%s\n", tr.Sprint(e.Result))

	fmt.Fprintf(&b, "\n%s %s\n", tr.Sprintf("The paper:"), tr.Sprint(e.Paper.Setup))
	writeAligned(&b, PaperCells(e, tr))
	fmt.Fprintf(&b, "%s\n\n", tr.Sprint(e.Paper.Found))
	for _, c := range r.Conclusions {
		fmt.Fprintf(&b, "%s.\n", tr.Sprint(c.Text))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// PaperCells returns the table of the paper's figures.
func PaperCells(e *experiment.Experiment, tr *i18n.Printer) [][]string {
	cells := e.Paper.Table()
	rows := make([][]string, len(cells))
	for i, row := range cells {
		for _, m := range row {
			rows[i] = append(rows[i], tr.Sprint(m))
		}
	}
	return rows
}

// Cells returns the table of a result, the first row being its head, without empty columns.
func Cells(r *experiment.Result, tr *i18n.Printer) [][]string {
	e := r.Experiment
	head := []string{tr.Sprintf("variant"), tr.Sprintf("size")}
	for _, p := range e.Params {
		head = append(head, p.ID)
	}
	fixed := len(head)
	head = append(head, tr.Sprintf("median, ms"), tr.Sprintf("quartiles"), tr.Sprintf("runs"),
		tr.Sprintf("operations"), tr.Sprintf("error"), tr.Sprintf("paper, ms"), tr.Sprintf("check"))
	rows := [][]string{head}
	for _, row := range r.Rows {
		cells := []string{row.Variant.ID, size(row)}
		for _, p := range e.Params {
			cells = append(cells, row.Case.Values[p.ID])
		}
		if row.State != experiment.Measured {
			note := tr.Sprint(row.Note)
			if row.State != experiment.NeedsGPU {
				note = tr.Sprint(row.State.Message()) + ": " + note
			}
			rows = append(rows, append(append(cells, make([]string, len(head)-1-fixed)...), note))
			continue
		}
		cells = append(cells, milliseconds(row.Median), milliseconds(row.Q1)+"…"+milliseconds(row.Q3),
			fmt.Sprint(row.Runs))
		operations, failure, paper := "", "", ""
		if row.Operations > 0 {
			operations = fmt.Sprintf("%.3g", row.Operations)
		}
		if row.Check.Error != nil {
			failure = fmt.Sprintf("%.2g", *row.Check.Error)
		}
		if t := paperTime(row); t > 0 {
			paper = milliseconds(t)
		}
		rows = append(rows, append(cells, operations, failure, paper, check(row.Check, tr)))
	}
	return withoutEmpty(localized(rows, tr))
}

func size(row experiment.Row) string {
	if row.Case.Size.W == 0 {
		return ""
	}
	return row.Case.Size.String()
}

func paperTime(row experiment.Row) time.Duration {
	if row.Variant.Paper == nil {
		return 0
	}
	return row.Variant.Paper(row.Case)
}

// withoutEmpty removes the columns that are empty below the head.
func withoutEmpty(rows [][]string) [][]string {
	var keep []int
	for c := range rows[0] {
		for _, row := range rows[1:] {
			if row[c] != "" {
				keep = append(keep, c)
				break
			}
		}
	}
	out := make([][]string, len(rows))
	for i, row := range rows {
		for _, c := range keep {
			out[i] = append(out[i], row[c])
		}
	}
	return out
}

// IsFigures reports whether a cell is a number, a range of numbers, or empty.
func IsFigures(cell string) bool {
	return strings.IndexFunc(cell, func(r rune) bool { return !strings.ContainsRune("0123456789.,e+-−…%", r) }) < 0
}

// localized replaces the decimal points of figures below the head by the decimal sign of the language. It changes rows.
func localized(rows [][]string, tr *i18n.Printer) [][]string {
	for _, row := range rows[1:] {
		for i, cell := range row {
			if IsFigures(cell) {
				row[i] = tr.Decimal(cell)
			}
		}
	}
	return rows
}

// check describes how a result was checked.
func check(c experiment.Check, tr *i18n.Printer) string {
	result := tr.Sprintf("exact")
	if c.Tolerance > 0 {
		result = tr.Decimal(fmt.Sprintf("%.1e ≤ %.1e", c.Deviation, c.Tolerance))
	}
	if c.Compared < c.Samples {
		result += tr.Sprintf(" (%.2g %% compared)", 100*float64(c.Compared)/float64(c.Samples))
	}
	return result
}

// milliseconds formats a time in ms like figure.
func milliseconds(d time.Duration) string { return figure(float64(d) / 1e6) }

// figure formats a positive number without an exponent, with three significant digits or more from 0.1 on and five
// decimals below.
func figure(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	case v >= 1:
		return fmt.Sprintf("%.2f", v)
	case v >= 0.1:
		return fmt.Sprintf("%.3f", v)
	}
	return fmt.Sprintf("%.5f", v)
}

// writeAligned writes aligned columns. Those that contain only numbers and empty cells are aligned to the right.
func writeAligned(b *strings.Builder, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	n := len(rows[0])
	wide, right := make([]int, n), make([]bool, n)
	for c := range n {
		right[c] = true
		for i, row := range rows {
			wide[c] = max(wide[c], utf8.RuneCountInString(row[c]))
			right[c] = right[c] && (i == 0 || IsFigures(row[c]))
		}
	}
	for _, row := range rows {
		line := ""
		for c, cell := range row {
			pad := strings.Repeat(" ", wide[c]-utf8.RuneCountInString(cell))
			if right[c] {
				cell = pad + cell
			} else {
				cell += pad
			}
			line += cell + "  "
		}
		fmt.Fprintf(b, "%s\n", strings.TrimRight(line, " "))
	}
}

// markdown writes the rows of a result as a Markdown table.
func markdown(w io.Writer, r *experiment.Result, tr *i18n.Printer) error {
	var b strings.Builder
	writeMarkdown(&b, Cells(r, tr))
	_, err := io.WriteString(w, b.String())
	return err
}

func writeMarkdown(b *strings.Builder, rows [][]string) {
	for i, row := range rows {
		fmt.Fprintf(b, "| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			b.WriteString(strings.Repeat("|---", len(row)) + "|\n")
		}
	}
}
