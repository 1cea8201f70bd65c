import type { AST } from 'toml-eslint-parser'
import { type Finding, formatPath, formatSetting, type Path, type Problem } from './problem.ts'

interface Case {
  readonly text: string
  readonly findings: readonly Finding[]
  /** The variable that each overridden setting came from. */
  readonly origins: ReadonlyMap<string, string>
}

/** Puts findings in the order of the file, each with its line or the variable it came from. */
export async function explain({ text, findings, origins }: Case): Promise<readonly Problem[]> {
  const lines = await locateSettings(text)
  return findings
    .map(({ path, message, suggestion, clash }) => {
      const variable = nearestAbove(path, origins)
      const origin = variable === undefined ? '' : ` (set by ${variable})`
      const other =
        clash === undefined
          ? ''
          : ` ${formatSetting(formatPath(clash), nearestAbove(clash, lines))}`
      return {
        setting: formatPath(path),
        line: variable === undefined ? nearestAbove(path, lines) : undefined,
        message: message + other + origin,
        suggestion,
      }
    })
    .sort((a, b) => (a.line ?? lastLine) - (b.line ?? lastLine))
}

/** Where problems without a line go. */
const lastLine = Number.MAX_SAFE_INTEGER

/** What is known of a setting, or else of the nearest table or array around it. */
function nearestAbove<Known>(path: Path, known: ReadonlyMap<string, Known>): Known | undefined {
  for (let end = path.length; end > 0; end--) {
    const found = known.get(formatPath(path.slice(0, end)))
    if (found !== undefined) return found
  }
  return undefined
}

/** Characters of the longest text whose problems get lines: to find them takes a kilobyte for each value. */
const maxLocatedLength = 256 * 1024

/** The line of every setting, table and array entry of a text that is valid TOML. */
async function locateSettings(text: string): Promise<ReadonlyMap<string, number>> {
  if (text.length > maxLocatedLength) return new Map()
  // Loaded only here: a configuration without problems never needs this parser.
  const { parseTOML } = await import('toml-eslint-parser')
  const lines = new Map<string, number>()
  try {
    for (const [path, line] of walkEntries([], parseTOML(stripByteOrderMark(text)).body[0].body)) {
      // The first mention of a table is its header, or the first key that implies it.
      const name = formatPath(path)
      if (!lines.has(name)) lines.set(name, line)
    }
  } catch {
    // Two parsers may disagree about an odd text. A problem without its line beats none.
  }
  return lines
}

/** A byte order mark, which this parser does not expect. */
function stripByteOrderMark(text: string): string {
  return text.startsWith('\uFEFF') ? text.slice(1) : text
}

type Place = readonly [path: Path, line: number]

function* walkEntries(
  table: Path,
  entries: readonly (AST.TOMLTable | AST.TOMLKeyValue)[],
): Generator<Place> {
  for (const entry of entries) {
    if (entry.type === 'TOMLTable') {
      yield* walkPrefixes(entry.resolvedKey, entry.loc.start.line)
      yield* walkEntries(entry.resolvedKey, entry.body)
      continue
    }
    const keys = entry.key.keys.map((key) => (key.type === 'TOMLBare' ? key.name : key.value))
    const path = [...table, ...keys]
    yield* walkPrefixes(path, entry.loc.start.line)
    yield* walkValue(path, entry.value)
  }
}

function* walkValue(path: Path, value: AST.TOMLContentNode): Generator<Place> {
  if (value.type === 'TOMLInlineTable') yield* walkEntries(path, value.body)
  if (value.type !== 'TOMLArray') return
  for (const [i, element] of value.elements.entries()) {
    yield [[...path, i], element.loc.start.line]
    yield* walkValue([...path, i], element)
  }
}

/** A path and the tables around it, down to a depth below which no setting has a name. */
function* walkPrefixes(path: Path, line: number): Generator<Place> {
  const depth = Math.min(path.length, 10)
  for (let end = 1; end <= depth; end++) yield [path.slice(0, end), line]
}
