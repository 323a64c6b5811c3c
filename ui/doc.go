// Package ui is the window of Blik: viewport, tools, panels, dialogs and theme. It shows the state held by app and
// turns the user's actions into calls of it; it contains no algorithm.
package ui
