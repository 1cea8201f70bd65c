import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Command } from 'commander'
import { describe, expect, onTestFinished, test } from 'vitest'
import { addOtherCommands } from '../../adapters/node/commands/index.ts'
import { measureText } from '../../adapters/node/output/width.ts'
import { commandLine } from './support/cli.ts'

/*
 * One rule for the output of all commands: text for people wherever it goes, JSON with --json alone. A terminal has
 * tables that fit; elsewhere they are whole, without colours.
 */

const longName = 'the nightly evaluation of the search team, which has a very long name indeed'

/** The arguments of every command that has --json, besides the option. Those of `key` are filled in. */
const runs: Readonly<Record<string, readonly string[]>> = {
  config: ['--effective'],
  check: ['demo'],
  'keys create': ['--name', longName],
  'keys list': [],
  'keys show': ['KEY'],
  'keys update': ['KEY', '--rpm-limit', '5'],
  'keys grant': ['KEY', '1'],
  'keys rotate': ['KEY'],
  'keys disable': ['KEY'],
  'keys enable': ['KEY'],
  'groups create': ['--name', longName],
  'groups list': [],
  'groups show': ['GROUP'],
  'groups update': ['GROUP', '--rpm-limit', '5'],
  'groups grant': ['GROUP', '1'],
  usage: ['--group-by', 'key_id'],
  requests: ['--since', '1h'],
  prices: ['--all'],
  explain: ['REQUEST'],
}

async function prepare() {
  const line = await commandLine()
  await line.serve()
  const { id: group } = await line.json('groups', 'create', '--name', longName, '--budget-max', '9')
  const create = [
    'keys',
    'create',
    '--name',
    longName,
    '--budget-max',
    '5',
    '--group-id',
    String(group),
  ]
  const { id: key } = await line.json(...create)
  const request = join(line.folder, 'request.json')
  writeFileSync(request, JSON.stringify({ model: 'demo', messages: [] }))
  const values = new Map([
    ['KEY', String(key)],
    ['GROUP', String(group)],
    ['REQUEST', request],
  ])
  const run = (command: string, ...more: readonly string[]) => {
    const args = (runs[command] ?? []).map((arg) => values.get(arg) ?? arg)
    return line.run(...command.split(' '), ...args, ...more)
  }
  return { line, run }
}

/** The commands with this option, by their words. */
async function listCommands(option: string): Promise<readonly string[]> {
  const root = new Command('gateway')
  await addOtherCommands(root)
  const visit = (path: readonly string[], command: Command): string[] => [
    ...(command.options.some(({ long }) => long === option) ? [path.join(' ')] : []),
    ...command.commands.flatMap((each) => visit([...path, each.name()], each)),
  ]
  return visit([], root)
}

test('every command with --json is tried here', async () => {
  expect([...(await listCommands('--json'))].sort()).toEqual(Object.keys(runs).sort())
})

describe('in a pipe', () => {
  test('every command prints text without colours, and JSON with --json alone', async () => {
    const { run } = await prepare()
    for (const command of Object.keys(runs)) {
      const text = await run(command)
      expect(text, command).toMatchObject({ code: 0 })
      expect(text.stdout, command).not.toMatch(/^[[{]|…/)
      expect(text.stdout, command).not.toContain('\u001b')
      const json = await run(command, '--json')
      expect(() => JSON.parse(json.stdout), command).not.toThrow()
    }
  })
})

describe('at a terminal of 100 columns', () => {
  test('no line of a table is longer, and --wide shows all of it', async () => {
    const { run } = await prepare()
    showTerminal(100)
    for (const command of await listCommands('--wide')) {
      const fitted = await run(command)
      for (const text of fitted.stdout.split('\n')) {
        expect(measureText(text), `${command}: ${text}`).toBeLessThanOrEqual(100)
      }
      const wide = await run(command, '--wide')
      expect(wide.code, command).toBe(0)
      expect(wide.stdout, command).not.toContain('…')
    }
    expect((await run('keys list')).stdout).toMatch(/the nightly \S.*…/)
  })
})

function showTerminal(columns: number): void {
  const { stdout } = process
  const before = { isTTY: stdout.isTTY, columns: stdout.columns }
  Object.assign(stdout, { isTTY: true, columns })
  onTestFinished(() => void Object.assign(stdout, before))
}
