import type { EmbeddingsFigures, EmbeddingsRow } from './embeddings.ts'
import type { Instructions } from './instructions.ts'
import { median } from './measure.ts'
import { type NodeFigures, nodeScenarios } from './nodes.ts'
import { markdownTable } from './page.ts'
import type { Round, Rounds } from './rounds.ts'
import { findScenario, type Scenario } from './scenarios.ts'
import type { HopCosts } from './stream-hops.ts'
import { compareRounds, frameRate, type Results, rate, ratio, type Verdict } from './targets.ts'
import type { UsageFigures } from './usage.ts'

interface Column {
  readonly title: string
  readonly digits: number
  /** The figures of one round; the report has the median over the rounds. */
  readonly figure: (round: Round) => number
}

const columns: Readonly<Record<string, Column>> = {
  requestsPerSecond: { title: 'req/s', digits: 0, figure: rate },
  framesPerSecond: { title: 'frames/s', digits: 0, figure: frameRate },
  p50Ms: { title: 'p50 ms', digits: 2, figure: (round) => round.p50 },
  p99Ms: { title: 'p99 ms', digits: 2, figure: (round) => round.p99 },
  p999Ms: { title: 'p99.9 ms', digits: 2, figure: (round) => round.p999 },
  firstByteMs: { title: '1st byte ms', digits: 2, figure: (round) => round.firstByte },
  cpuMsPerRequest: {
    title: 'cpu ms/req',
    digits: 3,
    figure: (round) => round.cpu.proxy / round.requests,
  },
  residentMb: { title: 'rss MB', digits: 0, figure: (round) => round.megabytes },
  proxyBusy: { title: 'proxy %', digits: 0, figure: (round) => busy(round, 'proxy') },
  upstreamBusy: { title: 'upstream %', digits: 0, figure: (round) => busy(round, 'upstream') },
  loadBusy: { title: 'load %', digits: 0, figure: (round) => busy(round, 'load') },
  othersBusy: { title: 'others %', digits: 0, figure: (round) => busy(round, 'others') },
}

export function scenarioTable(scenario: Scenario, results: Rounds): string {
  const titles = Object.values(columns).map(({ title }) => title)
  const rows = Object.entries(results).map(([subject, rounds]) => {
    const figures = toFigures(rounds)
    const cells = Object.entries(columns).map(([name, { digits }]) => {
      const value = figures[name]
      return value ? value.toFixed(digits) : '-'
    })
    return [subject, ...cells]
  })
  return `${scenario.title}  [${scenario.name}]\n${align([['', ...titles], ...rows])}\n`
}

export function hopsTable(costs: HopCosts): string {
  const rows = Object.entries(costs).map(([streams, hops]) => [
    streams,
    ...Object.values(hops).map((cost) => cost.toFixed(2)),
  ])
  const hops = Object.keys(Object.values(costs)[0] ?? {})
  const title = 'the hops of a stream, in microseconds for a network chunk of 4 frames  [hops]'
  return `${title}\n${align([['', ...hops], ...rows])}\n`
}

const embeddingsColumns: Readonly<Record<string, (row: EmbeddingsRow) => string>> = {
  'read ms': ({ read }) => read.toFixed(0),
  'use ms': ({ use }) => use.toFixed(0),
  'cpu ms/req': ({ cpu }) => cpu.toFixed(0),
  'stall ms': ({ stall }) => stall.toFixed(1),
  'busy ms': (row) => row.busy.toFixed(1),
  'answer MB': ({ answerMegabytes }) => answerMegabytes.toFixed(1),
  'memory/answer': ({ memory }) => memory.toFixed(2),
}

export function embeddingsTable({ rows }: EmbeddingsFigures): string {
  const titles = Object.keys(embeddingsColumns)
  const cells = Object.entries(rows).map(([encoding, row]) => [
    encoding,
    ...Object.values(embeddingsColumns).map((cell) => cell(row)),
  ])
  const title = '2,048 embeddings of 1,536 numbers, 1 connection  [embeddings]'
  return `${title}\n${align([['', ...titles], ...cells])}\n`
}

