import assert from 'node:assert/strict'
import { readJsonBody } from '../../../src/wire/json/body.ts'
import { readCanonicalMembers, writeCanonicalObject } from '../../../src/wire/json/canonical.ts'
import { isObject, tryParseJson } from '../../../src/wire/json/parse.ts'
import { scanLayout } from '../../../src/wire/json/scan.ts'
import { setMember, splice } from '../../../src/wire/json/splice.ts'
import { parseInSteps, strictUtf8 } from '../../../src/wire/json/steps.ts'
import { extractTexts, minifyJson } from '../../../src/wire/json/text.ts'
import { openSlice } from '../../support/open-slice.ts'
import { type FuzzTarget, textTarget } from '../target.ts'
import { isInvalidRequest } from './faults.ts'

const shared = {
  seeds: [
    '{"model":"m","stream":true,"messages":[{"role":"user","content":"a\\"b"}]}',
    '{ "mod\\u0065l" : [1, -2.5e3, {"a": null}] , "model":"x", "MODEL":{} }',
    '{"__proto__":{"model":[[]]},"n":[true,false,null,"\\ud83e"]}',
    '{}',
  ],
  words: [
    '"model"',
    '"Model"',
    '"mod\\u0065l"',
    '"\\u212A"',
    '"ſtream"',
    '"stream"',
    '"__proto__"',
    '"a":',
    '":',
    '\\"',
    '\\\\',
    '\\u00',
    '{}',
    '[]',
    '[1,',
    ',,',
    'true',
    'null',
    '1e400',
    '-0.0',
    ' ',
    '\n',
    '\uFEFF',
  ],
}

/** The located members are those of `JSON.parse`, and a splice changes only its member. */
export const jsonScan: FuzzTarget = {
  ...shared,
  check(input) {
    const names = ['model', 'stream', 'stream_options'] as const
    const layout = scanLayout(input, names)
    const value = parse(input)
    if (!isObject(value)) return
    assert.equal(layout.isEmpty, Object.keys(value).length === 0)
    // A member that a later one replaces counts too.
    assert.ok(layout.depth >= measureDepth(value))
    for (const name of names) {
      const last = layout.spans[name].at(-1)
      assert.equal(last !== undefined, Object.hasOwn(value, name))
      if (last) assert.deepEqual(parse(input.subarray(last.start, last.end)), value[name])
      const others: string[] = Object.keys(value).filter(
        (key) => key !== name && foldCase(key) === name,
      )
      assert.equal(layout.misspelled.includes(name), others.length > 0)
      const changed = splice(input, setMember(layout, name, '"changed"'))
      assert.deepEqual(parse(changed), { ...value, [name]: 'changed' })
      assert.equal(
        splice(
          input,
          layout.spans[name].map((span) => unchanged(input, span)),
        ),
        input,
      )
    }
  },
}

function unchanged(input: Uint8Array, span: { readonly start: number; readonly end: number }) {
  return { span, json: input.slice(span.start, span.end) }
}

/** A text parsed in steps has the value, or the error, of the whole text. */
export const jsonSteps: FuzzTarget = {
  ...shared,
  async check(input) {
    const stepBytes = ((input.at(-1) ?? 0) % 16) + 1
    const bytes = input.slice(0, -1)
    const { cuts } = scanLayout(bytes, [], { stepBytes })
    const value = await parseInSteps(bytes, cuts, { pause: async () => {} }).catch(
      (error: unknown) => {
        assert.ok(error instanceof SyntaxError || error instanceof TypeError)
        return undefined
      },
    )
    assert.equal(JSON.stringify(value), JSON.stringify(parse(bytes)))
  },
}

/** A body is the value of `JSON.parse`, or LM-1001. */
export const jsonBody: FuzzTarget = {
  ...shared,
  async check(input) {
    const options = { names: ['model'], unique: ['model'], timeSlice: openSlice() } as const
    const value = parse(input)
    try {
      const body = await readJsonBody(input, options)
      assert.deepEqual(body.value, value)
    } catch (error) {
      if (!isInvalidRequest(error)) throw error
      // The rest are objects that are ambiguous or too large.
      if (isObject(value)) assert.match(String(error), /only once|nested deeper|holds more than/)
    }
  },
}

/** The extracted texts are the values of `JSON.parse`, and minified JSON has the same value. */
export const jsonText = textTarget({
  ...shared,
  check(text) {
    const value = tryParseJson(text)
    if (value === undefined) return
    const compact = minifyJson(text)
    assert.equal(JSON.stringify(JSON.parse(compact)), JSON.stringify(value))
    assert.equal(minifyJson(compact), compact)
    for (const pattern of ['model', 'a.*.model', 'messages.*.content']) {
      const found = Array.from(extractTexts(text, pattern), ([path, part]) => [
        path,
        JSON.stringify(JSON.parse(part)),
      ])
      assert.deepEqual(found.sort(), listValues(value, pattern.split('.')).sort())
    }
  },
})

/** Canonical JSON has the same value, is the same for any notation, and stays as it is. */
export const canonicalJson = textTarget({
  ...shared,
  async check(text) {
    const value = tryParseJson(text)
    if (!isObject(value) || measureDepth(value) > 128) return
    const canonical = writeCanonicalObject(await readCanonicalMembers(text, openSlice()))
    assert.deepEqual(JSON.parse(canonical), value)
    const again = writeCanonicalObject(await readCanonicalMembers(canonical, openSlice()))
    assert.equal(again, canonical)
  },
})

/** Some parsers take the long s for an s. */
function foldCase(key: string): string {
  return key.toLowerCase().replaceAll('ſ', 's')
}

/** Returns undefined for what is not JSON in UTF-8; no JSON text parses to undefined. */
function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(strictUtf8.decode(bytes))
  } catch {
    return undefined
  }
}

function measureDepth(value: unknown): number {
  let depth = 0
  for (let level = listContainers([value]); level.length > 0; depth++) {
    level = level.flatMap((container) => listContainers(Object.values(container)))
  }
  return depth
}

function listContainers(values: readonly unknown[]): object[] {
  return values.filter((value) => typeof value === 'object' && value !== null)
}

function listValues(value: unknown, [step, ...rest]: readonly string[], path = ''): string[][] {
  if (step === undefined) return [[path, JSON.stringify(value)]]
  const join = (key: string | number) => (path === '' ? `${key}` : `${path}.${key}`)
  if (step === '*') {
    return Array.isArray(value)
      ? value.flatMap((item, index) => listValues(item, rest, join(index)))
      : []
  }
  return isObject(value) && Object.hasOwn(value, step)
    ? listValues(value[step], rest, join(step))
    : []
}
