package cli

import (
	"context"
	"fmt"
	"strings"

	"blik/app/imagefile"
	"blik/app/report"
	"blik/internal/message"
	"blik/processing"

	"github.com/spf13/cobra"
)

func (p *program) verifyCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "verify [flags] " + p.say("ORIGINAL RESULT"),
		Short: p.say("Prove that only pixels in the mask changed"),
		Long: p.say(`Compares what two picture files hold, however it is packed: every sample of every pixel, page and
sub-picture, alpha and extra channels, every tag, chunk and segment. A result in another format is compared with what
Blik writes when it saves the original in that format. Of a JPEG, each stored block is compared with that of the
original. What cannot be compared counts as not proven. If a report lies beside RESULT, its SHA-256 sums must match both
files.

With --mask, pixels outside the mask must be identical; the mask must include halo and veil, as that of correct
--save-mask does. Without it, the changed pixels are counted.

Exit status: 0 proven, 1 not proven or a file cannot be read, 2 usage error, 130 cancelled.`),
		Args:              p.exactly(2),
		ValidArgsFunction: completePictures,
	}
	f := c.Flags()
	path := f.String("mask", "", p.say("the mask, a picture `FILE`"))
	var limit float64
	p.addLimit(c, &limit)
	quiet := f.BoolP("quiet", "q", false, p.say("print nothing but errors"))
	c.RunE = func(c *cobra.Command, args []string) error {
		limits, err := p.limitsOf(limit)
		if err != nil {
			return err
		}
		proof, err := verify(c.Context(), args[0], args[1], *path, limits)
		if err != nil {
			return err
		}
		fits, err := p.checkReport(c.Context(), args[0], args[1], *quiet)
		if err != nil {
			return err
		}
		if !*quiet {
			fmt.Fprint(p.Stdout, p.proofText(proof))
		}
		if !proof.Holds() || !fits {
			return errReported
		}
		return nil
	}
	return c
}

// checkReport compares the files with the checksums in the report beside the result, if there is one, and prints which
// of them match.
func (p *program) checkReport(ctx context.Context, source, result string, quiet bool) (fits bool, err error) {
	sums, ok := report.ReadSums(result)
	if !ok {
		return true, nil
	}
	fits = true
	for _, f := range []struct{ path, sum string }{{result, sums.Result}, {source, sums.Source}} {
		if f.sum == "" {
			continue
		}
		got, err := imagefile.SHA256(ctx, f.path)
		if err != nil {
			return false, err
		}
		if got != f.sum {
			fits = false
			p.printError(message.Errorf("%s is not the file that report %s describes: SHA-256 %s instead of %s",
				f.path, sums.Report, got, f.sum))
		}
	}
	if fits && !quiet {
		fmt.Fprintln(p.Stdout, p.say("The report %s is about these files.", sums.Report))
	}
	return fits, nil
}

func verify(ctx context.Context, source, result, maskPath string, limits imagefile.Limits) (*imagefile.Proof, error) {
	var mask *processing.Mask
	if maskPath != "" {
		var err error
		if mask, err = imagefile.ReadMask(ctx, maskPath, 0, 0, limits); err != nil {
			return nil, err
		}
	}
	return imagefile.Verify(ctx, source, result, mask, limits)
}

// proofText describes a proof with its figures and one sentence.
func (p *program) proofText(proof *imagefile.Proof) string {
	var b strings.Builder
	line := func(format message.Text, args ...any) { fmt.Fprintln(&b, p.say(format, args...)) }
	line("pixels changed: %d of %d", proof.Changed, int64(proof.Width)*int64(proof.Height))
	if proof.MaskArea >= 0 {
		line("pixels in the mask: %d", proof.MaskArea)
		line("pixels changed outside the mask: %d", proof.Outside)
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
	fmt.Fprintln(&b, p.tr.Sprint(proof.Statement()))
	return b.String()
}
