internal import CPlatform

/// Writes what the program has printed and the C library still keeps; not while another thread is
/// printing, which may wait for ever.
package func flushStandardOutput() { platform_flush_output() }
