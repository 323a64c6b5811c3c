package help

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"

	"blik/app/i18n"
	"blik/internal/message"
	"blik/ui/icons"
	"blik/ui/xwidget"
)

// Press are the keys that the tour names.
type Press struct {
	Find, Next, Keep, Ignore, Brush, Correct, Original, Save string
}

// cardWidth is the least width of a card, cardGap the distance of two cards, and cardIcon the side of the icon, in Fyne
// units.
const cardWidth, cardGap, cardIcon = 220, 8, 28

// cards lays out cards in one or two columns, all as high as the text of the longest needs. height is that of all.
type cards struct{ height float32 }

func (l *cards) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	columns := 1
	if size.Width >= 2*cardWidth+cardGap {
		columns = 2
	}
	width, height := (size.Width-float32(columns-1)*cardGap)/float32(columns), float32(0)
	for _, o := range objects {
		// The height of the lines depends on the width.
		o.Resize(fyne.NewSize(width, o.MinSize().Height))
		height = max(height, o.MinSize().Height)
	}
	for i, o := range objects {
		o.Move(fyne.NewPos(float32(i%columns)*(width+cardGap), float32(i/columns)*(height+cardGap)))
		o.Resize(fyne.NewSize(width, height))
	}
	l.height = float32((len(objects)+columns-1)/columns)*(height+cardGap) - cardGap
}

// MinSize is part of fyne.Layout. The height is that of the last layout.
func (l *cards) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(cardWidth, l.height) }

// NewTour returns four cards, two beside each other, with the steps of the work on a picture.
func NewTour(t *i18n.Printer, p Press) fyne.CanvasObject {
	card := func(icon fyne.Resource, title message.Text, text message.Message) fyne.CanvasObject {
		back := canvas.NewRectangle(theme.Color(theme.ColorNameInputBackground))
		back.CornerRadius = theme.InputRadiusSize()
		image := canvas.NewImageFromResource(icon)
		image.FillMode = canvas.ImageFillContain
		image.SetMinSize(fyne.NewSquareSize(cardIcon))
		words := xwidget.NewWrapped(t.Sprint(text))
		words.SizeName = theme.SizeNameCaptionText
		return container.NewStack(back, container.New(layout.NewCustomPaddedLayout(8, 8, 12, 4),
			container.NewBorder(nil, nil, container.NewVBox(image), nil,
				container.New(layout.NewCustomPaddedVBoxLayout(-4), xwidget.NewHeading(t.Sprintf(title)), words))))
	}
	return container.New(&cards{},
		card(theme.FolderOpenIcon(), "1. Open", message.Of("A TIFF, PNG or JPEG, or a folder of them. Blik writes a "+
			"copy; the original stays as it is.")),
		card(theme.SearchIcon(), "2. Find glare", message.Of("%s marks every finding. More or fewer? Change the "+
			"sensitivity; it acts at once.", p.Find)),
		card(theme.VisibilityIcon(), "3. Check", message.Of("%s goes to the next finding, %s keeps it, %s ignores it. "+
			"Painted lights are yours to spare. Paint what was missed with the brush (%s).", p.Next, p.Keep, p.Ignore,
			p.Brush)),
		card(icons.Get("correct"), "4. Correct and save", message.Of("%s corrects, %s shows the original, %s saves a "+
			"copy and proves that nothing else has changed.", p.Correct, p.Original, p.Save)))
}
