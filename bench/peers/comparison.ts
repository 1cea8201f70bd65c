import { markdownTable } from '../page.ts'
import type { PeerFigures, PeerRow } from './figures.ts'

/** The columns by the names of the subjects. */
const columns: Readonly<Record<string, (row: PeerRow) => string>> = {
  gateway: () => 'Model Gateway',
  portkey: ({ version }) => `Portkey ${version}`,
  litellm: ({ version }) => `LiteLLM ${version}`,
  baseline: () => 'bare Node proxy',
}

const lines: Readonly<Record<string, (row: PeerRow) => string>> = {
  'small requests a second': (row) => formatRate(row, 'json32'),
  'streams of 100 frames a second': (row) => formatRate(row, 'stream'),
  'prompts of 200 kB a second': (row) => formatRate(row, 'prompt200k'),
  'processor time of a small request': (row) => `${findLoad(row, 'json32').cpu.toFixed(2)} ms`,
  'memory after load': ({ megabytes }) => `${megabytes.toFixed(0)} MB`,
}

/** Renders the table of the README: a column for each gateway, in Markdown. */
export function renderComparison({ rows }: PeerFigures): string {
  const subjects = Object.entries(columns).flatMap(([name, renderTitle]) => {
    const row = rows[name]
    return row ? [{ title: renderTitle(row), row }] : []
  })
  const table = markdownTable(
    ['', ...subjects.map(({ title }) => title)],
    Object.entries(lines).map(([title, render]) => [
      title,
      ...subjects.map(({ row }) => render(row)),
    ]),
  )
  return `\n${table}\n\n`
}

function formatRate(row: PeerRow, scenario: string): string {
  const { rate, errors } = findLoad(row, scenario)
  return errors > 0 ? 'failed' : Math.round(rate).toLocaleString('en-US')
}

function findLoad({ scenarios }: PeerRow, name: string): PeerRow['scenarios'][string] {
  const load = scenarios[name]
  if (!load) throw new Error(`the figures lack ${name}`)
  return load
}
