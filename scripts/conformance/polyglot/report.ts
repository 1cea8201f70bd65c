import { kinds } from '../kinds.ts'
import {
  listRowKeys,
  mergeTables,
  type Row,
  readSection,
  type Score,
  toTable,
  writeSection,
} from '../page.ts'
import type { Outcome } from './outcome.ts'

/** The table of clients and kinds in Markdown. */
export function renderOutcomes(outcomes: readonly Outcome[]): string {
  const clients = new Set(outcomes.map(toName))
  const rows = [...clients].map((name) => toRow(outcomes.filter((each) => toName(each) === name)))
  return toTable(rows, kinds)
}

function toName({ client, version, api }: Outcome): string {
  return `${client} ${version} ${api}`
}

function toRow(outcomes: readonly Outcome[]): Row {
  const [first] = outcomes
  const scores = new Map<string, Score>()
  for (const { kind, ok } of outcomes) {
    const { passed, all } = scores.get(kind) ?? { passed: 0, all: 0 }
    scores.set(kind, { passed: passed + (ok ? 1 : 0), all: all + 1 })
  }
  return {
    client: `${first?.client} ${first?.version}`,
    api: titles[first?.api ?? 'chat'],
    scores,
  }
}

const titles: Readonly<Record<Outcome['api'], string>> = {
  chat: 'Chat',
  messages: 'Messages',
  responses: 'Responses',
  gemini: 'Gemini',
}

export interface Report {
  /** Of clients that ran in front of every kind. */
  readonly outcomes: readonly Outcome[]
  /** The programs that could not be built. */
  readonly skipped: readonly string[]
  /** YYYY-MM-DD. */
  readonly date: string
}

/** Writes the rows of these clients to the section of `docs/conformance.md`. Those of other clients stay. */
export function writeReport({ outcomes, skipped, date }: Report): void {
  const notRun = skipped.map((clients) => `Not run: ${clients}.\n\n`).join('')
  const [earlier, later] = [readSection('polyglot'), renderOutcomes(outcomes)]
  const keys = new Set([earlier, later].flatMap(listRowKeys))
  const text = `## Python, Go and Java

Last run on ${date} with \`npm run conformance:polyglot\`.

${notRun}${mergeTables(earlier, later, [...keys])}`
  writeSection('polyglot', text)
}
