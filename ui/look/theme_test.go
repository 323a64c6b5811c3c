package look

import (
	"image/color"
	"math"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"
)

// luminance is the relative luminance of WCAG 2, 0…1.
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

// contrast is the contrast ratio of WCAG 2 between text, whose colour may be translucent, and its background.
func contrast(text, under color.Color) float64 {
	r, g, b, a := text.RGBA()
	x, y, z, _ := under.RGBA()
	mix := func(top, below uint32) uint16 { return uint16(top + below*(0xffff-a)/0xffff) }
	p, q := luminance(color.RGBA64{mix(r, x), mix(g, y), mix(b, z), 0xffff}), luminance(under)
	return (max(p, q) + 0.05) / (min(p, q) + 0.05)
}

// Text, even greyed, and the borders of fields and check boxes have enough contrast.
func TestContrast(t *testing.T) {
	test.NewTempApp(t)
	for _, look := range Appearances() {
		for _, variant := range []fyne.ThemeVariant{theme.VariantLight, theme.VariantDark} {
			th := NewTheme(look)
			for name, least := range map[fyne.ThemeColorName]float64{theme.ColorNameForeground: 4.5,
				theme.ColorNamePlaceHolder: 4.5, theme.ColorNameDisabled: 2.5, theme.ColorNameInputBorder: 2.5} {
				for _, under := range []fyne.ThemeColorName{theme.ColorNameBackground, theme.ColorNameMenuBackground,
					theme.ColorNameOverlayBackground} {
					if got := contrast(th.Color(name, variant), th.Color(under, variant)); got < least {
						t.Errorf("%s, variant %d: %s on %s has a contrast of %.2f, want %.1f", look, variant, name,
							under, got, least)
					}
				}
			}
		}
	}
}

// Fields are brighter than what is around them in the light appearance, because darker ones look disabled, and buttons
// differ from both.
func TestLightFields(t *testing.T) {
	test.NewTempApp(t)
	th := NewTheme(Light)
	at := func(name fyne.ThemeColorName) color.Color { return th.Color(name, theme.VariantLight) }
	for _, under := range []fyne.ThemeColorName{theme.ColorNameBackground, theme.ColorNameOverlayBackground} {
		field, button := at(theme.ColorNameInputBackground), at(theme.ColorNameButton)
		if luminance(field) < luminance(at(under)) || contrast(field, at(under)) < 1.15 ||
			contrast(button, at(under)) < 1.15 {
			t.Errorf("%s: contrast of a field %.2f, of a button %.2f", under, contrast(field, at(under)),
				contrast(button, at(under)))
		}
	}
}

// A dialog in high contrast differs from the window behind it.
func TestDialogEdges(t *testing.T) {
	test.NewTempApp(t)
	th := NewTheme(Contrast)
	dialog := th.Color(theme.ColorNameOverlayBackground, theme.VariantDark)
	for name, least := range map[fyne.ThemeColorName]float64{theme.ColorNameBackground: 1.4,
		theme.ColorNameInputBackground: 1.4, theme.ColorNameButton: 1.3} {
		if got := contrast(dialog, th.Color(name, theme.VariantDark)); got < least {
			t.Errorf("a dialog and %s have a contrast of %.2f, want %.1f", name, got, least)
		}
	}
}
