package timing

import (
	"context"
	"path/filepath"

	"blik/internal/message"
	"blik/processing"
	"blik/ui/xwidget"
)

// pictureChoice offers the open picture and generated ones.
type pictureChoice struct {
	box *xwidget.Select
	v   *View
	// open is set if the first choice is the open picture.
	open bool
}

func newPictureChoice(v *View) *pictureChoice {
	c := &pictureChoice{box: xwidget.NewSelect(nil, keys{v}, nil), v: v}
	c.fill()
	c.box.SetSelectedIndex(c.usual())
	return c
}

// fill makes the list for the current picture.
func (c *pictureChoice) fill() {
	c.box.Options = nil
	p := c.v.picture()
	if c.open = p != nil; c.open {
		c.box.Options = append(c.box.Options, filepath.Base(p.Name))
	}
	for _, mp := range generated() {
		c.box.Options = append(c.box.Options, c.v.t("synthetic, %s MP", c.v.texts.Number(mp, 1)))
	}
}

// usual returns the index of the default: the open picture, or a generated one of medium size.
func (c *pictureChoice) usual() int {
	if c.open {
		return 0
	}
	return usualSize
}

// refresh updates the list; a picture that was just opened is chosen.
func (c *pictureChoice) refresh() {
	before, chosen := c.open, c.box.Selected
	was := ""
	if before {
		was = c.box.Options[0]
	}
	c.fill()
	if c.open && (!before || c.box.Options[0] != was) || !c.open && before && chosen == was {
		c.box.SetSelectedIndex(c.usual())
	}
	c.box.Refresh()
}

// source returns a function that provides the chosen picture and its search region; it runs in a job.
func (c *pictureChoice) source() func(context.Context, processing.Progress) (*processing.Picture, *processing.Region,
	error) {
	i := max(c.box.SelectedIndex(), 0)
	if c.open {
		if i == 0 {
			p := c.v.picture()
			return func(context.Context, processing.Progress) (*processing.Picture, *processing.Region, error) {
				return p.Picture, p.Region, nil
			}
		}
		i--
	}
	mp, generate := generated()[i], c.v.Generate
	painting := message.Of("%s", c.v.t("rendering the picture"))
	return func(ctx context.Context, report processing.Progress) (*processing.Picture, *processing.Region, error) {
		report(painting, 0)
		pic, err := generate(ctx, mp)
		return pic, nil, err
	}
}
