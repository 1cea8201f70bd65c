import { CommandFailure } from '../failures/command-failure.ts'

/**
 * Parses a YAML file as LiteLLM's loader reads it: with merge keys, without tags of its own. Rejects with a
 * `CommandFailure` of code 2, which never quotes the text: it may contain a key.
 */
export async function parseYaml(name: string, text: string): Promise<unknown> {
  const fail = (reason: string) => new CommandFailure(2, `${name}: ${reason}`)
  if (text.length > maxLength) throw fail('over 10 MiB')
  if (isDeep(text)) throw fail(tooDeep)
  // Loaded here, because only this command reads YAML.
  const { parseDocument, LineCounter } = await import('yaml')
  const lineCounter = new LineCounter()
  const document = parseDocument(text, { merge: true, prettyErrors: false, lineCounter })
  // An unknown tag is a warning to the library, and an error to LiteLLM.
  const [error] = [...document.errors, ...document.warnings]
  if (error) {
    const { line, col } = lineCounter.linePos(error.pos[0])
    throw fail(`line ${line}, column ${col}: not YAML: ${describe(error.message)}`)
  }
  try {
    return document.toJS({ maxAliasCount })
  } catch (cause) {
    if (cause instanceof RangeError) throw fail(tooDeep)
    const reason = (cause as Error).message
    throw fail(
      reason.startsWith('Excessive alias count') ? tooManyAliases : `not YAML: ${describe(reason)}`,
    )
  }
}

const maxLength = 10 * 1024 * 1024

/** Each use of an anchor counts, times the uses inside it. */
const maxAliasCount = 10_000

const tooDeep = 'nested too deeply'
const tooManyAliases = 'its aliases expand to too many values'

/** How many collections may be inside each other. The parser recurses, and a full stack ends the process. */
const maxDepth = 200

/** Whether brackets, or indentation and dashes, could nest more than 200 collections. */
function isDeep(text: string): boolean {
  let depth = 0
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    depth = Math.max(0, depth + (bracket === '[' || bracket === '{' ? 1 : -1))
    if (depth > maxDepth) return true
  }
  return /^(?:[ \t]|[-?:][ \t]){400}/m.test(text)
}

/** Removes what the library quotes from the text. */
function describe(message: string): string {
  const [reason = ''] = message.split('\n')
  const plain = reason.replace(/: ".*$/, '')
  return plain.charAt(0).toLowerCase() + plain.slice(1)
}
