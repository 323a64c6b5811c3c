// Package farm distributes the pictures of a batch over several machines. It holds the protocol, submitters (Client)
// and workers; package server holds the queue.
//
// Submitters, workers and observers make requests to the manager of the queue, each with its own rights. A worker takes
// a job on lease and renews it; a job whose lease ends without a result is handed out again. Each request about a job
// carries the ticket that its worker got: a signed copy of the job. The first result counts, and a second one is
// compared with it. The submitter checks the results of uploaded files against its originals (Checker).
//
// The package knows neither the command line nor pictures: a Runner does the work on a file.
package farm
