package cli

import (
	"blik/app/work"
	"blik/processing"

	"github.com/spf13/cobra"
)

func correctCommand(p *program) *cobra.Command {
	c := &cobra.Command{
		Use:   "correct [flags] -o " + p.say("DIR FILE") + "…",
		Short: p.say("Remove glare and change nothing else in the file"),
		Long: p.say(`Removes glare from PNG, JPEG and TIFF pictures. For each FILE it writes into DIR

  NAME_corrected.EXT   the picture: a copy of the original in which only pixels in the mask, its halo and the veil of
                       large glints differ
  NAME_corrected.html  a report with all findings before and after, and the proof (not with --no-report)
  NAME_corrected.json  the same for programs
  NAME_mask.png        the mask with halo and veil (with --save-mask)
  index.html           a page with a thumbnail of each file (with --index)

where NAME is the file's name without its extension. Depth, profile, metadata, resolution, other pages and the container
stay those of the original. A JPEG is saved as a TIFF, because JPEG loses detail each time it is written; --format jpeg
keeps JPEG.

The mask comes from --mask or --mask-dir. Without them (or with --auto), detection finds the glare, with all its
parameters. Masks follow the stored pixel order and ignore EXIF orientation; a pixel is glare from 128 up. In --mask-dir
the mask of NAME is the first of NAME_mask, NAME, NAME_glare_mask, NAME_image_mask, NAME_pred. If NAME ends in _glare or
_image, the name without that ending is also tried.

Each result is read back and compared with its original before it gets its name. The original is never modified.

Exit status: 0 success, 1 some files failed (the others are done), 2 usage error, 130 cancelled.`),
		ValidArgsFunction: completePictures,
	}
	addSeries(p, c, work.Correction|work.Masked, processing.Specs())
	return c
}
