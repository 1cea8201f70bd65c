import type { AST } from 'toml-eslint-parser'
import { type Finding, formatPath, formatSetting, type Path, type Problem } from './problem.ts'

interface ExplainOptions {
  readonly text: string
  readonly findings: readonly Finding[]
  /** The variables that override settings, by the name of the setting. */
  readonly origins: ReadonlyMap<string, string>
}

/** Adds to each finding its line, or the variable that set the value, and sorts them by line. */
export async function explain({
  text,
  findings,
  origins,
}: ExplainOptions): Promise<readonly Problem[]> {
  const lines = await locateSettings(text)
  return findings
    .map(({ path, message, suggestion, clash }) => {
      const variable = findNearest(path, origins)
      const origin = variable === undefined ? '' : ` (set by ${variable})`
      const other =
        clash === undefined ? '' : ` ${formatSetting(formatPath(clash), findNearest(clash, lines))}`
      return {
        setting: formatPath(path),
        line: variable === undefined ? findNearest(path, lines) : undefined,
        message: message + other + origin,
        suggestion,
      }
    })
    .sort((a, b) => (a.line ?? lastLine) - (b.line ?? lastLine))
}

/** Sorts problems without a line last. */
const lastLine = Number.MAX_SAFE_INTEGER

/** Looks a setting up, or else the nearest table or array around it. */
function findNearest<Value>(path: Path, values: ReadonlyMap<string, Value>): Value | undefined {
  for (let end = path.length; end > 0; end--) {
    const found = values.get(formatPath(path.slice(0, end)))
    if (found !== undefined) return found
  }
  return undefined
}

/** Maximum characters of a text that is located: the parser takes about a kilobyte per value. */
const maxLocatedLength = 256 * 1024

/** Maps every setting, table and array entry of a valid TOML text to its line. */
async function locateSettings(text: string): Promise<ReadonlyMap<string, number>> {
  if (text.length > maxLocatedLength) return new Map()
  // Loaded on demand: a valid configuration never needs this parser.
  const { parseTOML } = await import('toml-eslint-parser')
  const lines = new Map<string, number>()
  try {
    for (const [path, line] of walkEntries([], parseTOML(stripByteOrderMark(text)).body[0].body)) {
      // The first mention of a table is its header, or the first key that implies it.
      const name = formatPath(path)
      if (!lines.has(name)) lines.set(name, line)
    }
  } catch {
    // The two parsers may disagree about an odd text. Then problems are shown without lines.
  }
  return lines
}

/** Removes the byte order mark, which this parser rejects. */
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

/** Yields a path and the tables around it, to the maximum depth of a setting. */
function* walkPrefixes(path: Path, line: number): Generator<Place> {
  const depth = Math.min(path.length, 10)
  for (let end = 1; end <= depth; end++) yield [path.slice(0, end), line]
}
