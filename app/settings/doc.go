// Package settings stores what the program remembers between runs, as JSON in the user's configuration folder.
package settings
