// Package settings keeps what the program remembers between two starts, as JSON in the user's configuration folder.
package settings
