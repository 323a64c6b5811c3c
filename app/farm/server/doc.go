// Package server is the queue of a farm: NATS JetStream, embedded in this program (Server) or an institution's own, and
// its Manager.
//
// Persistent data is stored in streams:
//
//	LISTS    what was submitted, in chunks of jobs; the source of everything else
//	RESULTS  a log of what became of each job: results, crashes, retries
//	BATCHES  a bucket with what was asked for: parameters, program version, model, state
//	SECRETS  a bucket with the secret that signs tickets
//	FILES    an object store of originals and results, for machines without a common folder
//
// Only the Manager reads and writes them. It answers the requests of package farm, and keeps an index of all jobs in
// memory, which it rebuilds from the streams when it starts.
package server
