import { readFileSync, writeFileSync } from 'node:fs'
import type { Kind } from './kinds.ts'

/** A row of the table: a client, and a cell for each kind. */
export interface Row {
  readonly client: string
  readonly api: string
  /** How many checks passed, by the name of the kind. */
  readonly scores: ReadonlyMap<string, Score>
}

export interface Score {
  readonly passed: number
  readonly all: number
  /** Requests whose own body the upstream does not accept: the gateway passes both on as they are. */
  readonly refused?: number
  /** Why the first check failed. */
  readonly reason?: string | undefined
}

/** The table of clients and kinds in Markdown. */
export function toTable(rows: readonly Row[], kinds: readonly Kind[]): string {
  const titles = ['Client', 'API', ...kinds.map(({ title }) => title)]
  const cells = rows.map(({ client, api, scores }) => [
    client,
    api,
    ...kinds.map(({ name }) => toCell(scores.get(name))),
  ])
  return [titles, titles.map(() => '---'), ...cells]
    .map((each) => `| ${each.join(' | ')} |`)
    .join('\n')
}

/**
 * Puts the rows of a table in the places of those with the same client and API in an earlier one, in the order of
 * `clients`. Throws when the columns are others.
 */
export function mergeTables(earlier: string, later: string, clients: readonly string[]): string {
  const [before, after] = [readRows(earlier), readRows(later)]
  const [head = '', rule = ''] = after
  if (before.length > 0 && before[0] !== head)
    throw new Error('the columns have changed: run all clients')
  const rows = new Map([...before, ...after].slice(2).map((line) => [toKey(line), line]))
  const known = clients.flatMap((client) => rows.get(client) ?? [])
  return [head, rule, ...known].join('\n')
}

/** Lists the keys of the rows of a table, in their order. */
export function listRowKeys(table: string): readonly string[] {
  return readRows(table).slice(2).map(toKey)
}

function readRows(table: string): string[] {
  return table.split('\n').filter((line) => line.startsWith('|'))
}

/** The client, without its version, and its API. */
function toKey(row: string): string {
  const [, client = '', api = ''] = row.split('|').map((cell) => cell.trim())
  return toRowKey(client.replace(/ [\d.]+$/, ''), api)
}

/** What tells the rows of a table apart. */
export function toRowKey(title: string, api: string): string {
  return `${title} | ${api}`
}

function toCell(score: Score | undefined): string {
  if (!score) return ''
  const { passed, all, refused = 0, reason } = score
  if (passed + refused < all) return `✗ ${passed} of ${all}${reason ? `: ${toReason(reason)}` : ''}`
  return refused > 0 ? `✓ ${passed}, ${refused} refused` : `✓ ${passed}`
}

/** A cell is one line. */
function toReason(problem: string): string {
  const line = problem.replace(/\s+/g, ' ').replaceAll('|', '\\|')
  return line.length > 160 ? `${line.slice(0, 160)}…` : line
}

/** Each command of the conformance runs writes its own section of the page. */
export type Section = 'node' | 'compatible' | 'decisions' | 'polyglot'

const path = 'docs/conformance.md'

/** Replaces a section of the page. */
export function writeSection(section: Section, text: string): void {
  writeFileSync(path, replaceMarked(readFileSync(path, 'utf8'), section, text))
}

/** Returns a section of the page. */
export function readSection(section: Section): string {
  const [, text = ''] = readFileSync(path, 'utf8').split(new RegExp(`<!-- /?${section} -->`))
  return text
}

/** Replaces the text between two markers, `<!-- NAME -->` and `<!-- /NAME -->`. */
export function replaceMarked(page: string, name: string, text: string): string {
  const marked = new RegExp(`(<!-- ${name} -->\n)[^]*?(<!-- /${name} -->)`)
  if (!marked.test(page)) throw new Error(`the page has no markers for ${name}`)
  return page.replace(marked, (_, open: string, close: string) => `${open}\n${text}\n\n${close}`)
}
