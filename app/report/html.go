package report

import (
	"context"
	"fmt"
	"html/template"
	"image"
	"io"
	"strings"

	"blik/app/colour"
	"blik/app/i18n"
	"blik/app/imagefile"
	"blik/app/thumbnail"
	"blik/internal/message"
	"blik/processing"
	"blik/processing/detect"
)

// picturedPlaces is the number of findings that WriteCorrectionHTML shows before and after; the table lists all.
const picturedPlaces = 300

// WriteCorrectionHTML writes the report for people in the language of tr: a single file with pictures of the largest
// findings before and after, upright and enlarged by whole numbers.
func WriteCorrectionHTML(ctx context.Context, w io.Writer, c Correction, tr *i18n.Printer) error {
	rec, err := c.record()
	if err != nil {
		return err
	}
	page := &htmlPage{
		Lang: tr.Code(), Record: rec, Turned: c.Source.Orientation != 1,
		Spec: specRows(c, tr), Others: otherSets(c, rec.Places, tr),
	}
	if rec.Proof != nil {
		page.Statement = rec.Proof.Statement[tr.Code()]
	}
	boxes := make([]image.Rectangle, len(rec.Places))
	for i, p := range rec.Places {
		boxes[i] = image.Rect(p.Left, p.Top, p.Left+p.Width, p.Top+p.Height)
	}
	screen := thumbnail.Screen(c.Source.Picture, c.Source.Profile)
	for _, i := range byArea(rec.Places) {
		if len(page.Pictured) == picturedPlaces {
			break
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		shown, err := c.show(ctx, rec.Places[i], boxes, screen)
		if err != nil {
			return err
		}
		page.Pictured = append(page.Pictured, shown)
	}
	page.More = len(rec.Places) - len(page.Pictured)
	return execute(w, "correction.html", page, tr, template.FuncMap{
		"method": func(id string) string { return methodName(id, tr) },
		"fixed":  func(digits int, v float64) string { return number(v, digits, tr) },
		"value": func(digits int, v *float64) string {
			if v == nil {
				return "–"
			}
			return number(*v, digits, tr)
		},
		"why": func(f detect.Finding) string {
			var lines []string
			for _, r := range f.Reasons() {
				lines = append(lines, tr.Sprint(r.Message()))
			}
			return strings.Join(lines, "; ")
		},
		"how": func(how string) string { return tr.Sprint(howName(imagefile.SaveMethod(how))) },
	})
}

type htmlPage struct {
	Lang      string
	Record    correctionRecord
	Statement string
	Spec      [][2]string
	Others    []otherSet
	Pictured  []shownPlace
	// More is the number of places without pictures.
	More   int
	Turned bool
}

// shownPlace is a place with its pictures as data URLs, Width × Height screen pixels large at Scale per cent.
type shownPlace struct {
	Place
	Before, After        template.URL
	Width, Height, Scale int
}

// Pictures of a place are enlarged by at most maxScale times, within maxShown; larger ones are reduced.
const (
	maxShown = 400
	maxScale = 4
)

// show draws a place with surroundings of the same size, before and after. boxes are the bounding boxes of all patches.
func (c Correction) show(ctx context.Context, p Place, boxes []image.Rectangle, screen *colour.Screen) (
	shownPlace, error,
) {
	pic := c.Source.Picture
	margin := min(max(12, max(p.Width, p.Height)/2), 100)
	view := image.Rect(p.Left-margin, p.Top-margin, p.Left+p.Width+margin, p.Top+p.Height+margin).
		Intersect(image.Rect(0, 0, pic.Width, pic.Height))
	before, err := thumbnail.Crop(ctx, pic, screen, view)
	if err != nil {
		return shownPlace{}, err
	}
	part := pic.Part(view.Min.X, view.Min.Y, view.Dx(), view.Dy())
	for i, b := range boxes {
		if b.Overlaps(view) {
			c.Patches[i].ApplyWithin(part, view.Min.X, view.Min.Y)
		}
	}
	after, err := thumbnail.Crop(ctx, part, screen, view.Sub(view.Min))
	if err != nil {
		return shownPlace{}, err
	}
	longest := max(view.Dx(), view.Dy())
	scale := max(1, min(maxScale, maxShown/longest))
	shrink := (longest + maxShown - 1) / maxShown
	shown := shownPlace{Place: p, Scale: 100 * scale / shrink}
	for _, side := range []struct {
		whole *image.NRGBA
		url   *template.URL
	}{{before, &shown.Before}, {after, &shown.After}} {
		small := thumbnail.Fit(side.whole, (longest+shrink-1)/shrink)
		upright := thumbnail.Upright(small, c.Source.Orientation)
		shown.Width, shown.Height = upright.Bounds().Dx()*scale, upright.Bounds().Dy()*scale
		if *side.url, err = thumbnail.PNGURL(upright); err != nil {
			return shown, err
		}
	}
	return shown, nil
}

// specRows returns names and values of the parameters, without unused ones.
func specRows(c Correction, tr *i18n.Printer) [][2]string {
	var rows [][2]string
	p := c.Params
	for _, s := range processing.Specs() {
		if s.Manual && p.Mode == processing.Adaptive || s.Stage == processing.StageDetection && c.Findings == nil {
			continue
		}
		v := s.Get(p)
		if s.ID == "mode" {
			v = float64(c.Mode)
		}
		value := s.Format(v)
		if s.Kind == processing.KindChoice {
			value = tr.Sprint(s.Choices[int(v)].Name)
		}
		if s.Kind == processing.KindSwitch {
			value = tr.Sprint(map[string]message.Message{"true": message.Of("yes"), "false": message.Of("no")}[value])
		}
		rows = append(rows, [2]string{tr.Sprint(s.Name), strings.TrimSpace(value + " " + tr.Sprint(s.Unit))})
	}
	return rows
}

// otherSet holds the parameters that differ at some places, and the number of these places.
type otherSet struct {
	Number, Places int
	Spec           [][2]string
}

// otherSets returns the parameters of places that were not corrected with those of the report.
func otherSets(c Correction, places []Place, tr *i18n.Printer) []otherSet {
	others, _ := c.sets()
	usual := specRows(c, tr)
	sets := make([]otherSet, len(others))
	for i, p := range others {
		set := otherSet{Number: i + 1}
		c.Params = p
		for k, row := range specRows(c, tr) {
			if row != usual[k] {
				set.Spec = append(set.Spec, row)
			}
		}
		for _, place := range places {
			if place.Preset == set.Number {
				set.Places++
			}
		}
		sets[i] = set
	}
	return sets
}

// methodName returns the display name of a method.
func methodName(id string, tr *i18n.Printer) string {
	spec, _ := processing.SpecByID("method")
	for _, c := range spec.Choices {
		if c.ID == id {
			return tr.Sprint(c.Name)
		}
	}
	return id
}

// howName describes how the picture was saved.
func howName(how imagefile.SaveMethod) message.Message {
	switch how {
	case imagefile.Copied:
		return message.Of("nothing changed: an exact copy of the original")
	case imagefile.Patched:
		return message.Of("a copy of the original in which only changed pixels were overwritten")
	case imagefile.Rewritten:
		return message.Of("the same container, rewritten with everything in it except the changed pixels")
	default:
		return message.Of("a new file of another format, with the metadata of the original")
	}
}

// number writes a number with the language's decimal separator.
func number(v float64, digits int, tr *i18n.Printer) string {
	return tr.Decimal(fmt.Sprintf("%.*f", digits, v))
}
