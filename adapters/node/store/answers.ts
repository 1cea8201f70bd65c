import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { serialize } from 'node:v8'
import type { Client } from '@libsql/client'
import { drizzle } from 'drizzle-orm/libsql/sqlite3'
import { databaseStore } from '../../../src/store/database.ts'
import type { UsageListQuery } from '../../../src/store/index.ts'
import { CallLimit } from './call-limit.ts'
import { faultOf } from './fault.ts'
import { LocalDatabase } from './local.ts'
import {
  isRemote,
  type ReportFields,
  type StoreCall,
  type StoreMessage,
  type ThreadSettings,
} from './messages.ts'
import { RemoteDatabase } from './remote.ts'

/** The store as its thread runs it. */
export interface StoreAnswers {
  /** Carries out a call. Never rejects. */
  answer(call: StoreCall): Promise<StoreMessage>
  /** From now on no call goes on trying. */
  abandon(): void
}

export function answers(
  settings: ThreadSettings,
  report: (message: string, fields: ReportFields) => void,
): StoreAnswers {
  const limit = new CallLimit()
  const database = databaseOf(settings, limit, report)
  // Drizzle calls `execute` and `batch` of its client, and nothing else.
  const store = databaseStore(drizzle({ client: database as unknown as Client }))
  const answer: StoreAnswers['answer'] = async ({ method, args, deadline }) => {
    limit.begin(deadline)
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
      const { message, code } = faultOf(error)
      return { kind: 'fault', message, code }
    }
  }
  return { answer, abandon: () => limit.abandon() }
}

function databaseOf(
  { path, token }: ThreadSettings,
  limit: CallLimit,
  report: (message: string, fields: ReportFields) => void,
) {
  if (isRemote(path)) return new RemoteDatabase({ url: path, token, limit })
  const file = /^file:/i.test(path) ? fileOf(path) : path
  return new LocalDatabase({ path: resolve(file), limit, report })
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
