import { readFileSync, writeFileSync } from 'node:fs'
import { type Client, takesKind } from './client.ts'
import { compatibleKinds, decisionKinds, type Kind, kinds } from './kinds.ts'
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
  {
    kinds: decisionKinds,
    sections: ['decisions', 'conformance-decisions'],
    heading: '## Decisions',
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
  return toTable(
    listClients(group, results).map((client) => toRow(client, results)),
    group.kinds,
  )
}

/** The clients that ran with a kind of the group. */
function listClients({ kinds: ofGroup }: Group, results: readonly Result[]): readonly Client[] {
  const shown = results.filter(({ kind }) => ofGroup.includes(kind))
  return [...new Set(shown.map(({ client }) => client))]
}

/** True when these clients ran with every kind of the group that has what they ask for. */
function isWhole(group: Group, results: readonly Result[]): boolean {
  const ran = listClients(group, results)
  return (
    ran.length > 0 &&
    ran.every((client) =>
      group.kinds
        .filter((kind) => takesKind(client, kind))
        .every((kind) => results.some((each) => each.client === client && each.kind === kind)),
    )
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
    if (!isWhole(group, results)) continue
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
