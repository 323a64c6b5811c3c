package farm

import (
	"encoding/json"
	"errors"
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

// Refuse returns a refusal for good.
func Refuse(format message.Text, args ...any) *Refusal {
	return &Refusal{Format: string(format), Args: args}
}

// RefuseForNow returns the refusal of a request that may succeed later.
func RefuseForNow(format message.Text, args ...any) *Refusal {
	return &Refusal{Format: string(format), Args: args, Full: true}
}

// refused reports whether an error is a refusal for good.
func refused(err error) bool {
	no, ok := errors.AsType[*Refusal](err)
	return ok && !no.Full
}

func (r *Refusal) Error() string            { return r.Message().String() }
func (r *Refusal) Message() message.Message { return message.Of(message.Text(r.Format), r.Args...) }

// UnmarshalJSON decodes whole numbers as integers, so that they fit their format verbs.
func (r *Refusal) UnmarshalJSON(data []byte) error {
	type plain Refusal // without this method
	if err := json.Unmarshal(data, (*plain)(r)); err != nil {
		return err
	}
	for i, a := range r.Args {
		if f, ok := a.(float64); ok && f == float64(int64(f)) {
			r.Args[i] = int64(f)
		}
	}
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
