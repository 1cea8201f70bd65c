import { type Config, formatPath, isTable, type Table } from '../config/index.ts'

/** A new configuration without the changes that need a restart, and the names of those settings. */
export interface Effective {
  readonly config: Config
  /** Dotted names of the changed settings: `server.port`. */
  readonly ignored: readonly string[]
}

/**
 * Returns the candidate with the running values of the settings that apply only at the start: the
 * log, the address, the workers, the database, the queue of usage rows, the labels of the token counter,
 * the export of traces, and the shared state.
 */
export function keepRestartOnly(running: Config, candidate: Config): Effective {
  const kept = {
    log_format: running.log_format,
    server: {
      host: running.server.host,
      port: running.server.port,
      workers: running.server.workers,
    },
    auth: {
      enabled: running.auth.enabled,
      db_path: running.auth.db_path,
      journal_dir: running.auth.journal_dir,
      usage_channel_capacity: running.auth.usage_channel_capacity,
      usage_batch_max: running.auth.usage_batch_max,
      usage_flush_ms: running.auth.usage_flush_ms,
    },
    shared: running.shared,
    // An endpoint that is new differs too, although the running table does not have it.
    telemetry: { ...running.telemetry, otlp_endpoint: running.telemetry.otlp_endpoint },
  }
  const config = {
    ...candidate,
    ...kept,
    server: { ...candidate.server, ...kept.server },
    auth: { ...candidate.auth, ...kept.auth },
    // Webhooks need auth, which may be on in the candidate only.
    webhooks: running.auth.enabled ? candidate.webhooks : undefined,
  }
  return { config, ignored: [...diff(kept, candidate)] }
}

/** Yields the dotted names of the values that differ between two tables. */
function* diff(table: Table, counterpart: Table, path: readonly string[] = []): Generator<string> {
  for (const [key, value] of Object.entries(table)) {
    const here = [...path, key]
    const other = counterpart[key]
    if (isTable(value) && isTable(other)) yield* diff(value, other, here)
    else if (JSON.stringify(value) !== JSON.stringify(other)) yield formatPath(here)
  }
}
