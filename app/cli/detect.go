package cli

import (
	"blik/app/work"
	"blik/processing"

	"github.com/spf13/cobra"
)

func detectCommand(p *program) *cobra.Command {
	c := &cobra.Command{
		Use:   "detect [flags] -o " + p.say("DIR FILE") + "…",
		Short: p.say("Find glare in pictures; write masks and findings"),
		Long: p.say(`Finds glare in PNG, JPEG and TIFF pictures. For each FILE it writes into DIR

  NAME_mask.png       8-bit mask: 255 is glare, 0 is not
  NAME_findings.csv   one line for each finding
  NAME_findings.json  all findings, with the values used
  NAME_marked.png     the picture with the findings outlined (with --marked)
  NAME_preview.jpg    the same, small and upright (with --preview)
  index.html          a page with a thumbnail of each file (with --index)

where NAME is the file's name without its extension. By default the program measures each picture and chooses every
value itself (--auto); a manual parameter switches to manual mode unless --mode says otherwise.

Exit status: 0 success, 1 some files failed (the others are done), 2 usage error, 130 cancelled.`),
		ValidArgsFunction: completePictures,
	}
	addSeries(p, c, work.Detection|work.Tables, processing.SpecsOf(processing.StageDetection))
	return c
}
