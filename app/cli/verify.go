package cli

import (
	"context"
	"fmt"
	"strings"

	"blik/app/imagefile"
	"blik/app/imagefile/container"
	"blik/app/report"
	"blik/internal/message"
	"blik/processing"

	"github.com/spf13/cobra"
)

func verifyCommand(p *program) *cobra.Command {
	c := &cobra.Command{
		Use:   "verify [flags] " + p.say("ORIGINAL RESULT"),
		Short: p.say("Prove that only pixels in the mask changed"),
		Long: p.say(`Compares what two picture files hold, however it is packed: every sample of every pixel, page and
sub-picture, alpha and extra channels, every tag, chunk and segment, and their order. A result in another format is
compared with what Blik writes when it saves the original in that format. Of a JPEG, each stored block is compared with
that of the original. Every byte of RESULT must be a sample, a compared value, needed to find these, or carried over
from the original; --coverage prints how many are what. What cannot be compared counts as not proven.

With --mask, pixels outside the mask must be identical; the mask must include halo and veil, as that of correct
--save-mask does. Without it, all pixels may have changed and are counted.

A report beside RESULT must be complete, sealed and about these files: its SHA-256 sums of original, result, mask, page
and of itself, and every value that can be measured. A missing report is mentioned; it is an error if its page exists.

Exit status: 0 nothing differs that may not, 1 not proven, the report does not fit, or a file cannot be read, 2 usage
error, 130 cancelled.`),
		Args:              exactly(p, 2),
		ValidArgsFunction: completePictures,
	}
	f := c.Flags()
	path := f.String("mask", "", p.say("the mask, a picture `FILE`"))
	var limit float64
	addLimit(p, c, &limit)
	coverage := f.Bool("coverage", false, p.say("also print what each byte of RESULT is"))
	quiet := f.BoolP("quiet", "q", false, p.say("print nothing but errors"))
	c.RunE = func(c *cobra.Command, args []string) error {
		limits, err := limitsOf(limit)
		if err != nil {
			return err
		}
		var mask *report.MaskFile
		if *path != "" {
			m, err := imagefile.ReadMask(c.Context(), *path, 0, 0, limits)
			if err != nil {
				return err
			}
			mask = &report.MaskFile{Path: *path, Mask: m}
		}
		o := verifyOutput{quiet: *quiet, coverage: *coverage}
		return verifyFiles(c.Context(), p, args[0], args[1], mask, limits, o)
	}
	return c
}

// verifyOutput says what verify prints.
type verifyOutput struct{ quiet, coverage bool }

// verifyFiles compares two files, and the report beside the result with both.
func verifyFiles(ctx context.Context, p *program, source, result string, mask *report.MaskFile,
	limits imagefile.Limits, o verifyOutput,
) error {
	var may *processing.Mask
	if mask != nil {
		may = mask.Mask
	}
	c, err := imagefile.Compare(ctx, source, result, may, limits, o.coverage)
	if err != nil {
		return err
	}
	check, err := report.CheckCorrection(ctx, c, mask, p.Version)
	if err != nil {
		return err
	}
	for _, fault := range check.Faults {
		p.printError(message.Errorf("%s", fault))
	}
	if !o.quiet {
		fmt.Fprint(p.Stdout, checkText(p, check), proofText(p, c.Proof))
		if o.coverage {
			fmt.Fprint(p.Stdout, coverageText(p, c.Proof.Account))
		}
		statement := c.Proof.Statement()
		if c.Proof.Holds() && len(check.Faults) > 0 {
			statement = message.Of("Not proven: the report does not fit.")
		}
		fmt.Fprintln(p.Stdout, p.tr.Sprint(statement))
	} else if !c.Proof.Holds() {
		p.printError(message.New(c.Proof.Statement(), nil))
	}
	if !c.Proof.Holds() || len(check.Faults) > 0 {
		return errReported
	}
	return nil
}

// checkText says which report is about the files.
func checkText(p *program, check *report.Check) string {
	var b strings.Builder
	if check.Exists && len(check.Faults) == 0 {
		fmt.Fprintln(&b, p.say("The report %s is about these files.", check.Path))
		if check.Extent != nil {
			fmt.Fprintln(&b, p.tr.Sprint(check.Extent.Message()))
		}
	}
	for _, remark := range check.Remarks {
		fmt.Fprintln(&b, p.tr.Sprint(remark))
	}
	return b.String()
}

// coverageText says what the bytes of a result are.
func coverageText(p *program, a container.Account) string {
	var b strings.Builder
	line := func(format message.Text, n int64) { fmt.Fprintln(&b, p.say(format, n)) }
	line("bytes of the result: %d", a.Size)
	line("  samples: %d", a.Samples)
	line("  compared values: %d", a.Values)
	line("  structure that leads to them: %d", a.Structure)
	line("  unused, as in the original: %d", a.Carried)
	line("  zeros before the next part: %d", a.Fill)
	line("  of no known use: %d", a.Foreign)
	line("  sum: %d", a.Sum())
	return b.String()
}

// proofText lists the figures of a proof.
func proofText(p *program, proof *imagefile.Proof) string {
	var b strings.Builder
	line := func(format message.Text, args ...any) { fmt.Fprintln(&b, p.say(format, args...)) }
	line("pixels changed: %d of %d", proof.Changed, int64(proof.Width)*int64(proof.Height))
	if proof.MaskArea >= 0 {
		line("pixels free to change: %d", proof.MaskArea)
		line("pixels changed beyond these: %d", proof.Outside)
	}
	for _, at := range proof.First {
		line("  at %d, %d", at.X, at.Y)
	}
	if proof.ByByte {
		line("bytes changed: %d, of them other than samples of changed pixels: %d",
			proof.BytesChanged, proof.BytesOutside)
	}
	if blocks := proof.Blocks; blocks.Total > 0 {
		line("JPEG blocks changed: %d of %d, of them without a pixel of the mask: %d",
			blocks.Changed, blocks.Total, blocks.Outside)
	}
	for _, what := range proof.Differs {
		line("  differs: %s", what)
	}
	for _, what := range proof.Uncompared {
		line("  not compared: %s", what)
	}
	return b.String()
}
