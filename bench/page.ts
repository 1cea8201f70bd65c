import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from './processes.ts'

/** Replaces the text between the two marks of a page. `path`: from the root of the repository. */
export function replaceFigures(path: string, text: string): void {
  const file = join(repository, path)
  const [before, rest = ''] = readFileSync(file, 'utf8').split('<!-- figures -->\n')
  const [, after] = rest.split('<!-- /figures -->\n')
  if (after === undefined) throw new Error(`${path} lacks its marks`)
  writeFileSync(file, `${before}<!-- figures -->\n${text}<!-- /figures -->\n${after}`)
}

/** Returns a table in Markdown. */
export function markdownTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}
