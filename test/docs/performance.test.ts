import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { countedScenarios } from '../../bench/instructions.ts'
import { otherNodes } from '../../bench/nodes.ts'
import { renderComparison } from '../../bench/peers/comparison.ts'
import { readPeers } from '../../bench/peers/figures.ts'
import { peersTable } from '../../bench/peers/table.ts'
import { comparisons, describeTarget, pageMeasurements } from '../../bench/performance.ts'
import { findScenario } from '../../bench/scenarios.ts'
import { targets } from '../../bench/targets.ts'

const page = readFileSync('docs/performance.md', 'utf8')

test('the page has every target of what it measures', () => {
  const asked = targets.filter(({ measurement }) => pageMeasurements.includes(measurement))
  expect(readTable('Targets').map(([title, , limit]) => [title, limit])).toEqual(
    asked.map((target) => [target.title, describeTarget(target)]),
  )
})

test('a target that is missed is shown as missed', () => {
  for (const [title, measured = '', limit = '', result] of readTable('Targets')) {
    const [value, bound] = [measured, limit.replace(/^at \w+ /, '')].map(Number.parseFloat)
    // A figure that is rounded to its limit may be on either side.
    if (value === bound) continue
    const isMet = Number(value) > Number(bound) === limit.startsWith('at least')
    expect([title, result]).toEqual([title, isMet ? 'met' : '**missed**'])
  }
})

test('the page compares every load with the baseline', () => {
  const titles = readTable('Each load against the baseline').map(([title]) => title)
  expect(titles).toEqual(comparisons.map(({ title }) => title))
})

test('the page has every release line of Node.js', () => {
  const versions = readTable('Release lines of Node.js').map(([version]) => version)
  expect(versions).toEqual(expect.arrayContaining([...otherNodes]))
})

test('the page has the instructions of every counted load', () => {
  const titles = readTable('Instructions of a request').map(([title]) => title)
  expect(titles).toEqual(Object.keys(countedScenarios).map((name) => findScenario(name).title))
})

test('the page has the other gateways as they were last measured', () => {
  expect(page).toContain(peersTable(readPeers()))
})

test('the README compares the other gateways by the same figures', () => {
  const table = renderComparison(readPeers())
  expect(readFileSync('README.md', 'utf8')).toContain(`<!-- peers -->\n${table}<!-- /peers -->\n`)
})

test('no figure of the page is missing', () => {
  expect(page).not.toMatch(/NaN|undefined/)
})

/** Returns the rows of the table in a section. */
function readTable(section: string): string[][] {
  const [, text = ''] = page.split(`## ${section}\n`)
  const [, , ...rows] = (text.split('\n## ')[0] ?? '')
    .split('\n')
    .filter((line) => line.startsWith('|'))
  return rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}
