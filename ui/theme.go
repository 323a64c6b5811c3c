package ui

import (
	"image/color"

	"blik/internal/message"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
)

// appearance is the look of the window; the picture's surround is the same neutral grey in all of them.
type appearance string

const (
	appearanceSystem  appearance = "system"
	appearanceLight   appearance = "light"
	appearanceDark    appearance = "dark"
	appearanceNeutral appearance = "neutral"
	// appearanceContrast is white on black, with edges that are seen.
	appearanceContrast appearance = "contrast"
)

func appearances() []appearance {
	return []appearance{appearanceSystem, appearanceLight, appearanceDark, appearanceNeutral,
		appearanceContrast}
}

func (a appearance) name() message.Text {
	switch a {
	case appearanceLight:
		return "Light"
	case appearanceDark:
		return "Dark"
	case appearanceNeutral:
		return "Neutral grey"
	case appearanceContrast:
		return "High contrast"
	default:
		return "Follow system"
	}
}

// blikTheme is Fyne's theme, a little denser, in the chosen appearance.
type blikTheme struct {
	fyne.Theme
	look appearance
}

func newTheme(look appearance) fyne.Theme { return &blikTheme{theme.DefaultTheme(), look} }

// neutralColours replace every tint of the dark theme by a grey, so that nothing beside the painting sways the eye.
var neutralColours = map[fyne.ThemeColorName]uint8{
	theme.ColorNameBackground:        0x4c,
	theme.ColorNameMenuBackground:    0x44,
	theme.ColorNameOverlayBackground: 0x44,
	theme.ColorNameInputBackground:   0x3c,
	theme.ColorNameInputBorder:       0x90,
	theme.ColorNameButton:            0x5c,
	theme.ColorNameDisabledButton:    0x50,
	theme.ColorNameHeaderBackground:  0x40,
	theme.ColorNameSeparator:         0x3a,
	theme.ColorNameForeground:        0xf2,
	theme.ColorNamePlaceHolder:       0xb4,
	theme.ColorNameDisabled:          0x90,
	theme.ColorNamePrimary:           0xc8,
	theme.ColorNameHyperlink:         0xe0,
	theme.ColorNameScrollBar:         0x90,
}

// contrastColours are those of the high-contrast look: text is white on black (a ratio of 21 to 1), in fields on a grey
// against which the track of a slider is seen (11 to 1), and what has the focus or is chosen is yellow.
var contrastColours = map[fyne.ThemeColorName]color.Color{
	theme.ColorNameBackground:          color.Gray{},
	theme.ColorNameMenuBackground:      color.Gray{},
	theme.ColorNameOverlayBackground:   color.Gray{},
	theme.ColorNameInputBackground:     color.Gray{Y: 0x38},
	theme.ColorNameHeaderBackground:    color.Gray{},
	theme.ColorNameButton:              color.Gray{Y: 0x30},
	theme.ColorNameDisabledButton:      color.Gray{Y: 0x18},
	theme.ColorNameInputBorder:         color.Gray{Y: 0xff},
	theme.ColorNameSeparator:           color.Gray{Y: 0xff},
	theme.ColorNameForeground:          color.Gray{Y: 0xff},
	theme.ColorNamePlaceHolder:         color.Gray{Y: 0xe0},
	theme.ColorNameDisabled:            color.Gray{Y: 0xa0},
	theme.ColorNameScrollBar:           color.Gray{Y: 0xff},
	theme.ColorNamePrimary:             color.NRGBA{0xff, 0xe0, 0x00, 0xff},
	theme.ColorNameHyperlink:           color.NRGBA{0xff, 0xe0, 0x00, 0xff},
	theme.ColorNameForegroundOnPrimary: color.Gray{},
	theme.ColorNameFocus:               color.NRGBA{0xff, 0xe0, 0x00, 0x80},
	theme.ColorNameSelection:           color.NRGBA{0xff, 0xe0, 0x00, 0x60},
	theme.ColorNameHover:               color.NRGBA{0xff, 0xff, 0xff, 0x40},
}

// nearlyOpaque is the opacity of text. Fyne's menus write their keys at 95 % of it but keep the low byte of the product
// alone, which makes a fifth of an opaque colour and nine tenths of this one; everything else looks the same.
const nearlyOpaque = 0xffb0

// Color gives a colour in the chosen appearance.
func (t *blikTheme) Color(name fyne.ThemeColorName, variant fyne.ThemeVariant) color.Color {
	c := t.colour(name, variant)
	if name == theme.ColorNameForeground {
		text := color.NRGBA64Model.Convert(c).(color.NRGBA64)
		text.A = nearlyOpaque
		return text
	}
	return c
}

func (t *blikTheme) colour(name fyne.ThemeColorName, variant fyne.ThemeVariant) color.Color {
	switch t.look {
	case appearanceLight:
		variant = theme.VariantLight
	case appearanceDark:
		variant = theme.VariantDark
	case appearanceContrast:
		variant = theme.VariantDark
		if c, ok := contrastColours[name]; ok {
			return c
		}
	case appearanceNeutral:
		variant = theme.VariantDark
		if g, ok := neutralColours[name]; ok {
			return color.Gray{Y: g}
		}
		switch name {
		case theme.ColorNameForegroundOnPrimary:
			return color.Gray{Y: 0x18}
		case theme.ColorNameSelection, theme.ColorNameFocus:
			return color.NRGBA{0xc8, 0xc8, 0xc8, 0x40}
		}
	}
	switch name {
	case theme.ColorNameDisabled, theme.ColorNameInputBorder:
		// Fyne's own can hardly be told from the background; the border is all that an empty check box shows.
		if variant == theme.VariantLight {
			return color.Gray{Y: 0x90}
		}
		return color.Gray{Y: 0x70}
	}
	return t.Theme.Color(name, variant)
}

// Size makes Fyne's generous spacing a little denser.
func (t *blikTheme) Size(name fyne.ThemeSizeName) float32 {
	switch name {
	case theme.SizeNameText:
		return 13
	case theme.SizeNameInnerPadding:
		return 6
	case theme.SizeNameInlineIcon:
		return 18
	}
	return t.Theme.Size(name)
}
