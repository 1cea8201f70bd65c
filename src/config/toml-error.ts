import type { TomlError } from 'smol-toml'
import type { Problem } from './problem.ts'

/** Explains why and where a text is not TOML. Never quotes the text, which may contain a secret. */
export function explainTomlError(text: string, error: TomlError): Problem {
  const { line, column } = error
  const lines = text.split(/\r?\n/)
  const found = lines[line - 1] ?? ''
  const header = /^\s*\[\[\s*([\w.-]+)\s*\]\]/.exec(found)?.[1]
  const early =
    header === undefined ? undefined : findEarlierMember(header, lines.slice(0, line - 1))
  if (header !== undefined && early !== undefined) {
    const message = `${early.header} comes before the first [[${header}]] (line ${line}): put [[${header}]] first`
    return { setting: '', line: early.line, column: 1, message }
  }
  const other = guessFormat(found)
  if (other !== undefined) {
    const message = `this looks like ${other}; the file is TOML: key = value`
    return { setting: '', line, column, message }
  }
  // The first line of the parser's message is the reason; the others quote the text.
  const [reason = ''] = error.message.replace('Invalid TOML document: ', '').split('\n')
  return { setting: '', line, column, message: `not TOML: ${reason}` }
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
