package batch

import "context"

// Each does some work on files one after the other, in this process. do works on the file of a number; done is called
// with its error, and continues with the next file unless it returns one itself. Each ends when ctx does.
func Each(ctx context.Context, files []string, do func(ctx context.Context, i int) error,
	done func(i int, err error) error,
) error {
	for i := range files {
		err := do(ctx, i)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := done(i, err); err != nil {
			return err
		}
	}
	return nil
}
