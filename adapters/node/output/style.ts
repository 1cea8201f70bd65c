import { styleText } from 'node:util'
import type { Environment } from '../../../src/index.ts'

export type Paint = (text: string) => string

/** Paints text for standard output. Without colours each function returns its text unchanged. */
export interface Style {
  readonly bold: Paint
  readonly dim: Paint
  readonly green: Paint
  readonly yellow: Paint
  readonly red: Paint
  readonly cyan: Paint
}

/** Returns colours at a terminal, unless `NO_COLOR` is set. */
export function createStyle(env: Environment = process.env): Style {
  return wantsColors(env) ? colors : plain
}

/** True on a terminal, unless `NO_COLOR` is set. */
export function wantsColors({ NO_COLOR: declined = '' }: Environment): boolean {
  return process.stdout.isTTY === true && declined === ''
}

type Format = keyof Style

const paint =
  (format: Format): Paint =>
  (text) =>
    text === '' ? text : styleText(format, text)

const colors: Style = {
  bold: paint('bold'),
  dim: paint('dim'),
  green: paint('green'),
  yellow: paint('yellow'),
  red: paint('red'),
  cyan: paint('cyan'),
}

const keep: Paint = (text) => text

export const plain: Style = {
  bold: keep,
  dim: keep,
  green: keep,
  yellow: keep,
  red: keep,
  cyan: keep,
}
