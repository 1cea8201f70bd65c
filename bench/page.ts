import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from './processes.ts'

/** Replaces the text between the two marks `figures` of a page. `path`: from the root of the repository. */
export function replaceFigures(path: string, text: string): void {
  replaceMarked(path, { mark: 'figures', text })
}

/** A text that a command writes into a page, between `<!-- MARK -->` and `<!-- /MARK -->`. */
interface Marked {
  readonly mark: string
  readonly text: string
}

/** Replaces the text between two marks of a page. `path`: from the root of the repository. */
export function replaceMarked(path: string, { mark, text }: Marked): void {
  const [opening, closing] = [`<!-- ${mark} -->\n`, `<!-- /${mark} -->\n`]
  const file = join(repository, path)
  const [before, rest = ''] = readFileSync(file, 'utf8').split(opening)
  const [, after] = rest.split(closing)
  if (after === undefined) throw new Error(`${path} lacks its marks`)
  writeFileSync(file, `${before}${opening}${text}${closing}${after}`)
}

/** Returns a table in Markdown. */
export function markdownTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}
