import type { Log } from '../core/ports.ts'

/** Writes nothing, for a host that brings no log. */
export const silentLog: Log = { enabled: () => false, write() {} }
