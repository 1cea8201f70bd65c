import {
  type BillingFacts,
  collectFacts,
  type ModalityTokens,
  readTier,
  type StatedCostReader,
  type ToolCalls,
} from '../../core/billing.ts'
import type { NanoUsd } from '../../core/ids.ts'
import { toNanoUsd } from '../../core/money.ts'
import type { CostUnit } from '../../core/price-settings.ts'
import { isCount } from '../../core/usage.ts'
import { isObject, type JsonObject } from '../../wire/json/parse.ts'

export interface BillingSource {
  /** The `usage` object. */
  readonly usage: JsonObject
  /** Its details of the input and of the output. */
  readonly input: unknown
  readonly output: unknown
  /** `service_tier` of the answer. */
  readonly tier: unknown
  readonly toolCalls?: ToolCalls | undefined
  readonly statedBy?: StatedBy | undefined
}

/** An answer that states its cost where the configuration says. */
export interface StatedBy {
  readonly answer: JsonObject
  readonly readCost: StatedCostReader
}

/** Reads what an OpenAI-shaped answer says of its bill; undefined when it says nothing. */
export function readBilling(source: BillingSource): BillingFacts | undefined {
  const { usage, input, output, tier, toolCalls, statedBy } = source
  return collectFacts({
    tier: readTier(tier),
    modalities: readModalities(input, output),
    toolCalls: readServerTools(usage['server_side_tool_usage_details']) ?? toolCalls,
    statedCost: statedBy ? statedBy.readCost(statedBy.answer) : readStatedCost(usage),
  })
}

/**
 * `cached_tokens_details`: audio models of OpenAI. `video_tokens`: DashScope.
 * https://platform.openai.com/docs/api-reference/realtime-server-events/response/done
 * https://www.alibabacloud.com/help/en/model-studio/qwen-api-via-dashscope
 */
function readModalities(input: unknown, output: unknown): ModalityTokens | undefined {
  const audioInput = readPositive(input, 'audio_tokens')
  const imageInput = readPositive(input, 'image_tokens')
  const videoInput = readPositive(input, 'video_tokens')
  const audioOutput = readPositive(output, 'audio_tokens')
  const imageOutput = readPositive(output, 'image_tokens')
  const cached = isObject(input) ? input['cached_tokens_details'] : undefined
  const cachedAudioInput = readPositive(cached, 'audio_tokens')
  return audioInput || imageInput || videoInput || audioOutput || imageOutput
    ? { audioInput, cachedAudioInput, imageInput, videoInput, audioOutput, imageOutput }
    : undefined
}

/**
 * The tools that xAI runs, all but its search of the web. An answer has the counts, where `file_search_calls` are those
 * of collections, and `document_search_calls` those of attached files:
 * https://docs.x.ai/docs/guides/tools/overview
 * https://github.com/maximhq/bifrost/blob/main/core/schemas/responses.go
 */
function readServerTools(details: unknown): ToolCalls | undefined {
  if (!isObject(details)) return undefined
  const calls = Object.entries(serverTools).flatMap(([name, tool]) => {
    const count = readPositive(details, name)
    return count ? [[tool, count] as const] : []
  })
  return calls.length > 0 ? Object.fromEntries(calls) : undefined
}

const serverTools = {
  x_search_calls: 'x_search',
  code_interpreter_calls: 'code_execution',
  file_search_calls: 'collections_search',
  document_search_calls: 'attachment_search',
} as const

/** Reads the searches of the web in the usage of xAI. */
export function readServerSearches(usage: JsonObject): number | undefined {
  return readPositive(usage['server_side_tool_usage_details'], 'web_search_calls')
}

/** A tick of xAI is a ten thousand millionth of a dollar. */
const ticksPerNano = 10n

/**
 * Reads what the vendor charges, rounded up. Each vendor has its own form: ticks of xAI; an object of Perplexity;
 * a number of OpenRouter, which is only its fee where the key at the vendor is the customer's own.
 * https://docs.x.ai/docs/api-reference
 * https://docs.perplexity.ai/api-reference/sonar-post
 * https://openrouter.ai/docs/use-cases/usage-accounting
 */
function readStatedCost(usage: JsonObject): NanoUsd | undefined {
  const { cost, cost_in_usd_ticks: ticks, cost_details: details, is_byok: isOwnKey } = usage
  if (isCount(ticks)) return toTicks(ticks)
  if (isObject(cost)) return toStated(cost['total_cost'])
  if (details === undefined && isOwnKey === undefined) return undefined
  const fee = toStated(cost)
  if (fee === undefined || isOwnKey !== true) return fee
  const upstream = isObject(details) ? toStated(details['upstream_inference_cost']) : undefined
  return upstream === undefined ? undefined : ((fee + upstream) as NanoUsd)
}

export interface CostPlace {
  /** A dotted path from the root of the answer. */
  readonly path: string
  readonly unit: CostUnit
}

/** Creates the reader of a cost that an answer states as a number, or as a text of one. */
export function createCostReader({ path, unit }: CostPlace): StatedCostReader {
  const names = path.split('.')
  return (answer) => {
    let value: unknown = answer
    for (const name of names) value = isObject(value) ? value[name] : undefined
    const cost = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
    return unit === 'usd' ? toStated(cost) : toTicks(cost)
  }
}

function toTicks(ticks: unknown): NanoUsd | undefined {
  return isCount(ticks)
    ? (((BigInt(ticks) + ticksPerNano - 1n) / ticksPerNano) as NanoUsd)
    : undefined
}

/** More than any answer costs. */
const maxStated = 1_000_000

function toStated(usd: unknown): NanoUsd | undefined {
  if (typeof usd !== 'number' || !(usd >= 0 && usd <= maxStated)) return undefined
  const amount = toNanoUsd(usd)
  return (Number(amount) / 1e9 < usd ? amount + 1n : amount) as NanoUsd
}

function readPositive(details: unknown, name: string): number | undefined {
  const value = isObject(details) ? details[name] : undefined
  return isCount(value) && value > 0 ? value : undefined
}
