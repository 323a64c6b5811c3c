//go:build cuda && (linux || windows) && amd64

package cuda

import (
	"context"

	"blik/processing"
)

// executor is Backend for operations whose arguments were checked.
type executor struct{ *Backend }

var _ processing.Executor = executor{}

func (b *Backend) Do(ctx context.Context, op processing.Op) error {
	return processing.Execute(ctx, b, executor{b}, op)
}
