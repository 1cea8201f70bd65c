import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  joinToolName,
  splitToolName,
  type ToolName,
  toolSearchName,
} from '../../../src/doors/responses/tool-names.ts'

/** Names of few characters, so that many pairs join to the same text. */
const word = fc.string({
  unit: fc.constantFrom('a', '_', '__', '___', '-', 'é'),
  minLength: 1,
  maxLength: 40,
})
const toolName = fc.record({ namespace: fc.option(word, { nil: undefined }), name: word })

test('every name is 1 to 64 letters, digits, underscores and hyphens', () => {
  fc.assert(fc.property(toolName, (tool) => /^[\w-]{1,64}$/.test(joinToolName(tool))))
})

test('two tools never share a name', () => {
  fc.assert(
    fc.property(fc.uniqueArray(toolName, { maxLength: 200, selector: key }), (tools) => {
      const names = tools.map(joinToolName)
      expect(new Set(names).size).toBe(names.length)
      expect(names).not.toContain(toolSearchName)
    }),
  )
})

test('a joined name that is not hashed is split into its parts', () => {
  fc.assert(
    fc.property(toolName, (tool) => {
      const name = joinToolName(tool)
      if (!/_{4}[0-9a-f]{10}$/.test(name)) expect(splitToolName(name)).toEqual(tool)
    }),
  )
})

test.each<[ToolName, string]>([
  [{ namespace: undefined, name: 'a__b__c' }, 'a__b__c'],
  [{ namespace: 'a', name: 'b__c' }, 'a___b__c'],
  [{ namespace: 'a__b', name: 'c' }, 'a__b___c'],
  [{ namespace: 'multi_agent_v1', name: 'close_agent' }, 'multi_agent_v1___close_agent'],
  [{ namespace: undefined, name: 'tool_search' }, 'tool_search'],
])('%o is %s', (tool, name) => {
  expect(joinToolName(tool)).toBe(name)
})

test.each<ToolName>([
  { namespace: undefined, name: 'a___b' },
  { namespace: undefined, name: toolSearchName },
  { namespace: undefined, name: 'with space' },
  { namespace: 'mcp__a_long_server_name', name: 'a_long_name_of_a_tool_that_needs_a_hash' },
])('%o is hashed, always in the same way', (tool) => {
  const name = joinToolName(tool)
  expect(name).toMatch(/^[\w-]+_{4}[0-9a-f]{10}$/)
  expect(joinToolName({ ...tool })).toBe(name)
})

function key({ namespace, name }: ToolName): string {
  return JSON.stringify([namespace ?? null, name])
}
