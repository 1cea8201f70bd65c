import { catalogueNames } from '../../adapters/node/prices/catalogue-names.ts'
import {
  type GenaiPricesModel,
  genaiPrices,
  listIds,
  matchesId,
  readGenaiPrices,
} from '../../adapters/node/prices/genai-prices.ts'
import { litellmEntry, readLiteLlm } from '../../adapters/node/prices/litellm.ts'
import type { Sheet } from '../../adapters/node/prices/sheet.ts'
import type { TableRow } from '../../adapters/node/prices/table.ts'
import { toSettings } from '../../adapters/node/prices/to-settings.ts'
import { type Exception, isFor } from './exceptions.ts'
import { listDifferences, mergeSheets } from './merge.ts'
import { findError } from './verify.ts'

export interface Sources {
  /** The JSON of LiteLLM's catalogue. */
  readonly litellm: unknown
  /** The JSON of the catalogue of genai-prices. */
  readonly genaiPrices: unknown
  readonly exceptions: readonly Exception[]
  /** The day of the prices, `YYYY-MM-DD`. */
  readonly day: string
}

export interface MadeTable {
  readonly rows: readonly TableRow[]
  /** What a maintainer must decide or mend. */
  readonly problems: readonly string[]
}

/** Makes the table of prices from the two catalogues. */
export function makeTable(sources: Sources): MadeTable {
  const problems: string[] = []
  const used = new Set<Exception>()
  const rows = Object.keys(catalogueNames)
    .sort()
    .flatMap((kind) => {
      const models = new Map<string, Sheet>()
      for (const [id, { litellm, genai }] of listModels(kind, sources)) {
        const own = sources.exceptions.filter((each) => isFor(each, { kind, id }))
        const sheet = decide(litellm, genai, own, used)
        if (typeof sheet === 'string') problems.push(`${kind} ${id}: ${sheet}`)
        else models.set(id, sheet)
      }
      return joinRows(kind, models, problems)
    })
  for (const exception of sources.exceptions) {
    if (!used.has(exception))
      problems.push(`not needed: the exception for ${exception.kind} ${exception.ids.join(', ')}`)
  }
  return { rows, problems }
}

/** The APIs that the gateway has. */
const modes: ReadonlySet<string> = new Set([
  'chat',
  'responses',
  'completion',
  'embedding',
  'rerank',
])

interface Listed {
  readonly litellm?: Sheet
  readonly genai?: Sheet
}

/** Lists the models of a vendor by their ids, without those that are gone and those of single regions. */
function listModels(kind: string, { litellm, genaiPrices: genai, day }: Sources) {
  const found = new Map<string, Listed>()
  const names = catalogueNames[kind]
  const models = genaiPrices.parse(genai).find(({ id }) => id === names?.genaiPrices)?.models ?? []
  const taken = new Set<GenaiPricesModel>()
  const gone = new Set<string>()
  for (const [provider, prefix] of names?.litellm ?? []) {
    for (const [key, value] of Object.entries(litellm as Readonly<Record<string, unknown>>)) {
      const { data: entry } = litellmEntry.safeParse(value)
      if (!entry || entry.litellm_provider !== provider || !key.startsWith(prefix)) continue
      const id = key.slice(prefix.length)
      if ((entry.deprecation_date ?? day) < day) gone.add(id)
      if (!modes.has(entry.mode ?? '') || gone.has(id)) continue
      if (found.has(id) || !isOwnId(kind, id)) continue
      const model = models.find(({ match }) => matchesId(match, id))
      if (model) taken.add(model)
      found.set(id, {
        litellm: readLiteLlm(entry),
        ...(model && { genai: readGenaiPrices(model, day) }),
      })
    }
  }
  // A cloud has the models of others under names of its own, which only LiteLLM lists.
  if (kind === 'vertex_ai') return found
  for (const model of models.filter((each) => !taken.has(each))) {
    const sheet = readGenaiPrices(model, day)
    for (const id of listIds(model)) {
      if (!found.has(id) && !gone.has(id) && isOwnId(kind, id)) found.set(id, { genai: sheet })
    }
  }
  return found
}

/** False for what no request names: a class of models, a tuned model, a model in one region of a cloud. */
function isOwnId(kind: string, id: string): boolean {
  if (/^ft:|^fireworks-ai-|^together-ai-|-$/.test(id)) return false
  if (kind === 'bedrock') return !id.includes('/')
  if (kind === 'azure') return !/^(?:eu|us|global|global-standard|ft)\//.test(id)
  // genai-prices has one vendor for Vertex AI and the Gemini API, and only the former has Claude.
  return kind !== 'google' || !id.includes('claude')
}

/** Returns the prices of a model, or what is to be decided. */
function decide(
  litellm: Sheet | undefined,
  genai: Sheet | undefined,
  exceptions: readonly Exception[],
  used: Set<Exception>,
): Sheet | string {
  let sheet = litellm ?? genai
  if (!sheet) return 'no prices'
  if (litellm && genai) {
    const differences = listDifferences(litellm, genai)
    const taking = exceptions.find(({ take }) => take !== undefined)
    if (differences.length > 0 && !taking) {
      return `the catalogues differ: ${differences
        .map((each) => `${each.where} ${each.price}: ${each.litellm} or ${each.genaiPrices}`)
        .join('; ')}`
    }
    if (differences.length > 0 && taking) used.add(taking)
    sheet =
      differences.length > 0 && taking?.take === 'genai-prices'
        ? mergeSheets(genai, litellm)
        : mergeSheets(litellm, genai)
  }
  for (const exception of exceptions) {
    const tools = exception.set?.tool_costs_per_1k
    if (!tools) continue
    used.add(exception)
    sheet = {
      ...sheet,
      fees: { ...sheet.fees, tool_costs_per_1k: { ...sheet.fees.tool_costs_per_1k, ...tools } },
    }
  }
  return sheet
}

/** Writes models with the same prices as one row. */
function joinRows(
  kind: string,
  models: ReadonlyMap<string, Sheet>,
  problems: string[],
): readonly TableRow[] {
  const rows = new Map<string, { ids: string[]; rest: Omit<TableRow, 'kind' | 'ids'> }>()
  for (const [id, sheet] of [...models].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const settings = toSettings(sheet)
    if (Object.keys(settings).length === 0) continue
    const error = findError(sheet, settings)
    if (error !== undefined) problems.push(`${kind} ${id}: ${error}`)
    const { places } = sheet
    const rest = { ...(Object.keys(places).length > 0 && { places }), ...settings }
    const key = JSON.stringify(rest)
    const row = rows.get(key)
    if (row) row.ids.push(id)
    else rows.set(key, { ids: [id], rest })
  }
  return [...rows.values()].map(({ ids, rest }) => ({ kind, ids, ...rest }))
}
