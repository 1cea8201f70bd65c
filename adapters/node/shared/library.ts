import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { generateRecordFunctions } from '../../../src/accounting/index.ts'

/** The functions that run on the server, under a name that contains their hash. */
export interface Library {
  /** The text for `FUNCTION LOAD`. */
  readonly code: string
  /** Returns the name that a function has on the server. */
  nameOf(name: string): string
}

/**
 * Makes a library of the text of the functions. Functions belong to the whole server, so their names must
 * not clash with those of another release.
 */
export function createLibrary(text: string): Library {
  const library = `gateway_${createHash('sha256').update(text).digest('hex').slice(0, 16)}`
  return {
    code: `#!lua name=${library}\nlocal library = '${library}'\n${text}`,
    nameOf: (name) => `${library}_${name}`,
  }
}

/** The files after `base`. Each uses only what is in those before it. */
const files = [
  'claims',
  'amounts',
  'calendar',
  'subjects',
  'holds',
  'admission',
  'calls',
  'requests',
  'accounts',
  'processes',
  'pins',
  'rooms',
  'circuits',
  'answers',
]

/** The text of the functions: in the source, or beside the bundle. */
export function readFunctions(): string {
  const { url } = import.meta
  const folder = url.endsWith('.ts') ? '../../../src/shared/functions/' : './functions/'
  const read = (file: string) => readFileSync(new URL(`${folder}${file}.lua`, url), 'utf8')
  return [read('base'), generateRecordFunctions(), ...files.map(read)].join('\n')
}
