// System calls that fail on purpose, for the program that this is linked into: its calls to the C
// library come here first.
#pragma once

enum fault_call {
    fault_open,
    fault_read,
    fault_write,
    fault_write_durably,
    fault_sync,
    fault_write_out,
    fault_grow,
    fault_truncate,
    fault_map,
    fault_lock,
    fault_status,
    fault_name,
};

/// The extent to which a read or write is done.
enum fault_part { fault_nothing = 0, fault_one_byte = 1, fault_all_but_one = 2, fault_whole = 3 };

/// From now on the calls of this thread are counted. Number `index` fails with `error`, and so do
/// the `times` - 1 behind it (0: all behind it). With a part other than `fault_whole` a read or
/// write succeeds, but does only that much. An index below 0: no call fails.
void fault_arm(long index, int error, long times, int part);

/// Ends that. Returns the number of calls.
long fault_disarm(void);

/// The kind of call number `index`, counted since `fault_arm`; -1 behind the last, or behind the
/// 8,192nd.
int fault_call_at(long index);