export function usageTable(figures: UsageFigures): string {
  const { rows, written, opened, sums, wholeSums, pages } = figures
  const cells = [...sums, ...wholeSums, ...pages].map(({ what, median: value, slowest, found }) => [
    what,
    value.toFixed(1),
    slowest.toFixed(1),
    String(found),
  ])
  const title = `usage log of ${rows} rows, ${written.toFixed(0)} written a second, opened in ${opened.toFixed(0)} ms  [usage]`
  return `${title}\n${align([['', 'median ms', 'slowest ms', 'found'], ...cells])}\n`
}

export function verdictTable(verdicts: readonly Verdict[]): string {
  const rows = verdicts.map(({ title, value, bound, limit, unit, met }) => [
    title,
    `${value.toFixed(2)} ${unit}`,
    `${bound} ${limit} ${unit}`,
    met ? 'met' : 'missed',
  ])
  return `targets\n${align(rows)}\n`
}

/** Renders the results under each release line of Node, in Markdown. */
export function nodesTable(nodes: readonly NodeFigures[]): string {
  const rows = nodes.map(({ version, scenarios, loadedMegabytes, megabytes }) => [
    version,
    ...nodeScenarios.flatMap((name) => {
      const { gateway = [], baseline = [] } = scenarios[name] ?? {}
      return [
        compareRounds(gateway, baseline, ratio(rate)).toFixed(2),
        median(gateway.map(({ cpu, requests }) => cpu.proxy / requests)).toFixed(3),
      ]
    }),
    loadedMegabytes.toFixed(0),
    megabytes.toFixed(0),
  ])
  const titles = nodeScenarios.flatMap((name) => [`\`${name}\``, 'CPU ms'])
  const memory = ['memory under load, MB', 'after load']
  return markdownTable(['Node.js', ...titles, ...memory], rows)
}

/** Renders the instructions of a request, in Markdown. */
export function instructionsTable(instructions: Instructions): string {
  const rows = Object.entries(instructions).map(([scenario, counts]) => {
    const { gateway = Number.NaN, baseline = Number.NaN } = counts
    const thousands = (count: number) => `${Math.round(count / 1_000).toLocaleString('en-US')} k`
    return [
      findScenario(scenario).title,
      thousands(gateway),
      thousands(baseline),
      (gateway / baseline).toFixed(2),
    ]
  })
  return markdownTable(['Load', 'gateway', 'baseline', 'ratio'], rows)
}

interface Report {
  readonly machine: object
  readonly results: Results
  readonly verdicts: readonly Verdict[]
}

export function jsonReport({ machine, results, verdicts }: Report): string {
  const scenarios = summarize(results.scenarios)
  const nodes = results.nodes?.map((node) => ({ ...node, scenarios: summarize(node.scenarios) }))
  return JSON.stringify({ machine, ...results, scenarios, nodes, verdicts }, undefined, 2)
}

function summarize(scenarios: Results['scenarios']): object {
  return mapValues(scenarios, (subjects) => mapValues(subjects, toFigures))
}

/** Returns the median of each figure over the rounds of one subject. */
function toFigures(rounds: readonly Round[]): Readonly<Record<string, number>> {
  return mapValues(columns, ({ figure }) => median(rounds.map(figure)))
}

function mapValues<In, Out>(
  record: Readonly<Record<string, In>>,
  change: (value: In) => Out,
): Record<string, Out> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]))
}

function busy(round: Round, part: keyof Round['cpu']): number {
  return round.cpu[part] / round.seconds / 10
}

function align(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0))) ?? []
  const line = (row: readonly string[]) =>
    row.map((cell, at) =>
      at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0),
    )
  return rows.map((row) => `  ${line(row).join('  ')}`).join('\n')
}
