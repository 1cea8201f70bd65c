import assert from 'node:assert/strict'
import { validateHeaderValue } from 'node:http'
import { parseContentCoding, undecodableFailure } from '../../../src/wire/content-coding.ts'
import { isDataUri, parseDataUri, parseDataUriType } from '../../../src/wire/data-uri.ts'
import { findHeaderTextProblem } from '../../../src/wire/header-text.ts'
import { parseRetryAfter } from '../../../src/wire/retry-after.ts'
import { countUtf8Bytes } from '../../../src/wire/utf8.ts'
import { type FuzzTarget, textTarget } from '../target.ts'

/** The parts of a data URI make up the same URI again. */
export const dataUri = textTarget({
  seeds: ['data:image/png;base64,AAAA', 'DATA:image/PNG;charset=x;BASE64,AA AA', 'data:;base64,A'],
  words: ['data:', ';base64', ';base64,', ',', ';', 'image/png', ' ', '\n', '%20', '\u00a0'],
  check(text) {
    const uri = parseDataUri(text)
    const type = parseDataUriType(text)
    if (uri || type !== undefined) assert.ok(isDataUri(text))
    if (!uri) return
    assert.equal(uri.mediaType, type)
    assert.doesNotMatch(uri.payload, /\s/)
    assert.notEqual(uri.payload, '')
    assert.deepEqual(parseDataUri(`data:${uri.mediaType};base64,${uri.payload}`), uri)
  },
})

/** A text without a problem is a value that HTTP clients send unchanged. */
export const headerText = textTarget({
  seeds: ['sk-abc', 'a b\tc', 'é', 'ł', 'a\r\nb: c'],
  words: ['\r\n', '\0', '\u007f', '\u0085', '\u0100', '\ud800', ' '],
  check(text) {
    const problem = findHeaderTextProblem(text)
    if (problem !== undefined) return assert.match(problem, /^it contains a .*character/)
    validateHeaderValue('x', text)
    assert.equal(new Headers({ x: `[${text}]` }).get('x'), `[${text}]`)
  },
})

/** A wait is a finite number of milliseconds, and a date is that of `Date`. */
export const retryAfter = textTarget({
  seeds: ['1', '0.5', 'Wed, 21 Oct 2026 07:28:00 GMT', '2026-10-21T07:28:00Z', '-1', '1e3'],
  words: ['GMT', '0', '999999999999', '.', 'Oct', ' ', '+', ':', '-'],
  check(text) {
    for (const name of ['retry-after', 'retry-after-ms']) {
      const wait = parseRetryAfter(
        (header) => (header === name ? text : undefined),
        1_750_000_000_000,
      )
      if (wait === undefined) continue
      assert.ok(Number.isFinite(wait) && wait >= 0, `${wait}`)
      const factor = name === 'retry-after' ? 1000 : 1
      const value = text.trim()
      const isDigits = /^\d+$/.test(value)
      const expected = isDigits ? Number(value) * factor : undefined
      if (expected !== undefined) assert.equal(wait, expected)
    }
  },
})

/** A coding has one spelling, and its failure quotes only the beginning. */
export const contentCoding = textTarget({
  seeds: ['gzip', ' GZip ', 'identity', 'gzip, br', ''],
  words: ['identity', 'gzip', ',', ' ', 'İ', '\u0000'],
  check(text) {
    const coding = parseContentCoding(text)
    if (coding === undefined) return
    assert.equal(parseContentCoding(coding), coding)
    const failure = undecodableFailure(coding)
    assert.ok(failure.kind === 'malformed' && failure.detail.length < 450)
  },
})

/** A text has as many bytes as its encoding, lone surrogates included. */
export const utf8: FuzzTarget = {
  seeds: ['a\0é\0', '\u003d\u00d8\u0006\u00de'],
  words: ['\u0000', '\u00d8', '\u00dc', '\u0007\u0008'],
  check(input) {
    const text = Buffer.from(input).toString('utf16le')
    assert.equal(countUtf8Bytes(text), Buffer.byteLength(text))
  },
}
