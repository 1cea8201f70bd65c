import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { RecentMap } from '../../src/wire/recent-map.ts'

test('it holds what a list holds that moves each used key to its end', () => {
  const action = fc.record({
    kind: fc.constantFrom('get', 'set', 'delete'),
    key: fc.integer({ min: 0, max: 9 }),
    value: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
      const map = new RecentMap<number, { isIdle: boolean }>({
        max: 4,
        isIdle: ({ isIdle }) => isIdle,
      })
      let model: [key: number, isIdle: boolean][] = []
      for (const { kind, key, value } of actions) {
        const known = model.find(([one]) => one === key)
        if (kind === 'get') {
          expect(map.get(key)?.isIdle).toBe(known?.[1])
          if (known) model = [...model.filter((one) => one !== known), known]
          continue
        }
        model = model.filter((one) => one !== known)
        if (kind === 'delete') {
          map.delete(key)
          continue
        }
        const dropped = model.find(([, isIdle]) => isIdle) ?? model[0]
        if (model.length === 4) model = model.filter((one) => one !== dropped)
        model.push([key, value])
        map.set(key, { isIdle: value })
      }
      expect(Array.from(map, ([key, { isIdle }]) => [key, isIdle])).toEqual(model)
    }),
  )
})
