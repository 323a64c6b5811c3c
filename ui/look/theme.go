// Package look is the theme of the window in its appearances.
package look

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"

	"blik/internal/message"
)

// Appearance is the look of the window. The picture's surround is the same neutral grey in all of them.
type Appearance string

// The appearances; System is that of the desktop.
const (
	System  Appearance = "system"
	Light   Appearance = "light"
	Dark    Appearance = "dark"
	Neutral Appearance = "neutral"
	// Contrast is white on black with clearly visible edges.
	Contrast Appearance = "contrast"
)

// Appearances lists the appearances in the order of the menu.
func Appearances() []Appearance {
	return []Appearance{System, Light, Dark, Neutral, Contrast}
}

// Name returns the text of its menu item.
func (a Appearance) Name() message.Text {
	switch a {
	case Light:
		return "Light"
	case Dark:
		return "Dark"
	case Neutral:
		return "Neutral grey"
	case Contrast:
		return "High contrast"
	default:
		return "Follow system"
	}
}

// blikTheme is Fyne's theme in the chosen appearance, with smaller spacing.
type blikTheme struct {
	fyne.Theme
	look Appearance
}

// NewTheme returns the theme of an appearance.
func NewTheme(look Appearance) fyne.Theme { return &blikTheme{theme.DefaultTheme(), look} }

// lightColours replace those of Fyne's light theme, in which buttons, fields and the tracks of sliders hardly differ
// from the background, and secondary text has a contrast of 3.5 : 1 (here 5.5 : 1). Fields are white on light grey,
// because a field that is darker than its background looks disabled.
var lightColours = map[fyne.ThemeColorName]uint8{
	theme.ColorNameBackground:        0xe6,
	theme.ColorNameMenuBackground:    0xf2,
	theme.ColorNameOverlayBackground: 0xea,
	theme.ColorNameHeaderBackground:  0xdc,
	theme.ColorNameInputBackground:   0xff,
	theme.ColorNameInputBorder:       0x84,
	theme.ColorNameButton:            0xd2,
	theme.ColorNameDisabledButton:    0xdc,
	theme.ColorNameSeparator:         0xc0,
	theme.ColorNameForeground:        0x28,
	theme.ColorNamePlaceHolder:       0x5a,
	theme.ColorNameDisabled:          0x7a,
}

// neutralColours replace every tint of the dark theme by a grey, so that no colour beside the painting affects how it
// is seen.
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
	theme.ColorNamePlaceHolder:       0xbe,
	theme.ColorNameDisabled:          0x90,
	theme.ColorNamePrimary:           0xc8,
	theme.ColorNameHyperlink:         0xe0,
	theme.ColorNameScrollBar:         0x90,
}

// contrastColours are those of the high-contrast appearance: white text on black (contrast 21 : 1) and, in dialogs, on
// a grey that differs from the window behind them (15 : 1), fields of a grey against which the track of a slider is
// visible (9 : 1), and yellow for focus and selection.
var contrastColours = map[fyne.ThemeColorName]color.Color{
	theme.ColorNameBackground:          color.Gray{},
	theme.ColorNameMenuBackground:      color.Gray{},
	theme.ColorNameOverlayBackground:   color.Gray{Y: 0x28},
	theme.ColorNameInputBackground:     color.Gray{Y: 0x48},
	theme.ColorNameHeaderBackground:    color.Gray{},
	theme.ColorNameButton:              color.Gray{Y: 0x40},
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

// Color returns a colour in the chosen appearance.
func (t *blikTheme) Color(name fyne.ThemeColorName, variant fyne.ThemeVariant) color.Color {
	switch t.look {
	case Light:
		variant = theme.VariantLight
	case Dark:
		variant = theme.VariantDark
	case Contrast:
		variant = theme.VariantDark
		if c, ok := contrastColours[name]; ok {
			return c
		}
	case Neutral:
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
	if g, ok := lightColours[name]; ok && variant == theme.VariantLight {
		return color.Gray{Y: g}
	}
	switch name {
	case theme.ColorNameDisabled, theme.ColorNameInputBorder:
		// Fyne's own colours barely differ from the background, and an empty check box shows nothing but its border.
		return color.Gray{Y: 0x70}
	}
	return t.Theme.Color(name, variant)
}

// Size reduces Fyne's generous spacing.
func (t *blikTheme) Size(name fyne.ThemeSizeName) float32 {
	switch name {
	case theme.SizeNameText:
		return 13
	case theme.SizeNameInnerPadding:
		return 6
	case theme.SizeNameInlineIcon:
		return 18
	case theme.SizeNameModalBlurRadius:
		// The picture behind a dialog stays as it is.
		return 0
	}
	return t.Theme.Size(name)
}
