"""Worker processes that take jobs from one database: workers.py DATABASE

Each worker opens the database itself: what the parent opened is not for its children. Any start
method will do.

Prints:
20 jobs are done by 2 workers, none twice
"""

from __future__ import annotations

import multiprocessing
import sys

import toft


class Job(toft.Object):
    number: int = toft.field(primary_key=True)
    result: int | None
    runs: int = 0
    worker: int | None


def work(path: str, worker: int) -> None:
    """Takes jobs until there are no more."""
    with toft.open(path, Job, mode="existing") as realm:
        waiting = realm.objects(Job).where("worker == null")
        while True:
            with realm.write(durability="deferred"):
                job = waiting.first()
                if job is None:
                    return
                job.worker = worker  # the others see it at the end of the block
            with realm.write(durability="deferred"):
                job.result = job.number**2
                job.runs += 1


def main(path: str) -> None:
    with toft.open(path, Job) as realm:
        with realm.write():
            realm.insert_many(Job, [{"number": number} for number in range(20)])
        processes = multiprocessing.get_context("spawn")
        workers = [processes.Process(target=work, args=(path, number)) for number in range(2)]
        for each in workers:
            each.start()
        for each in workers:
            each.join()
        jobs = realm.objects(Job)
        right = all(job.result == job.number**2 and job.runs == 1 for job in jobs)
        print(
            f"{len(jobs.where('result != null'))} jobs are done by {len(workers)} workers, "
            f"{'none twice' if right else 'wrongly'}"
        )


if __name__ == "__main__":
    main(sys.argv[1])
