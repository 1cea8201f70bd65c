import { describe, expect, test } from 'vitest'
import type { TranslationOutcome } from '../../../src/providers/translation/cell.ts'
import {
  type ApiFamily,
  apiFamilies,
  type Condition,
} from '../../../src/providers/translation/conditions.ts'
import { type Feature, translationTable } from '../../../src/providers/translation/table.ts'
import { readError, type TestGateway, testGateway } from '../../support/gateway.ts'
import { json } from '../../support/scripted-upstream.ts'
import { examples } from './examples.ts'
import { exceptional, type Link, usual } from './links.ts'

/*
 * Sends a request for each cell of the table: the upstream request or the refusal must match the cell.
 */

interface Case {
  readonly name: string
  readonly feature: Feature
  readonly link: Link
  readonly outcome: TranslationOutcome
}

// The names of the rows are the features.
const features = Object.keys(translationTable) as Feature[]
const cases = features.flatMap((feature) =>
  apiFamilies.flatMap((family) => listCases(feature, family)),
)

/** Lists the usual outcome of a cell and its exceptions. */
function listCases(feature: Feature, family: ApiFamily): Case[] {
  const { unless = {}, ...outcome } = translationTable[feature][family]
  const isUsual = ({ holds = [] }: Link) => !holds.some((condition) => condition in unless)
  const exceptions = (Object.entries(unless) as [Condition, TranslationOutcome][]).map(
    ([condition, exception]) => ({
      name: `${feature} for ${family}, ${condition}: ${exception.verdict}`,
      feature,
      link: findLink(family, condition),
      outcome: exception,
    }),
  )
  const link = usual[family].find(isUsual)
  if (!link) throw new Error(`no model shows the usual outcome of ${feature} for ${family}`)
  return [
    { name: `${feature} for ${family}: ${outcome.verdict}`, feature, link, outcome },
    ...exceptions,
  ]
}

function findLink(family: ApiFamily, condition: Condition): Link {
  const links: Readonly<Partial<Record<Condition, Link>>> = exceptional[family]
  const link = links[condition]
  if (!link) throw new Error(`no model of ${family} shows ${condition}`)
  return link
}

describe.each(cases)('$name', ({ feature, link, outcome }) => {
  const { fields, without = {}, param } = examples[feature]
  const asked = { ...link.fields, ...fields }

  test('the upstream sees the outcome of the table', async () => {
    const other = await sendFields(link, { ...link.fields, ...without })
    switch (outcome.verdict) {
      case 'refused':
        return expectRefusal(link, asked, { code: outcome.code ?? 'LM-1001', param })
      case 'dropped': {
        const seen = await sendFields(link, asked)
        if (!outcome.isWeakened) expect(seen).toEqual(other)
        expect(await readDropped(link)).toContain(param)
        return expectRefusal({ ...link, isStrict: true }, asked, { code: 'LM-1001' })
      }
      case 'ignored':
        return expect(await sendFields({ ...link, isStrict: true }, asked)).toEqual(other)
      case 'carried': {
        const seen = at(await sendFields({ ...link, isStrict: true }, asked), outcome)
        expect(seen).toEqual(at({ body: { ...question, ...asked } }, outcome))
        return expect(seen).not.toEqual(at(other, outcome))
      }
      case 'mapped': {
        const same = feature === 'model' ? await sendFields(another(link), asked) : other
        const seen = at(await sendFields({ ...link, isStrict: true }, asked), outcome)
        return expect(seen, outcome.to).not.toEqual(at(same, outcome))
      }
      default:
        return outcome.verdict satisfies never
    }
  })
})

/** Default values. */
const neutral = {
  n: 1,
  logprobs: false,
  top_logprobs: 0,
  frequency_penalty: 0,
  presence_penalty: 0,
  logit_bias: {},
  parallel_tool_calls: true,
  modalities: ['text'],
  store: false,
  verbosity: 'medium',
  response_format: { type: 'text' },
  stop: [''],
  seed: null,
  metadata: {},
}

test.each(apiFamilies)('a strict provider of %s accepts default values', async (family) => {
  const [link] = usual[family]
  const seen = await sendFields({ ...link, isStrict: true }, neutral)
  expect(seen).toEqual(await sendFields(link, {}))
})

const question = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }

type Asked = Link & { readonly isStrict?: boolean }

interface Sent {
  readonly address?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body: unknown
}

/** Returns the upstream request for these fields. The upstream answers 404. */
async function sendFields(link: Asked, fields: object): Promise<Sent> {
  const { chat, upstream } = await createGateway(link)
  upstream.requests.length = 0
  const response = await chat({ ...question, ...fields })
  expect(upstream.requests, await response.text()).toHaveLength(1)
  const [request] = upstream.requests
  return { address: request?.url, headers: request?.headers, body: upstream.body() }
}

/** Returns the dropped fields of the last request, from the log. */
async function readDropped(link: Asked): Promise<unknown> {
  const { log } = await createGateway(link)
  return log.findLast(({ message }) => message === 'fields dropped')?.fields['fields']
}

async function expectRefusal(link: Asked, fields: object, error: object): Promise<void> {
  const { chat, upstream } = await createGateway(link)
  upstream.requests.length = 0
  expect(await readError(await chat({ ...question, ...fields }))).toMatchObject(error)
  expect(upstream.requests).toEqual([])
}

/** Returns the value where an outcome puts it: in a header, at a path of the body, or in the URL. */
function at({ address, headers, body }: Sent, { to: path, header }: TranslationOutcome): unknown {
  if (header !== undefined) return headers?.[header]
  if (path === undefined) return address
  return path
    .split('.')
    .reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], body)
}

/** Returns the same model with another name. */
function another(link: Link): Link {
  return { ...link, upstreamId: `${link.upstreamId}-2` }
}

const gateways = new Map<string, Promise<TestGateway>>()

function createGateway({
  kind,
  upstreamId,
  more = '',
  settings = '',
  isStrict = false,
}: Asked): Promise<TestGateway> {
  const config = `
[[providers]]
name = "p"
kind = "${kind}"
api_key_env = "P_KEY"
strict = ${isStrict}
${settings}
${kind === 'vertex_ai' ? 'base_url = "https://p.test/v1/projects/p/locations/l"' : ''}
[[providers.models]]
id = "m"
upstream_id = "${upstreamId}"
modalities = ["text", "image"]
${more}`
  const known = gateways.get(config)
  if (known) return known
  const made = startGateway(config)
  gateways.set(config, made)
  return made
}

async function startGateway(config: string): Promise<TestGateway> {
  const made = await testGateway(config)
  made.upstream.always(json({ message: 'nothing here' }, { status: 404 }))
  return made
}
