package farm

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"runtime/debug"

	"blik/internal/message"
)

// Refusal is an error that can be sent: an English message with its arguments, translated where it is shown.
type Refusal struct {
	Format string `json:"format"`
	Args   []any  `json:"args,omitempty"`
	// Full means that the server has no space and that the same request may succeed later.
	Full bool `json:"full,omitempty"`
}

func Refuse(format message.Text, args ...any) *Refusal {
	return &Refusal{Format: string(format), Args: args}
}

// Error returns the message in English.
func (r *Refusal) Error() string { return r.Message().String() }

// Message returns the message for the user.
func (r *Refusal) Message() message.Message { return message.Of(message.Text(r.Format), r.Args...) }

// UnmarshalJSON decodes whole numbers as integers, so that they fit their format verbs.
func (r *Refusal) UnmarshalJSON(data []byte) error {
	var plain struct {
		Format string `json:"format"`
		Args   []any  `json:"args"`
		Full   bool   `json:"full"`
	}
	if err := json.Unmarshal(data, &plain); err != nil {
		return err
	}
	for i, a := range plain.Args {
		if f, ok := a.(float64); ok && f == float64(int64(f)) {
			plain.Args[i] = int64(f)
		}
	}
	*r = Refusal{plain.Format, plain.Args, plain.Full}
	return nil
}

// Survive, when deferred, turns a panic into an error and logs it.
func Survive(log *slog.Logger, what string, then func(error)) {
	if p := recover(); p != nil {
		err := fmt.Errorf("%v", p)
		log.Error("internal error", "in", what, "error", err, "stack", string(debug.Stack()))
		then(err)
	}
}
