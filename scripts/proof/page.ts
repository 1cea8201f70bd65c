import { readFileSync, writeFileSync } from 'node:fs'
import { cpus, release } from 'node:os'
import { version } from '../../src/core/version.ts'
import { replaceMarked } from '../conformance/page.ts'
import type { Figure, Part } from './part.ts'

const path = 'docs/proof.md'

/** A run of a part. */
export interface Run {
  readonly figures: readonly Figure[]
  readonly seed: number
  readonly rounds: number
}

/** Replaces the section of a part in the page. */
export function writeSection(part: Part, run: Run): void {
  writeFileSync(path, replaceMarked(readFileSync(path, 'utf8'), part.name, toSection(part, run)))
}

function toSection({ name, title, text }: Part, { figures, seed, rounds }: Run): string {
  const date = new Date().toISOString().slice(0, 10)
  const machine = `${cpus().length} x ${cpus()[0]?.model}, Linux ${release()}, Node ${process.version}`
  const command = `TEST_SEED=${seed} npm run proof -- ${name} --rounds ${rounds}`
  return [
    `## ${title}`,
    text,
    toTable(figures),
    `Run on ${date} with version ${version} on ${machine}:`,
    `\`\`\`sh\n${command}\n\`\`\``,
  ].join('\n\n')
}

function toTable(figures: readonly Figure[]): string {
  const rows = figures.map(({ title, value, holds }) => {
    const shown = typeof value === 'number' ? value.toLocaleString('en-US') : value
    return [title, shown, holds === undefined ? '' : holds ? '✓' : '✗']
  })
  return [['Figure', 'Value', 'Holds'], ['---', '---:', '---'], ...rows]
    .map((row) => `| ${row.join(' | ')} |`)
    .join('\n')
}
