// Package farm distributes the pictures of a batch over several machines. The queue is NATS JetStream, embedded in this
// program (Server) or an institution's own.
//
// Persistent data is stored in streams:
//
//	LISTS    what was submitted, in chunks of jobs; the source of everything else
//	JOBS     the jobs that workers may take now, a work queue that the manager keeps filled from LISTS
//	RESULTS  a log of what became of each job: results, crashes, retries
//	BATCHES  a bucket with what was asked for: parameters, program version, model, state
//
// The Manager is the only writer. It answers requests of submitters (Client), workers (Worker) and observers, each with
// its own rights, and keeps an index of all jobs in memory, which it rebuilds from the streams when it starts. A worker
// takes jobs from JOBS and acknowledges them only after the manager has stored their results, so that a job is repeated
// if its worker, server or network fails; the first result counts, and a second one is compared with it.
//
// The package knows neither the command line nor pictures: a Runner does the work on a file.
package farm
