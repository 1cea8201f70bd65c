import * as z from 'zod'
import type { Pin } from '../core/affinity.ts'
import { parseJson } from '../wire/json/parse.ts'

const pinText = z.tuple([z.string(), z.array(z.tuple([z.string(), z.string()]))])

export function stringifyPin({ target, credentials }: Pin): string {
  return JSON.stringify([target, credentials])
}

/** Undefined for anything but what `stringifyPin` has written. */
export function parsePin(text: unknown): Pin | undefined {
  if (typeof text !== 'string') return undefined
  const read = pinText.safeParse(parseJson(text))
  return read.success ? { target: read.data[0], credentials: read.data[1] } : undefined
}
