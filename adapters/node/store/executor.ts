import { serialize } from 'node:v8'
import { databaseStore } from '../../../src/store/database.ts'
import type { StoreReport, UsageListQuery } from '../../../src/store/index.ts'
import { copyDatabase } from './backup.ts'
import { CallDeadline } from './call-deadline.ts'
import { createClaimedDatabase } from './claimed-database.ts'
import type { StoreCall, StoreMessage, ThreadSettings } from './messages.ts'
import { toStoreFault } from './store-fault.ts'

/** Runs the calls of the store in the thread of the database. */
export interface StoreExecutor {
  /** Runs one call. Never rejects. */
  execute(call: StoreCall): Promise<StoreMessage>
  /** Stops all retries, from now on. */
  abandon(): void
}

export function createExecutor(settings: ThreadSettings, report: StoreReport): StoreExecutor {
  const callDeadline = new CallDeadline()
  const database = createClaimedDatabase({ settings, deadline: callDeadline, report })
  const store = databaseStore(database.db)
  const execute: StoreExecutor['execute'] = async ({ method, args, audit, deadline }) => {
    callDeadline.begin(deadline)
    try {
      switch (method) {
        case 'open':
          return toValue(await database.open())
        case 'listLeft':
          // The port sends the names of places.
          return toValue(database.listLeft(args as readonly string[]))
        case 'copy':
          // The port sends the arguments of `copyNodeDatabase`.
          return toValue(copyDatabase(settings.path, ...(args as [string])))
        case 'close':
          return toValue(await database.close())
        case 'readAccounts': {
          // The port sends the arguments of its own method of that name.
          const { keys, groups } = await store.readAccounts(...(args as [number | undefined]))
          return { kind: 'accounts', pieces: { keys: packRows(keys), groups: packRows(groups) } }
        }
        case 'listUsage': {
          // The same holds here.
          const rows = await store.listUsage(...(args as [UsageListQuery]))
          return {
            kind: 'usage',
            pieces: splitIntoPieces(rows).map((piece) => `[${piece.join(',')}]`),
          }
        }
        default: {
          // The same holds here.
          const target = audit ? { ...store, ...store.audited(audit) } : store
          const call = target[method] as (...args: readonly unknown[]) => Promise<unknown>
          return toValue(await call(...args))
        }
      }
    } catch (error) {
      const { message, code } = toStoreFault(error)
      return { kind: 'fault', message, code }
    }
  }
  return { execute, abandon: () => database.abandon() }
}

function toValue(value: unknown): StoreMessage {
  return { kind: 'value', value }
}

function packRows(rows: readonly unknown[]): Uint8Array[] {
  return splitIntoPieces(rows).map((piece) => serialize(piece))
}

function splitIntoPieces<Row>(rows: readonly Row[]): Row[][] {
  const pieces: Row[][] = []
  for (let start = 0; start < rows.length; start += rowsPerPiece) {
    pieces.push(rows.slice(start, start + rowsPerPiece))
  }
  return pieces
}

/** Rows that the main thread unpacks at a time, which takes a millisecond or two. */
const rowsPerPiece = 500
