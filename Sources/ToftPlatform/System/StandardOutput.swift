internal import CPlatform

/// Writes the program's output that the C library still buffers; not while another thread is
/// printing, which may wait for ever.
package func flushStandardOutput() { platform_flush_output() }
