// Package ui is the window of Blik: viewport, tools, panels, dialogs, theme and translations. It shows what app
// holds and turns the user's actions into calls of it; it computes nothing about a picture itself.
package ui
