import { markdownTable } from '../page.ts'
import { type PeerFigures, type PeerRow, peerScenarios } from './figures.ts'

/** Renders the figures of the peers, in Markdown. */
export function peersTable({ machine, rows, missing }: PeerFigures): string {
  const { date, node, cpu, commit } = machine
  const titles = peerScenarios.flatMap((name) => [`\`${name}\` requests/s`, 'CPU ms'])
  const lines = [
    `Measured on ${date} at commit ${commit}: Node ${node}, ${cpu}, all processes on this machine.`,
    markdownTable(
      ['', 'Version', ...titles, 'memory after load, MB'],
      Object.entries(rows).map(([name, row]) => [name, row.version, ...rowCells(row)]),
    ),
    ...Object.entries(missing).map(([name, reason]) => `Not measured: ${name}, ${reason}.`),
  ]
  return lines.join('\n\n')
}

function rowCells({ scenarios, megabytes }: PeerRow): string[] {
  const cells = peerScenarios.flatMap((name) => {
    const load = scenarios[name]
    if (!load) return ['-', '-']
    if (load.errors > 0) return ['failed', '-']
    return [load.rate.toFixed(0), load.cpu.toFixed(2)]
  })
  return [...cells, megabytes.toFixed(0)]
}
