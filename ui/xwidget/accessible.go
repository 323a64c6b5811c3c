package xwidget

import "fyne.io/fyne/v2"

// Fyne tells screen readers the names of these widgets on Windows and macOS, in programs built with the tag
// accessibility. It looks into containers, not into other widgets such as tabs and scrolled panels.
var (
	_ fyne.Accessible = (*ToolButton)(nil)
	_ fyne.Accessible = (*HoldButton)(nil)
	_ fyne.Accessible = (*PictureButton)(nil)
	_ fyne.Accessible = (*radioItem)(nil)
	_ fyne.Accessible = (*HelpLabel)(nil)
	_ fyne.Accessible = (*FixedText)(nil)
)

// AccessibilityLabel is the tip, because there is no text.
func (b *ToolButton) AccessibilityLabel() string { return b.Tip }

func (b *HoldButton) AccessibilityLabel() string { return b.text }

func (b *PictureButton) AccessibilityLabel() string { return b.text }

func (b *baseButton) AccessibilityRole() fyne.AccessibleRole { return fyne.AccessibleRoleButton }

func (i *radioItem) AccessibilityLabel() string             { return i.option }
func (i *radioItem) AccessibilityRole() fyne.AccessibleRole { return fyne.AccessibleRoleButton }

func (l *HelpLabel) AccessibilityLabel() string             { return l.text }
func (l *HelpLabel) AccessibilityRole() fyne.AccessibleRole { return fyne.AccessibleRoleText }

// AccessibilityLabel is the whole text, even if it is truncated on the screen.
func (t *FixedText) AccessibilityLabel() string { return t.text }

func (t *FixedText) AccessibilityRole() fyne.AccessibleRole { return fyne.AccessibleRoleText }
