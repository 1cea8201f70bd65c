import type { JournalRow } from './journal-line.ts'

/**
 * Keeps the usage rows that the database does not have yet outside of this process, so that a process
 * that is killed loses none of them.
 */
export interface Journal {
  /** Names the place of this process: no other process of the database has it meanwhile. */
  readonly place: string
  /** Adds a row to a batch, as one line of text. `write` keeps it. Never throws. */
  append(batch: string, line: string): void
  /**
   * Keeps all rows that were appended, without waiting. Throws a `StoreFault` when some cannot be kept;
   * they are not tried again.
   */
  write(): void
  /** Calls `run` once, when the process has done what is due now. */
  afterTurn(run: () => void): void
  /** Forgets a batch: the database has it, or another one replaces it. Never throws. */
  forget(batch: string): void
  /**
   * Resolves to what ended processes have left. `places`: those that it examines even if nothing was left
   * there. One call at a time; the first comes before anything is appended.
   */
  recover(places: Iterable<string>): Promise<LeftUsage>
  /** Releases the journal. Batches that were not forgotten remain for the next process. */
  close(): void
}

/** The usage that ended processes have left. */
export interface LeftUsage {
  /** In their order. */
  readonly batches: readonly LeftBatch[]
  /** The number of rows that were not kept to their end: their clients have not seen the answer. */
  readonly torn: number
  /**
   * The examined places that no other process had. Everything that earlier processes of these places have
   * left is among the batches, or already saved.
   */
  readonly free: ReadonlySet<string>
}

/** A batch that an ended process has left. The database may have it already. */
export interface LeftBatch {
  readonly id: string
  readonly rows: readonly JournalRow[]
}
