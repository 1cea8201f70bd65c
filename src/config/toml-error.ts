import type { TomlError } from 'smol-toml'
import { type Problem, quoteName, withNote } from './problem.ts'

/**
 * Explains why and where a text is not TOML. Of the text it quotes only a header or a key made of words, since
 * anything else may be a secret.
 */
export function explainTomlError(text: string, error: TomlError): Problem {
  const { line, column } = error
  const lines = text.split(/\r?\n/)
  const found = lines[line - 1] ?? ''
  const parent = /^\s*\[\[\s*([\w.-]+)\s*\]\]/.exec(found)?.[1]
  const early =
    parent === undefined ? undefined : findEarlierMember(parent, lines.slice(0, line - 1))
  if (parent !== undefined && early !== undefined) {
    const message = `${early.header} comes before the first [[${parent}]] (line ${line}): put [[${parent}]] first`
    return { setting: '', line: early.line, column: 1, message }
  }
  const message = explainFormat(text, found) ?? explainHeader(found) ?? explainLine(found, error)
  return { setting: '', line, column, message }
}

function explainFormat(text: string, found: string): string | undefined {
  const other = guessFormat(found)
  if (other === undefined) return undefined
  if (other === 'YAML' && /^model_list\s*:/m.test(text)) {
    return 'this looks like a config.yaml of LiteLLM: convert it with `gateway import litellm FILE`'
  }
  return `this looks like ${other}; the file is TOML: key = value`
}

/** Names of settings: words in lower case, joined by `_` and `.`. Keys of vendors have longer numbers in them. */
const word = '[a-z]+(?:_(?:[a-z]+|\\d{1,3}[a-z]?))*'
const settingName = `(?![^\\s\\]=]{61})${word}(?:\\.${word})*(?=[\\s\\]=]|$)`
const headerForm = new RegExp(`^\\s*(\\[\\[?)\\s*(${settingName})\\s*(\\]{0,2})`)
const keyForm = new RegExp(`^\\s*(${settingName})\\s*=`)

function explainHeader(found: string): string | undefined {
  const [, opening = '', name, closing = ''] = headerForm.exec(found) ?? []
  if (name === undefined || closing.length === opening.length) return undefined
  const whole = `${opening}${name}${opening === '[' ? ']' : ']]'}`
  return `not TOML: the brackets of ${quoteName(`${opening}${name}${closing}`)} do not match: write ${whole}`
}

function explainLine(found: string, error: TomlError): string {
  // The first line of the parser's message is the reason; the others quote the text.
  const [reason = ''] = error.message.replace('Invalid TOML document: ', '').split('\n')
  const [, opening = '', table, closing = ''] = headerForm.exec(found) ?? []
  const start = table === undefined ? keyForm.exec(found)?.[1] : `${opening}${table}${closing}`
  return withNote(`not TOML: ${reason}`, start && `in the line of ${quoteName(start)}`)
}

/** Finds the first header of a table inside the given one, before the given one begins. */
function findEarlierMember(
  header: string,
  lines: readonly string[],
): { readonly header: string; readonly line: number } | undefined {
  for (const [index, text] of lines.entries()) {
    const found = /^\s*(\[\[?\s*([\w.-]+)\s*\]?\])/.exec(text)
    if (found?.[2] === header) return undefined
    if (found?.[1] && found[2]?.startsWith(`${header}.`)) {
      return { header: found[1], line: index + 1 }
    }
  }
  return undefined
}

/** Guesses another format from the line at which the parser stopped. */
function guessFormat(line: string): 'JSON' | 'YAML' | undefined {
  if (/^\s*(?:\{|"[^"]*"\s*:|\[\s*(?:\{|$))/.test(line)) return 'JSON'
  return /^\s*(?:---|- |[\w.'-]+:(?:\s|$))/.test(line) ? 'YAML' : undefined
}
