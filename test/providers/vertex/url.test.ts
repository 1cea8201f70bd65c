import { describe, expect, test } from 'vitest'
import { vertexModelUrl, vertexProbe } from '../../../src/providers/vertex/url.ts'
import { serviceAccount } from './support.ts'

interface Place {
  readonly baseUrl: string
  readonly upstreamId?: string
  readonly secret?: string | undefined
  readonly env?: Readonly<Record<string, string>>
}

/** The address of a model, `m` by default. The default `secret` is a service account. */
function addressOf(place: Place): string | { readonly problem: string } {
  const url = vertexModelUrl({ upstreamId: 'm', secret: account, env: {}, ...place })
  return url instanceof URL ? url.href : url
}

const account = JSON.stringify(serviceAccount)
const full = 'https://us-central1-aiplatform.googleapis.com/v1/projects/p/locations/us-central1'

describe('a full base_url', () => {
  test.each([
    [full, full],
    ['with a trailing slash', `${full}/`],
    ['with a publisher', `${full}/publishers/google`],
    ['with a publisher and a slash', `${full}/publishers/google/`],
    ['with a method at its end', `${full}/publishers/google/models/x:generateContent`],
    ['without a version', full.replace('/v1', '')],
    ['with a fragment', `${full}#x`],
  ])('a full base_url %s gives the model address', (_, baseUrl) => {
    expect(addressOf({ baseUrl })).toBe(`${full}/publishers/google/models/m`)
  })

  test('a full base_url keeps its version, its query and its path prefix', () => {
    expect(addressOf({ baseUrl: 'http://127.0.0.1:9/a/v1beta1/projects/p/locations/l?k=1' })).toBe(
      'http://127.0.0.1:9/a/v1beta1/projects/p/locations/l/publishers/google/models/m?k=1',
    )
  })

  test('a base_url with a path prefix gets the version after it', () => {
    expect(addressOf({ baseUrl: 'https://proxy.test/vertex/projects/p/locations/l' })).toBe(
      'https://proxy.test/vertex/v1/projects/p/locations/l/publishers/google/models/m',
    )
  })

  test('the project of base_url takes precedence over that of the service account', () => {
    const env = { GOOGLE_CLOUD_PROJECT: 'env-proj' }
    expect(addressOf({ baseUrl: full, env })).toContain('/projects/p/')
  })

  test('a full base_url needs no credential', () => {
    expect(addressOf({ baseUrl: full, secret: undefined })).toContain('/projects/p/')
    expect(addressOf({ baseUrl: full, secret: '{' })).toContain('/projects/p/')
    expect(addressOf({ baseUrl: full, secret: 'AIzaTest' })).toContain('/projects/p/')
  })
})

describe('base_url as a host or as a location', () => {
  test.each([
    ['https://europe-west4-aiplatform.googleapis.com', 'europe-west4'],
    ['https://europe-west4-aiplatform.googleapis.com/v1/', 'europe-west4'],
    ['https://aiplatform.googleapis.com', 'global'],
    ['https://aiplatform.us.rep.googleapis.com', 'us'],
    ['https://aiplatform.eu.rep.googleapis.com', 'eu'],
  ])('base_url %s takes its location from the host', (baseUrl, location) => {
    expect(addressOf({ baseUrl })).toBe(
      `${new URL(baseUrl).origin}/v1/projects/sa-proj/locations/${location}/publishers/google/models/m`,
    )
  })

  test.each([
    ['us-central1', 'us-central1-aiplatform.googleapis.com'],
    ['global', 'aiplatform.googleapis.com'],
    ['us', 'aiplatform.us.rep.googleapis.com'],
    ['eu', 'aiplatform.eu.rep.googleapis.com'],
  ])('base_url %s gives the host of the location', (baseUrl, host) => {
    expect(addressOf({ baseUrl })).toBe(
      `https://${host}/v1/projects/sa-proj/locations/${baseUrl}/publishers/google/models/m`,
    )
    expect(vertexProbe(baseUrl)).toEqual({ url: `https://${host}/`, expects: 'answer' })
  })

  test.each([
    ['a token', 'ya29.test'],
    ['a path', '/run/sa.json'],
    ['no credential', undefined],
    ['an account without a project', JSON.stringify({ ...serviceAccount, project_id: '' })],
  ])('with %s the project comes from the environment', (_, secret) => {
    const env = { GOOGLE_CLOUD_PROJECT: 'env-proj' }
    expect(addressOf({ baseUrl: 'global', secret, env })).toBe(
      'https://aiplatform.googleapis.com/v1/projects/env-proj/locations/global/publishers/google/models/m',
    )
  })

  test('the project of the account takes precedence over that of the environment', () => {
    const env = { GOOGLE_CLOUD_PROJECT: 'env-proj' }
    expect(addressOf({ baseUrl: 'global', env })).toContain('/projects/sa-proj/')
  })

  test.each([
    ['no project', { baseUrl: 'global', secret: 'ya29.test' }, /^its project is unknown; set/],
    ['no location', { baseUrl: 'https://proxy.test' }, /^its location is unknown; set/],
    [
      'no usable secret',
      { baseUrl: 'global', secret: '{' },
      /^the credentials are not valid JSON$/,
    ],
  ])('%s is an address problem', (_, place, problem) => {
    expect(addressOf(place)).toEqual({ problem: expect.stringMatching(problem) })
  })
})

describe('express mode', () => {
  const express = 'https://aiplatform.googleapis.com/v1/publishers/google/models/m'

  test.each([
    'https://aiplatform.googleapis.com/v1/publishers/google',
    'https://aiplatform.googleapis.com/publishers/google/',
    'https://aiplatform.googleapis.com',
    'global',
  ])('express mode with an API key has no project at %s', (baseUrl) => {
    expect(addressOf({ baseUrl, secret: 'AIzaTest' })).toBe(express)
  })
})

describe('the name of a model', () => {
  const root = 'projects/p/locations/us-central1'

  test.each([
    ['gemini-2.5-flash', `${root}/publishers/google/models/gemini-2.5-flash`],
    ['multimodalembedding@001', `${root}/publishers/google/models/multimodalembedding@001`],
    ['models/gemini-2.5-flash', `${root}/publishers/google/models/gemini-2.5-flash`],
    ['meta/llama-4', `${root}/publishers/meta/models/llama-4`],
    ['publishers/google/models/x', `${root}/publishers/google/models/x`],
    ['1234567890', `${root}/endpoints/1234567890`],
    ['endpoints/tuned', `${root}/endpoints/tuned`],
    ['projects/q/locations/l/endpoints/7', 'projects/q/locations/l/endpoints/7'],
  ])('the upstream id %s gives its path', (upstreamId, path) => {
    const address = `https://us-central1-aiplatform.googleapis.com/v1/${path}`
    expect(addressOf({ baseUrl: full, upstreamId })).toBe(address)
    expect(addressOf({ baseUrl: `${full}/publishers/google`, upstreamId })).toBe(address)
  })
})
