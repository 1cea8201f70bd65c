import type { Log, Overview } from '../../../src/index.ts'
import { createStyle } from '../output/style.ts'
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
  } else {
    log.write('info', 'listening', { ...place, ...toLogFields(overview) })
  }
}
