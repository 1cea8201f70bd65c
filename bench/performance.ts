import type { Machine } from './machine.ts'
import { median } from './measure.ts'
import { markdownTable } from './page.ts'
import type { PeerFigures } from './peers/figures.ts'
import { peersTable } from './peers/table.ts'
import { instructionsTable, nodesTable } from './report.ts'
import type { Round, Rounds } from './rounds.ts'
import {
  findScenario,
  halfScenario,
  instructionsName,
  keyedScenario,
  nodesName,
  startName,
} from './scenarios.ts'
import {
  compareRounds,
  compareTargets,
  type Results,
  rate,
  ratio,
  type Verdict,
} from './targets.ts'

/** A row of the comparison with the baseline. */
interface Comparison {
  readonly scenario: string
  readonly title: string
  readonly subject: string
}

/** The rows of the comparison with the baseline. */
export const comparisons: readonly Comparison[] = [
  compareGateway('json1'),
  compareGateway('json32'),
  {
    scenario: keyedScenario,
    title: 'small JSON, 32 connections, with auth and limits',
    subject: 'keyed',
  },
  compareGateway('json256'),
  compareGateway('stream'),
  compareGateway('firstbyte'),
  compareGateway('paced'),
  compareGateway('prompt200k'),
  compareGateway('agent'),
]

/** The names of all that docs/performance.md shows. */
export const pageMeasurements: readonly string[] = [
  startName,
  ...comparisons.map(({ scenario }) => scenario),
  halfScenario,
  nodesName,
  instructionsName,
]

interface Page {
  readonly results: Results
  readonly machine: Machine
  /** The figures of the last run of `npm run bench:peers`. */
  readonly peers: PeerFigures
}

/** Renders the part of docs/performance.md that is measured. */
export function renderPage({ results, machine, peers }: Page): string {
  const { scenarios, nodes = [], instructions = {} } = results
  return [
    describeRun(machine, scenarios),
    '## Targets',
    targetsTable(compareTargets(results)),
    '## Each load against the baseline',
    comparisonTable(scenarios),
    '## Latency at half load',
    `${capitalize(findScenario(halfScenario).title)}. Milliseconds to the last byte:`,
    latencyTable(scenarios[halfScenario] ?? {}),
    '## Release lines of Node.js',
    'Rates are ratios to the baseline under the same Node.js; CPU is milliseconds of processor time a request:',
    nodesTable(nodes),
    '## Instructions of a request',
    'Counted on a simulated processor, so other programs do not change them; the kernel is not included:',
    instructionsTable(instructions),
    '## Other gateways',
    peersTable(peers),
  ]
    .map((part) => `${part}\n`)
    .join('\n')
}

function compareGateway(scenario: string): Comparison {
  return { scenario, title: findScenario(scenario).title, subject: 'gateway' }
}

function describeRun(
  { date, node, cpu: processor, commit }: Machine,
  scenarios: Readonly<Record<string, Rounds>>,
): string {
  const rounds = Object.values(scenarios).flatMap((rows) => Object.values(rows).flat())
  const sum = (figure: (round: Round) => number) =>
    rounds.reduce((total, round) => total + figure(round), 0)
  const others = sum(({ cpu }) => cpu.others) / sum(({ seconds }) => seconds) / 10
  return `Measured on ${date} at commit ${commit}: Node ${node}, ${processor}, all processes on this machine. Other programs used ${others.toFixed(0)} % of a core meanwhile.`
}

function targetsTable(verdicts: readonly Verdict[]): string {
  return markdownTable(
    ['What', 'Measured', 'Asked', ''],
    verdicts.map(({ title, value, bound, limit, unit, met }) => [
      title,
      `${value.toFixed(2)} ${unit}`,
      describeTarget({ bound, limit, unit }),
      met ? 'met' : '**missed**',
    ]),
  )
}

/** Returns what a target asks for, as the page says it. */
export function describeTarget({
  bound,
  limit,
  unit,
}: Pick<Verdict, 'bound' | 'limit' | 'unit'>): string {
  return `${bound} ${limit} ${unit}`
}

function comparisonTable(scenarios: Readonly<Record<string, Rounds>>): string {
  const rows = comparisons.map(({ scenario, title, subject }) => {
    const { [subject]: rounds = [], baseline = [] } = scenarios[scenario] ?? {}
    const both = (figure: (round: Round) => number, digits: number) =>
      [rounds, baseline].map((side) => median(side.map(figure)).toFixed(digits))
    return [
      title,
      ...both(rate, 0),
      compareRounds(rounds, baseline, ratio(rate)).toFixed(2),
      ...both(({ cpu, requests }) => cpu.proxy / requests, 3),
      ...both(({ p99 }) => p99, 1),
      median(rounds.map(({ megabytes }) => megabytes)).toFixed(0),
    ]
  })
  return markdownTable(
    [
      'Load',
      'requests/s',
      'baseline',
      'ratio',
      'CPU ms',
      'baseline',
      'p99 ms',
      'baseline',
      'memory MB',
    ],
    rows,
  )
}

function latencyTable(results: Rounds): string {
  const rows = Object.entries(results).map(([subject, rounds]) => [
    subject,
    median(rounds.map(rate)).toFixed(0),
    ...[({ p50 }: Round) => p50, ({ p99 }: Round) => p99, ({ p999 }: Round) => p999].map((figure) =>
      median(rounds.map(figure)).toFixed(2),
    ),
  ])
  return markdownTable(['', 'requests/s', 'p50', 'p99', 'p99.9'], rows)
}

function capitalize(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}
