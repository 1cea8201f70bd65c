import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { testGateway } from '../support/gateway.ts'
import { json } from '../support/scripted-upstream.ts'

/*
 * Each section of "Vendor fields" shows what to add to a chat request. The test sends it, and compares what
 * the vendor gets with `test/fixtures/<kind>/vendor-fields.json`, which has a case for each section. Where the
 * answer differs too, the section shows its choice, and the case has the answer of the vendor.
 */

interface Case {
  /** The heading of the section. */
  readonly name: string
  /** The `upstream_id` of the model. */
  readonly model: string
  readonly upstream: { readonly headers?: Record<string, string>; readonly body: object }
  /** What the vendor answers. */
  readonly answer?: object
}

/** The kinds, with the settings that their providers need. */
const settings = {
  anthropic: '',
  cohere: '',
  google: '',
  bedrock: '',
  vertex_ai: 'base_url = "https://p.test/v1/projects/p/locations/l"',
} as const

type Kind = keyof typeof settings

// The keys of the constant.
describe.each(Object.keys(settings) as Kind[])('the vendor fields of %s', (kind) => {
  const examples = listExamples(kind)
  const cases = JSON.parse(readText(`../fixtures/${kind}/vendor-fields.json`)) as Case[]

  test('each section has an example and a case', () => {
    expect(examples.map(({ name }) => name)).toEqual(cases.map(({ name }) => name))
  })

  test.each(cases)('$name', async ({ name, model, upstream: expected, answer }) => {
    const { chat, upstream } = await gatewayOf(kind, model)
    upstream.always(answer ? json(answer) : json({ message: 'nothing here' }, { status: 404 }))
    const example = examples.find((one) => one.name === name)
    const response = await chat({ ...question, ...example?.fields })
    const text = await response.text()
    expect(upstream.requests, text).toHaveLength(1)
    expect(example?.choice === undefined).toBe(answer === undefined)
    if (answer) expect(JSON.parse(text)).toMatchObject({ choices: [example?.choice] })
    expect(upstream.body(0)).toEqual(expected.body)
    expect(upstream.requests[0]?.headers).toMatchObject(expected.headers ?? {})
  })
})

const question = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }

interface Example {
  /** The heading of its section. */
  readonly name: string
  readonly fields: object
  /** The choice that comes back, where the section shows one. */
  readonly choice: object | undefined
}

function listExamples(kind: string): Example[] {
  const page = readText(`../../docs/providers/${kind}.md`)
  const [, section = ''] = /^## Vendor fields$([^]*?)^## /m.exec(page) ?? []
  return section
    .split(/^### /m)
    .slice(1)
    .map((text) => {
      const blocks = [...text.matchAll(/^```json\n([^]*?)^```$/gm)]
      // The pages show objects.
      const [fields = {}, choice] = blocks.map(([, block = '']) => JSON.parse(block) as object)
      return { name: text.split('\n')[0] ?? '', fields, choice }
    })
}

function readText(path: string): string {
  return readFileSync(new URL(path, import.meta.url), 'utf8')
}

/** A strict provider, which drops nothing. */
function gatewayOf(kind: Kind, upstreamId: string) {
  return testGateway(`
[[providers]]
name = "p"
kind = "${kind}"
api_key_env = "P_KEY"
strict = true
${settings[kind]}
[[providers.models]]
id = "m"
upstream_id = "${upstreamId}"
modalities = ["text", "image"]
`)
}
