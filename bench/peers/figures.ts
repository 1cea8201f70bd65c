import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Machine } from '../machine.ts'

/** The scenarios that the peers run. */
export const peerScenarios = ['json32', 'stream', 'prompt200k'] as const

/** The figures of one subject. */
export interface PeerRow {
  /** The exact version; the commit of the gateway. */
  readonly version: string
  /** By the name of the scenario. */
  readonly scenarios: Readonly<Record<string, PeerLoad>>
  /** Resident memory of all its processes after the last scenario. */
  readonly megabytes: number
}

interface PeerLoad {
  /** Requests a second. */
  readonly rate: number
  /** Processor time of a request in all processes of the subject, in milliseconds. */
  readonly cpu: number
  /** Answers that were not 200 or not complete. */
  readonly errors: number
}

/** The figures of one run. */
export interface PeerFigures {
  readonly machine: Machine
  readonly rows: Readonly<Record<string, PeerRow>>
  /** The reason by the name of each peer that could not run. */
  readonly missing: Readonly<Record<string, string>>
}

const file = fileURLToPath(new URL('figures.json', import.meta.url))

/** Returns the figures of the last run of `npm run bench:peers`. */
export function readPeers(): PeerFigures {
  // Written by the function below.
  return JSON.parse(readFileSync(file, 'utf8')) as PeerFigures
}

export function writePeers(figures: PeerFigures): void {
  writeFileSync(file, `${JSON.stringify(figures, undefined, 2)}\n`)
}
