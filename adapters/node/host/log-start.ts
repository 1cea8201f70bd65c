import type { Millis } from '../../../src/core/ids.ts'
import type { Log, Overview } from '../../../src/index.ts'
import { createStyle } from '../output/style.ts'
import { tableDate } from '../prices/table-date.ts'
import { systemClock } from '../process/system.ts'
import { type ListenInfo, renderStartLines, toLogFields } from './overview-text.ts'

export interface StartedGateway {
  readonly overview: Overview
  readonly log: Log
  readonly env: Readonly<Record<string, string | undefined>>
}

/** Reports the address and the providers: as text on a terminal, else as one log line. */
export function logStart({ overview, log, env }: StartedGateway, place: ListenInfo): void {
  if (process.stdout.isTTY === true && overview.logFormat === 'pretty') {
    const lines = renderStartLines(overview, { ...place, style: createStyle(env) })
    process.stdout.write(`${lines.join('\n')}\n`)
    const { price_table: date } = describeOldTable(overview)
    if (date) process.stdout.write(`  the price table is of ${date}: see gateway prices --from\n`)
  } else {
    const fields = { ...toLogFields(overview), ...describeOldTable(overview) }
    log.write('info', 'listening', { ...place, ...fields })
  }
}

/** Logs the last line of a stop, after everything is closed. */
export function logStopped(log: Log, { isSaved }: { readonly isSaved: boolean }): void {
  log.write('info', 'stopped', isSaved ? undefined : { saved: false })
}

const maxTableAge: Millis = 90 * 86_400_000

/** Prices change, and budgets rely on those that the commands have written into the file. */
function describeOldTable({ auth }: Overview): { readonly price_table?: string } {
  const isOld = systemClock.now() - Date.parse(tableDate) > maxTableAge
  return auth.enabled && isOld ? { price_table: tableDate } : {}
}
