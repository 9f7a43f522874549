// What the tests share. Nothing here knows a test: the disks that record, fail and lie; the
// enumeration of what a crash may leave; workloads with the content they must have; temporary
// databases that are checked when a test is done with them; numbers from a seed.
