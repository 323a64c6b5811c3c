package server

import (
	"context"
	"log/slog"

	"blik/app/farm"
)

// Embed starts a queue within this process, which opens no port, and returns it with the function that ends it. All
// workers must be in this process too.
func Embed(ctx context.Context, store string, log *slog.Logger) (farm.Inside, func(), error) {
	s, err := Start(ctx, Options{Store: store, Log: log})
	if err != nil {
		return nil, nil, err
	}
	m, err := StartManager(ctx, ManagerOptions{Embedded: s, OwnWorkers: true, Log: log})
	if err != nil {
		s.Close()
		return nil, nil, err
	}
	return s, func() { m.Close(); s.Close() }, nil
}
