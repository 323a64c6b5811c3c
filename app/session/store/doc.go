// Package store opens pictures and saves the work on them: masks, corrected pictures with their reports, projects, and
// the journal of what is not saved.
package store
