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
export type Section = 'node' | 'compatible' | 'polyglot'

const path = 'docs/conformance.md'

/** Replaces a section of the page. */
export function writeSection(section: Section, text: string): void {
  writeFileSync(path, replaceMarked(readFileSync(path, 'utf8'), section, text))
}

/** Replaces the text between two markers, `<!-- NAME -->` and `<!-- /NAME -->`. */
export function replaceMarked(page: string, name: string, text: string): string {
  const marked = new RegExp(`(<!-- ${name} -->\n)[^]*?(<!-- /${name} -->)`)
  if (!marked.test(page)) throw new Error(`the page has no markers for ${name}`)
  return page.replace(marked, (_, open: string, close: string) => `${open}\n${text}\n\n${close}`)
}
