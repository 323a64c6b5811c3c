// Package farm distributes the pictures of a batch over several machines. The queue is NATS JetStream, embedded in this
// program (Server) or an institution's own.
//
// Persistent data is stored in streams:
//
//	LISTS    what was submitted, in chunks of jobs; the source of everything else
//	RESULTS  a log of what became of each job: results, crashes, retries
//	BATCHES  a bucket with what was asked for: parameters, program version, model, state
//	SECRETS  a bucket with the secret that signs tickets
//	FILES    an object store of originals and results, for machines without a common folder
//
// Only the Manager reads and writes them. It answers requests of submitters (Client), workers (Worker) and observers,
// each with its own rights, and keeps an index of all jobs in memory, which it rebuilds from the streams when it
// starts. A worker takes a job on lease and renews it; a job whose lease ends without a result is handed out again.
// Each request about a job carries the ticket that its worker got: a signed copy of the job. The first result counts,
// and a second one is compared with it. The submitter checks the results of uploaded files against its originals
// (Checker).
//
// The package knows neither the command line nor pictures: a Runner does the work on a file.
package farm
