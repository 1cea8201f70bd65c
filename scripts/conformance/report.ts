import { readFileSync, writeFileSync } from 'node:fs'
import type { Client } from './client.ts'
import { compatibleKinds, type Kind, kinds } from './kinds.ts'
import {
  mergeTables,
  type Row,
  readSection,
  replaceMarked,
  type Score,
  type Section,
  toRowKey,
  toTable,
  writeSection,
} from './page.ts'
import type { Outcome } from './sdks/checks.ts'

/** One cell of the table. */
export interface Result {
  readonly client: Client
  readonly kind: Kind
  readonly outcomes: readonly Outcome[]
}

/** Kinds that have a table of their own. */
interface Group {
  readonly kinds: readonly Kind[]
  /** Its section of `docs/conformance.md`, and that of `docs/clients.md`. */
  readonly sections: readonly [Section, string]
  readonly heading: string
}

const groups: readonly Group[] = [
  {
    kinds,
    sections: ['node', 'conformance'],
    heading: '## Agents and JavaScript clients',
  },
  {
    kinds: compatibleKinds,
    sections: ['compatible', 'conformance-compatible'],
    heading: '## Agents and JavaScript clients, upstreams of the OpenAI format',
  },
]

/** The tables of clients and kinds in Markdown. */
export function renderResults(results: readonly Result[]): string {
  const shown = groups.filter((group) =>
    group.kinds.some((kind) => results.some((result) => result.kind === kind)),
  )
  return shown.map((group) => renderGroup(group, results)).join('\n\n')
}

function renderGroup(group: Group, results: readonly Result[]): string {
  const clients = [...new Set(results.map(({ client }) => client))]
  return toTable(
    clients.map((client) => toRow(client, results)),
    group.kinds,
  )
}

function toRow(client: Client, results: readonly Result[]): Row {
  const { title, package: name, api } = client
  const ofClient = results.filter((each) => each.client === client)
  const scores = ofClient.map(({ kind, outcomes }) => [kind.name, toScore(outcomes)] as const)
  return { client: `${title} ${readVersion(name)}`, api, scores: new Map(scores) }
}

function toScore(outcomes: readonly Outcome[]): Score {
  const failed = outcomes.filter(({ problem }) => problem !== undefined)
  const refused = outcomes.filter((each) => each.refused !== undefined).length
  // What the upstream says explains more than what the client makes of it.
  const first = failed.find(({ check }) => check === 'upstream') ?? failed[0]
  return {
    passed: outcomes.length - failed.length - refused,
    all: outcomes.length,
    refused,
    reason: first?.problem,
  }
}

/** One line for each failed check. */
export function toProblems(results: readonly Result[]): string[] {
  return results.flatMap(({ client, kind, outcomes }) =>
    outcomes.flatMap(({ check, problem }) =>
      problem === undefined ? [] : [`${client.name}, ${kind.name}, ${check}: ${problem}`],
    ),
  )
}

/** One line for each check that the upstream has refused. */
export function toRefusals(results: readonly Result[]): string[] {
  return results.flatMap(({ client, kind, outcomes }) =>
    outcomes.flatMap(({ check, refused }) =>
      refused === undefined ? [] : [`${client.name}, ${kind.name}, ${check}: ${refused}`],
    ),
  )
}

/** Returns the pinned version of a package. */
function readVersion(name: string): string {
  const path = new URL('package.json', import.meta.url)
  const { dependencies } = JSON.parse(readFileSync(path, 'utf8'))
  return dependencies[name]
}

const clientsPage = 'docs/clients.md'

/** Which run a report is of. */
export interface ReportOptions {
  /** All clients, in the order of the rows. */
  readonly clients: readonly Client[]
  readonly date: string
}

/**
 * Writes the rows of clients that ran with all kinds of a group to `docs/conformance.md` and `docs/clients.md`. The
 * rows of other clients stay.
 */
export function writeReport(results: readonly Result[], { clients, date }: ReportOptions): void {
  const keys = clients.map(({ title, api }) => toRowKey(title, api))
  for (const group of groups) {
    const isWhole = group.kinds.every((kind) => results.some((result) => result.kind === kind))
    if (!isWhole) continue
    const [section, mark] = group.sections
    const table = mergeTables(readSection(section), renderGroup(group, results), keys)
    writeSection(
      section,
      `${group.heading}\n\nLast run on ${date} with \`npm run conformance\`.\n\n${table}`,
    )
    const page = readFileSync(clientsPage, 'utf8')
    writeFileSync(clientsPage, replaceMarked(page, mark, table))
  }
}
