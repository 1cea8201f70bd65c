import { readFile } from 'node:fs/promises'
import type { ReadFile } from '../../../src/index.ts'

/** The text of a file that a setting or a credential names. */
export const readText: ReadFile = (path) => readFile(path, 'utf8')
