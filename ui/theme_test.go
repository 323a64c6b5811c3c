package ui

import (
	"image/color"
	"math"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"
)

// luminance is that of WCAG 2, 0…1.
func luminance(c color.Color) float64 {
	linear := func(v uint32) float64 {
		s := float64(v) / 0xffff
		if s <= 0.04045 {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	r, g, b, _ := c.RGBA()
	return 0.2126*linear(r) + 0.7152*linear(g) + 0.0722*linear(b)
}

// Text, greyed text too, and the borders of fields and check boxes stand out against what they lie on.
func TestContrast(t *testing.T) {
	test.NewTempApp(t)
	for _, look := range appearances() {
		for _, variant := range []fyne.ThemeVariant{theme.VariantLight, theme.VariantDark} {
			th := newTheme(look)
			for name, least := range map[fyne.ThemeColorName]float64{theme.ColorNameForeground: 4.5, theme.ColorNamePlaceHolder: 3, theme.ColorNameDisabled: 2.5, theme.ColorNameInputBorder: 2.5} {
				for _, under := range []fyne.ThemeColorName{theme.ColorNameBackground, theme.ColorNameMenuBackground, theme.ColorNameOverlayBackground} {
					a, b := luminance(th.Color(name, variant)), luminance(th.Color(under, variant))
					if got := (max(a, b) + 0.05) / (min(a, b) + 0.05); got < least {
						t.Errorf("%s, variant %d: %s on %s has a contrast of %.2f, want %.1f", look, variant, name, under, got, least)
					}
				}
			}
		}
	}
}
