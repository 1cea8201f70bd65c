import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { serialize } from 'node:v8'
import type { Client } from '@libsql/client'
import { drizzle } from 'drizzle-orm/libsql/sqlite3'
import { databaseStore } from '../../../src/store/database.ts'
import type { UsageListQuery } from '../../../src/store/index.ts'
import { faultMessage } from './fault.ts'
import { LocalDatabase } from './local.ts'
import type { ReportFields, StoreCall, StoreMessage, ThreadSettings } from './messages.ts'
import { RemoteDatabase } from './remote.ts'

type Answer = (call: StoreCall) => Promise<StoreMessage>

/** What the thread of the store does with a call. It never rejects. */
export function answers(
  settings: ThreadSettings,
  report: (message: string, fields: ReportFields) => void,
): Answer {
  const database = databaseOf(settings, report)
  // Drizzle calls `execute` and `batch` of its client, and nothing else.
  const store = databaseStore(drizzle({ client: database as unknown as Client }))
  return async ({ method, args }) => {
    try {
      switch (method) {
        case 'open':
          return plain(await database.open())
        case 'close':
          return plain(await database.close())
        case 'accounts': {
          const { keys, groups } = await store.accounts()
          return { kind: 'accounts', pieces: { keys: packed(keys), groups: packed(groups) } }
        }
        case 'listUsage': {
          // The port sends what its own method of that name was given.
          const rows = await store.listUsage(...(args as [UsageListQuery]))
          return { kind: 'usage', pieces: piecesOf(rows).map((piece) => `[${piece.join(',')}]`) }
        }
        default: {
          // Likewise.
          const call = store[method] as (...args: readonly unknown[]) => Promise<unknown>
          return plain(await call(...args))
        }
      }
    } catch (error) {
      return { kind: 'fault', message: faultMessage(error) }
    }
  }
}

function databaseOf(
  { path, token, patience }: ThreadSettings,
  report: (message: string, fields: ReportFields) => void,
) {
  if (/^(libsql|https?):/i.test(path)) return new RemoteDatabase({ url: path, token })
  const file = /^file:/i.test(path) ? fileOf(path) : path
  return new LocalDatabase({ path: resolve(file), patience, report })
}

/** The libSQL way of writing it allows `file:name` without slashes, which is no valid address. */
function fileOf(url: string): string {
  return /^file:\/\//i.test(url) ? fileURLToPath(url) : decodeURIComponent(url.slice(5))
}

function plain(value: unknown): StoreMessage {
  return { kind: 'value', value }
}

function packed(rows: readonly unknown[]): Uint8Array[] {
  return piecesOf(rows).map((piece) => serialize(piece))
}

function piecesOf<Row>(rows: readonly Row[]): Row[][] {
  const pieces: Row[][] = []
  for (let start = 0; start < rows.length; start += rowsPerPiece) {
    pieces.push(rows.slice(start, start + rowsPerPiece))
  }
  return pieces
}

/** Rows that the main thread unpacks in one go, a millisecond or two. */
const rowsPerPiece = 500
