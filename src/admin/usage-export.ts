import { readBill } from '../core/bill.ts'
import type { NanoUsd } from '../core/ids.ts'
import { toUsd } from '../core/money.ts'
import type { Clock } from '../core/ports.ts'
import { jsonBytes, type Reply } from '../core/reply.ts'
import { type Store, type UsageRow, usageFields } from '../store/index.ts'
import { CancelScope } from '../wire/cancel-scope.ts'
import { TimeSlice } from '../wire/time-slice.ts'
import type { AdminRequest } from './input.ts'
import { renderFailure } from './render.ts'
import { parseExportQuery } from './request-filter.ts'

interface ExportDeps {
  readonly store: Pick<Store, 'listUsage'>
  readonly clock: Clock
}

/** Returns one page of the rows of a time window, by increasing id. */
export async function exportUsage(
  { request }: AdminRequest,
  { store, clock }: ExportDeps,
): Promise<Reply> {
  const query = parseExportQuery(new URL(request.url).searchParams, clock.now())
  const rows = await store.listUsage(query)
  // A full page may be the last one; the cursor then leads to an empty page.
  const next = rows.length < query.limit ? null : rows.at(-1)?.id
  const slice = new TimeSlice(clock, new CancelScope(clock))
  const pieces = [
    encoder.encode(`{"since":${query.since},"until":${query.until},"rows":[`),
    ...(await renderRows(rows, slice)),
    encoder.encode(`],"next_cursor":${next}}`),
  ]
  return jsonBytes(await joinPieces(pieces, slice))
}

/** Rows rendered before other work gets its turn: a whole page would stall every running stream. */
const portion = 250

async function renderRows(rows: readonly UsageRow[], slice: TimeSlice): Promise<Uint8Array[]> {
  const pieces: Uint8Array[] = []
  for (let at = 0; at < rows.length; at += portion) {
    const texts = rows.slice(at, at + portion).map((row) => JSON.stringify(renderRow(row)))
    pieces.push(encoder.encode((at > 0 ? ',' : '') + texts.join(',')))
    await slice.pause()
  }
  return pieces
}

const encoder = new TextEncoder()

/** Renders a row of the usage log as JSON. */
export function renderRow(row: UsageRow): object {
  // A copy of a complete object: adding the properties one by one takes longer.
  const json: Record<string, unknown> = { ...blankJson, id: row.id }
  for (const { field, jsonName, toJson } of shownFields) {
    json[jsonName] = toJson ? toJson(row[field]) : row[field]
  }
  return Object.assign(json, renderBill(row.bill), renderFailure(row.failure))
}

/** The amounts and the id that the text of a bill holds. */
function renderBill(text: string | null): object {
  const { price = null, reserved, calculated, repriced } = readBill(text)
  return {
    price_id: price,
    reserved: toOptionalUsd(reserved),
    cost_calculated: toOptionalUsd(calculated),
    cost_repriced: toOptionalUsd(repriced),
  }
}

function toOptionalUsd(amount: NanoUsd | undefined): number | null {
  return amount === undefined ? null : toUsd(amount)
}

/** The texts of a bill and of a failure are shown by their members. */
const shownFields = usageFields.filter(({ field }) => field !== 'bill' && field !== 'failure')

const blankJson = Object.fromEntries(
  [
    'id',
    ...shownFields.map(({ jsonName }) => jsonName),
    ...Object.keys(renderBill(null)),
    ...Object.keys(renderFailure(null)),
  ].map((name) => [name, null]),
)

async function joinPieces(pieces: readonly Uint8Array[], slice: TimeSlice): Promise<Uint8Array> {
  const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0))
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
    await slice.pause()
  }
  return whole
}
