package processing

import "blik/internal/message"

// Progress reports how far a job is: a stage's name and the share done of the whole, 0…1. It may be called from any
// goroutine and must return at once.
type Progress func(stage message.Message, done float64)
