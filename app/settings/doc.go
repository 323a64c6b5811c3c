// Package settings stores the settings of the program as JSON in the user's configuration folder.
package settings
