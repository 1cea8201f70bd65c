import assert from 'node:assert/strict'
import { SealError, Sealer } from '../../../src/wire/seal.ts'
import { textTarget } from '../target.ts'

const sealer = Sealer.create(new Uint8Array(32).fill(7))
const label = { purpose: 'provider key', name: 'p' }

/** A text opens as it was sealed; any other text, and one that was altered, is refused. */
export const seal = textTarget({
  seeds: ['v1.00', 'sk-secret', `v1.${'00'.repeat(28)}`, ''],
  words: ['v1.', 'v2.', '0', 'ff', 'FF', '\n', '\uFEFF'],
  async check(text) {
    const own = await sealer
    await assert.rejects(own.open(label, text), SealError)
    const sealed = await own.seal(label, text)
    assert.equal(await own.open(label, sealed), text)
    const at = text.length % sealed.length
    const altered = sealed.slice(0, at) + (sealed[at] === '0' ? '1' : '0') + sealed.slice(at + 1)
    await assert.rejects(own.open(label, altered), SealError)
  },
})
