import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { kinds } from '../../src/providers/index.ts'
import { listProfileNames } from '../../src/providers/profiles/index.ts'

const page = readFileSync(new URL('../../docs/upstream-profiles.md', import.meta.url), 'utf8')

test('the page lists every profile that is not a kind', () => {
  const names = new Set(kinds.map(({ name }) => name))
  const [, listed = ''] = page.split('`profile = "NAME"`')
  const missing = listProfileNames().filter(
    (name) => !names.has(name) && name !== 'none' && !listed.includes(`\`${name}\``),
  )
  expect(missing).toEqual([])
})

test('the page lists every field of the table', () => {
  const schema = readFileSync(new URL('../../gateway.schema.json', import.meta.url), 'utf8')
  const { properties } = JSON.parse(schema) as Schema
  const { anyOf } = properties.providers.items.properties.profile
  const fields = anyOf.flatMap((form) => Object.keys(form.properties ?? {}))
  expect(fields).toContain('stream_end')
  expect(fields.filter((name) => !page.includes(`\`${name}\``))).toEqual([])
})

interface Schema {
  readonly properties: {
    readonly providers: {
      readonly items: { readonly properties: { readonly profile: { readonly anyOf: Form[] } } }
    }
  }
}

interface Form {
  readonly properties?: object
}
