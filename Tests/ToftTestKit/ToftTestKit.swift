// The shared parts of the tests. They know no particular test: the disks that record, fail and lie;
// the enumeration of a crash's possible results; workloads with their expected content; temporary
// databases that are checked when a test is done with them; numbers from a seed.
