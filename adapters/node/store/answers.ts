import { serialize } from 'node:v8'
import { databaseStore } from '../../../src/store/database.ts'
import type { UsageListQuery } from '../../../src/store/index.ts'
import { CallLimit } from './call-limit.ts'
import { faultOf } from './fault.ts'
import type { ReportFields, StoreCall, StoreMessage, ThreadSettings } from './messages.ts'
import { placeOf } from './place.ts'

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
  const place = placeOf({ settings, limit, report })
  const store = databaseStore(place.db)
  const answer: StoreAnswers['answer'] = async ({ method, args, deadline }) => {
    limit.begin(deadline)
    try {
      switch (method) {
        case 'open':
          return plain(await place.open())
        case 'close':
          return plain(await place.close())
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
  return { answer, abandon: () => place.abandon() }
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
