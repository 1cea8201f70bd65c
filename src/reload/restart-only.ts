import { type Config, formatPath, isTable, type Table } from '../config/index.ts'

/** What of a new configuration can serve, and the settings whose change must wait for a restart. */
export interface Effective {
  readonly config: Config
  /** Dotted names: `server.port`. */
  readonly ignored: readonly string[]
}

/**
 * The candidate with the running values of everything that is taken hold of once, at the start: the
 * log, the port, the database, the queue of usage rows, the labels of the token counter.
 */
export function keepRestartOnly(running: Config, candidate: Config): Effective {
  const kept = {
    log_format: running.log_format,
    server: { host: running.server.host, port: running.server.port },
    auth: {
      enabled: running.auth.enabled,
      db_path: running.auth.db_path,
      usage_channel_capacity: running.auth.usage_channel_capacity,
      usage_batch_max: running.auth.usage_batch_max,
      usage_flush_ms: running.auth.usage_flush_ms,
    },
    telemetry: running.telemetry,
  }
  const config = {
    ...candidate,
    ...kept,
    server: { ...candidate.server, ...kept.server },
    auth: { ...candidate.auth, ...kept.auth },
    // They need auth, and it may be only the candidate that has it.
    webhooks: running.auth.enabled ? candidate.webhooks : undefined,
  }
  return { config, ignored: [...differences(kept, candidate)] }
}

/** The dotted names of the values in which a table differs from its counterpart. */
function* differences(
  table: Table,
  counterpart: Table,
  path: readonly string[] = [],
): Generator<string> {
  for (const [key, value] of Object.entries(table)) {
    const here = [...path, key]
    const other = counterpart[key]
    if (isTable(value) && isTable(other)) yield* differences(value, other, here)
    else if (JSON.stringify(value) !== JSON.stringify(other)) yield formatPath(here)
  }
}
