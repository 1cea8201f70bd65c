import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { checkConfig } from '../../src/index.ts'
import { blocksOf } from './shell.ts'

/* The settings that docs/tasks.md names, and the configurations there and in docs/security.md. */

interface Node {
  readonly properties?: Readonly<Record<string, Node>>
  readonly items?: Node | readonly Node[]
  readonly anyOf?: readonly Node[]
}

function* listSettings(node: Node, path: readonly string[] = []): Generator<string> {
  if (path.length > 0) yield path.join('.')
  for (const inner of [node.items ?? [], node.anyOf ?? []].flat()) yield* listSettings(inner, path)
  for (const [name, member] of Object.entries(node.properties ?? {})) {
    yield* listSettings(member, [...path, name])
  }
}

test('every setting that the page names exists', () => {
  const known = new Set(listSettings(JSON.parse(readFileSync('gateway.schema.json', 'utf8'))))
  const rows = readFileSync('docs/tasks.md', 'utf8').matchAll(/^\| [^|]+ \| ([^|]+) \| \[.+ \|$/gm)
  const named = [...rows].flatMap(([, cell = '']) =>
    Array.from(cell.matchAll(/`([a-z_\d]+(?:\.[a-z_\d]+)+|log_format)`/g), ([, name = '']) => name),
  )
  expect(named.length).toBeGreaterThan(70)
  expect(named.filter((name) => !known.has(name))).toEqual([])
})

test.each(['docs/tasks.md', 'docs/security.md'])('the file of %s is valid', async (page) => {
  const file = blocksOf(page).find(({ info }) => info === 'toml')
  const [head = ''] = file?.text.split('[[providers]]') ?? []
  const verdict = await checkConfig(file?.text ?? '', {
    GATEWAY_MASTER_KEY: '5e'.repeat(32),
    OPENAI_API_KEY: 'x',
    ANTHROPIC_API_KEY: 'x',
  })
  expect(verdict).toMatchObject({ ok: true, startProblems: [] })
  expect(head).toContain('[auth]\nenabled = true')
})
