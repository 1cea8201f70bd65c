import { randomBytes } from 'node:crypto'
import type { Part } from './conversation.ts'

export function say(text: string): Part {
  return { kind: 'text', text }
}

/** A tool call with a fresh id. */
export function call(name: string, input: object): Part {
  return { kind: 'call', id: `call_${randomBytes(8).toString('hex')}`, name, input }
}

/** Splits a text for a stream: one to three words each, white space included. */
export function splitText(text: string): string[] {
  return text.match(/(?:\S+\s*){1,2}/gu) ?? [text]
}

/** Splits JSON for a stream, regardless of its tokens but never inside a character. */
export function splitJson(value: object): string[] {
  return JSON.stringify(value).match(/.{1,11}/gsu) ?? []
}
