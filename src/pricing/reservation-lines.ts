import type { UsageEstimate } from '../core/admission.ts'
import type { Model } from '../core/provider.ts'
import type { TokenKind } from './cost.ts'
import { type CostLine, createLine, type LineName, listLines } from './parts.ts'
import {
  findLargest,
  findOutputPrice,
  findReachable,
  type OutputPrice,
  type PromptPrice,
  type ReachableParts,
  toCalls,
} from './reservation.ts'

/** One line of what is reserved, as a bill has it. */
export interface ReservedLine extends CostLine {
  /** The entries of the prices that the line is at, in ASCII; undefined for the base. */
  readonly label: string | undefined
  /** False where the request does not bound the count. */
  readonly isBounded: boolean
}

/**
 * Lists what `findDearest` adds up. The prompt, the output and the fees may be at different entries. A line of 0 is
 * left out.
 */
export function listReservedLines(
  link: Model,
  estimate: UsageEstimate,
  reserveOutputTokens: number,
): readonly ReservedLine[] {
  const { promptTokens, output, tools, parts } = findReachable(link, estimate, reserveOutputTokens)
  const ofPrompt = findLargest(parts, ({ prompt }) => prompt)
  const ofOutput = findLargest(parts, ({ output: cost }) => cost)
  const ofFees = findLargest(parts, ({ fees }) => fees)
  const dearestOutput = findOutputPrice(ofOutput.prices, estimate)
  const fees = {
    toolCalls: toCalls(tools),
    searchUnits: estimate.searchUnits ?? 0,
    requests: 1,
  }
  const unbounded = new Set<LineName>(
    tools.filter(({ isBounded }) => !isBounded).map(({ name }) => name),
  )
  const label = (line: CostLine, { label: own }: ReachableParts): ReservedLine => ({
    ...line,
    label: own,
    isBounded: !unbounded.has(line.name),
  })
  const prompt = createLine({
    name: promptLines[ofPrompt.promptPrice],
    count: promptTokens,
    price: ofPrompt.prices[ofPrompt.promptPrice] ?? ofPrompt.prices.cacheWrite,
  })
  const generated = createLine({
    name: outputLines[dearestOutput.name],
    count: output.tokens * output.choices,
    price: dearestOutput.price,
  })
  return [
    ...(promptTokens > 0 ? [label(prompt, ofPrompt)] : []),
    ...(generated.count > 0 ? [label(generated, ofOutput)] : []),
    ...listLines({ prices: ofFees.prices, fees }).map((line) => label(line, ofFees)),
  ]
}

/** The names of the lines of a bill, by those of prices. */
const promptLines: Readonly<Record<PromptPrice, TokenKind>> = Object.freeze({
  input: 'input',
  cachedInput: 'cached',
  cacheWrite: 'written',
  cacheWrite1h: 'written_1h',
  cacheWrite12h: 'written_12h',
  audioInput: 'audio_input',
  imageInput: 'image_input',
  videoInput: 'video_input',
  cachedAudioInput: 'cached_audio_input',
})
const outputLines: Readonly<Record<OutputPrice, TokenKind>> = Object.freeze({
  output: 'output',
  reasoning: 'reasoning',
  audioOutput: 'audio_output',
  imageOutput: 'image_output',
})
