import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { addOtherCommands } from '../../adapters/node/commands/index.ts'
import { addServeCommand } from '../../adapters/node/commands/serve.ts'

/*
 * What a command loads before it does anything. Loading the gateway takes longer than most commands run, so they load
 * it only where they need it, with `import()`.
 */

const host = 'adapters/node'

/** Returns all modules that a file loads at once: files, and the names of packages. */
function listLoaded(entry: string): ReadonlySet<string> {
  const loaded = new Set([entry])
  for (const file of loaded) {
    if (!/\.[mc]?ts$/.test(file)) continue
    for (const name of findStaticImports(readFileSync(file, 'utf8'))) {
      loaded.add(name.startsWith('.') ? normalize(join(dirname(file), name)) : name)
    }
  }
  return loaded
}

/** The modules of `import` and `export … from`, but for those that give types alone. */
function findStaticImports(text: string): readonly string[] {
  const statements = text.matchAll(/^(?:import|export)\s(?:([^'"();]*?)\sfrom\s)?'([^']+)'/gm)
  return Array.from(statements).flatMap(([, names = '', module = '']) => {
    const members = /^\{([^}]*)\}$/.exec(names.trim())?.[1]?.split(',') ?? [names]
    const isType = members.every((each) => each.trim() === '' || /^\s*type\s/.test(each))
    return isType && names !== '' ? [] : [module]
  })
}

const gateway = /^src\/(?:index\.ts|providers|data-plane|doors|snapshot|http|admin|accounting)/
const clients = /^(?:undici|libsql|ioredis|jose|prom-client|google-auth-library|smol-toml|zod)$/

test('the help and the version load neither the gateway nor any library but that of the command line', () => {
  const loaded = [...listLoaded(`${host}/main.ts`), ...listLoaded(`${host}/commands/index.ts`)]
  expect(loaded).toContain('commander')
  expect(loaded.filter((each) => gateway.test(each) || clients.test(each))).toEqual([])
})

describe('a command that a running gateway answers loads none itself', () => {
  test.each([
    'keys',
    'groups',
    'usage',
    'requests',
    'explain',
    'check-provider',
    'health',
    'completion',
  ])('%s', (name) => {
    const loaded = [...listLoaded(`${host}/commands/${name}.ts`)]
    const heavy = loaded.filter(
      (each) => gateway.test(each) || /^(?:undici|libsql|jose)$/.test(each),
    )
    expect(heavy).toEqual([])
  })
})

test('the help that needs no command shows what the commands say themselves', async () => {
  const show = async (names?: readonly string[]) => {
    const root = new Command('gateway')
    addServeCommand(root)
    await addOtherCommands(root, names)
    return root.helpInformation()
  }
  expect(await show([])).toBe(await show())
})
