import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'

/* A host can only implement a port, or pass a value on, when it can name the types. */

/** The entries of the package. */
const entries = ['src/index.ts', 'adapters/node/index.ts']

/**
 * A host passes the database of `nodePorts` on. One that has its own infers the types of the rows, which change with
 * the migrations, from the methods.
 */
const inferred: ReadonlySet<string> = new Set(['Store'])

interface Declaration {
  readonly file: string
  readonly name: string
}

const isPublic = new Set(entries.flatMap((entry) => listExports(entry)).map(toId))

test('every type in the declaration of a public export is public', () => {
  const hidden = entries
    .flatMap((entry) => listExports(entry))
    .filter(({ name }) => !inferred.has(name))
    .flatMap((declared) =>
      listTypes(declared)
        .filter((used) => !isPublic.has(toId(used)))
        .map((used) => `${declared.name} has ${used.name} of ${used.file}`),
    )
  expect(hidden).toEqual([])
  expect(isPublic.size).toBeGreaterThan(90)
})

function toId({ file, name }: Declaration): string {
  return `${file} ${name}`
}

/** Lists what a file exports from others, each with the file that declares it. */
function listExports(entry: string): Declaration[] {
  const lists = read(entry).matchAll(/^export (?:type )?\{([^}]+)\} from '([^']+)'/gm)
  return [...lists].flatMap(([, names = '', from = '']) =>
    splitNames(names).map((name) => findDeclaration(resolveFrom(entry, from), name)),
  )
}

/** Follows the exports of an index to the declaration. */
function findDeclaration(file: string, name: string): Declaration {
  const lists = read(file).matchAll(/^export (?:type )?\{([^}]+)\} from '([^']+)'/gm)
  for (const [, names = '', from = ''] of lists) {
    if (splitNames(names).includes(name)) return findDeclaration(resolveFrom(file, from), name)
  }
  if (declares(read(file), name)) return { file, name }
  const others = [...read(file).matchAll(/^export (?:type )?\* from '([^']+)'/gm)]
  const from = others
    .map(([, specifier = '']) => resolveFrom(file, specifier))
    .find((other) => declares(read(other), name))
  return { file: from ?? file, name }
}

function declares(text: string, name: string): boolean {
  const pattern = `^(?:export )?(?:async )?(?:interface|type|class|function|const) ${name}\\b`
  return new RegExp(pattern, 'm').test(text)
}

/** Lists the types of this repository that a declaration has, without those of private members and of bodies. */
function listTypes({ file, name }: Declaration): Declaration[] {
  const text = read(file)
  const signature = findSignature(text, name)
  const words = new Set(signature.match(/\b[A-Z]\w+/g) ?? [])
  words.delete(name)
  return [...words].flatMap((word) => {
    const imported = findImport(text, word)
    if (imported) return [findDeclaration(resolveFrom(file, imported), word)]
    if (!declares(text, word)) return []
    const isExported = new RegExp(`^export (?:interface|type|class) ${word}\\b`, 'm').test(text)
    return isExported ? [{ file, name: word }] : listTypes({ file, name: word })
  })
}

function findSignature(text: string, name: string): string {
  const found = new RegExp(
    `^(?:export )?(?:async )?(interface|type|class|function|const) ${name}\\b[^]*?(?=\\n(?:\\}|\\n|export |(?![^])))`,
    'm',
  ).exec(text)
  if (!found) throw new Error(`the declaration of ${name} is not found`)
  const code = found[0].replaceAll(/\/\*[^]*?\*\//g, '').replaceAll(/'[^']*'/g, "''")
  if (found[1] === 'class') return code.replaceAll(/#[^]*?\n\n/g, '')
  return found[1] === 'function' ? code.slice(0, code.search(/\{\n/)) : code
}

function findImport(text: string, name: string): string | undefined {
  const imports = text.matchAll(/^import (?:type )?\{([^}]+)\} from '(\.[^']+)'/gm)
  for (const [, names = '', from = ''] of imports) if (splitNames(names).includes(name)) return from
  return undefined
}

function splitNames(names: string): string[] {
  return names
    .split(',')
    .map((name) => name.trim().replace(/^type /, ''))
    .filter((name) => name !== '')
}

function resolveFrom(file: string, specifier: string): string {
  return normalize(join(dirname(file), specifier))
}

function read(file: string): string {
  return readFileSync(file, 'utf8')
}
