import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import { z } from 'zod'
import { allKinds, canEmbed, isCompatible, type Kind } from '../kinds.ts'
import { picture } from '../upstream/picture.ts'
import { greeting, reasoning } from '../upstream/scenario.ts'

export { greeting, reasoning }

/** Where the client sends its requests, and for which models. */
export interface Target {
  /** Without a path. */
  readonly address: string
  readonly key: string
  /** The upstream behind the models. */
  readonly kind: Kind
  /** Returns the id of the model that plays a scenario. */
  model(scenario: string): string
}

export type Checks = Readonly<Record<string, () => Promise<void>>>

/** The outcome of one check, a line of JSON on standard output. */
export interface Outcome {
  readonly check: string
  /** Absent when the check passed. */
  readonly problem?: string
  /** The words of an upstream that does not accept the body of the client, which passes as it is. */
  readonly refused?: string
}

/** Runs the checks of a client one after the other. The environment holds the target. */
export async function runChecks(toChecks: (target: Target) => Checks): Promise<void> {
  const { CONFORMANCE_ADDRESS: address, CONFORMANCE_KEY: key, CONFORMANCE_KIND: name } = process.env
  const only = process.argv[2]
  const kind = allKinds.find((each) => each.name === name)
  assert.ok(address && key && kind, 'CONFORMANCE_ADDRESS, _KEY and _KIND must be set')
  const target = { address, key, kind, model: (scenario: string) => `${name}--${scenario}` }
  for (const [check, run] of Object.entries(toChecks(target))) {
    if (only && !check.startsWith(only)) continue
    const problem = await run().then(() => undefined, toProblem)
    const outcome: Outcome = { check, ...(problem !== undefined && { problem }) }
    process.stdout.write(`${JSON.stringify(outcome)}\n`)
  }
}

function toProblem(error: unknown): string {
  if (process.env['CONFORMANCE_VERBOSE']) process.stderr.write(`${inspect(error)}\n`)
  return error instanceof Error ? `${error.name}: ${error.message}` : inspect(error)
}

/** The question to every model. */
export const question = 'What is the weather in Zürich?'

/** The input of the tools `weather` and `time`. */
export const place = z.object({ city: z.string() })

/** The same schema for clients that take no zod. */
export const placeSchema = {
  type: 'object' as const,
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
}

/** The result of a tool for its input. It depends on the city, so that mixed up inputs show. */
export const look = ({ city }: z.infer<typeof place>) => `sunny in ${city}`

/** What the model says once it has the result of one call, or of two. */
export const repeatedOne = 'The result: sunny in Zürich 1.'
export const repeatedTwo = 'The result: sunny in Zürich 1 and sunny in Zürich 2.'

/** A format for structured answers, and the answer that the model gives. */
export const forecast = z.object({
  city: z.string(),
  days: z.array(z.object({ high: z.number(), sky: z.enum(['clear', 'cloudy']) })),
  note: z.string().nullable(),
})

export const expectedForecast: z.infer<typeof forecast> = {
  city: 'Zürich 1',
  days: [{ high: 1, sky: 'clear' }],
  note: 'Zürich 1',
}

/** A name as plugins make them: longer than the 64 characters of most vendors. */
export const longName =
  `mcp__plugin_registry_records__${'look_up_the_weather_of_a_place_'.repeat(2)}v2`.slice(0, 80)

/** A tool without parameters, as many servers of tools describe them. */
export const noParameters = { type: 'object' as const }

/** What the model says with the results of the long name and of the tool without parameters. */
export const repeatedWide = 'The result: sunny in Zürich 1 and noon.'

export const pictureData = picture.toString('base64')

/** Checks that need an upstream for which the gateway writes the request. */
export function onCompatible({ kind }: Target, checks: Checks): Checks {
  return isCompatible(kind) ? checks : {}
}

/** Checks with vectors, for an upstream that embeds. */
export function onEmbedding({ kind }: Target, checks: Checks): Checks {
  return canEmbed(kind) ? checks : {}
}

/** Checks with a picture, for an upstream that takes them. */
export function withImages({ kind }: Target, checks: Checks): Checks {
  return kind.takesImages ? checks : {}
}
