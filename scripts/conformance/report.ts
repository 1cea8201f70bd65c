import { readFileSync, writeFileSync } from 'node:fs'
import type { Client } from './client.ts'
import type { Kind } from './kinds.ts'
import { type Row, replaceMarked, toTable, writeSection } from './page.ts'
import type { Outcome } from './sdks/checks.ts'

/** One cell of the table. */
export interface Result {
  readonly client: Client
  readonly kind: Kind
  readonly outcomes: readonly Outcome[]
}

/** The table of clients and kinds in Markdown. */
export function renderResults(results: readonly Result[]): string {
  const clients = [...new Set(results.map(({ client }) => client))]
  return toTable(clients.map((client) => toRow(client, results)))
}

function toRow(client: Client, results: readonly Result[]): Row {
  const { title, package: name, api } = client
  const ofClient = results.filter((each) => each.client === client)
  const scores = ofClient.map(({ kind, outcomes }) => {
    const passed = outcomes.filter(({ problem }) => problem === undefined).length
    return [kind.name, { passed, all: outcomes.length }] as const
  })
  return { client: `${title} ${readVersion(name)}`, api, scores: new Map(scores) }
}

/** One line for each failed check. */
export function toProblems(results: readonly Result[]): string[] {
  return results.flatMap(({ client, kind, outcomes }) =>
    outcomes.flatMap(({ check, problem }) =>
      problem === undefined ? [] : [`${client.name}, ${kind.name}, ${check}: ${problem}`],
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

/** Writes the table to `docs/conformance.md`, and between the markers of `docs/clients.md`. */
export function writeReport(results: readonly Result[], date: string): void {
  const table = renderResults(results)
  writeSection(
    'node',
    `## Agents and JavaScript clients\n\nRun on ${date} with \`npm run conformance\`.\n\n${table}`,
  )
  const page = readFileSync(clientsPage, 'utf8')
  writeFileSync(clientsPage, replaceMarked(page, 'conformance', table))
}
