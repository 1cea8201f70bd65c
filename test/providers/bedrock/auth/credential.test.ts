import { describe, expect, test } from 'vitest'
import {
  readAmbientSecret,
  readAwsSecret,
} from '../../../../src/providers/bedrock/auth/credential.ts'
import { readError, testGateway } from '../../../support/gateway.ts'
import { json } from '../../../support/scripted-upstream.ts'
import { answered, asking, bedrockGateway, waitForAnswer } from '../support.ts'

const id = 'AKIDEXAMPLE1234567'.replace('AKID', 'AKIA')
const key = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY'

describe('a secret', () => {
  const pair = { kind: 'access-key', id, secret: key }

  test.each([
    ['two halves', `${id}:${key}`, pair],
    ['three parts', `${id}:${key}:tok/en+=`, { ...pair, sessionToken: 'tok/en+=' }],
    ['a temporary id', `ASIA1234567890123456:${key}:t`, { id: 'ASIA1234567890123456' }],
    ['blanks around it', ` ${id}:${key}\n`, pair],
    [
      'JSON with the gateway’s member names',
      JSON.stringify({ access_key_id: 'test', secret_access_key: 'test', region: 'eu-west-3' }),
      { kind: 'access-key', id: 'test', secret: 'test', region: 'eu-west-3' },
    ],
    [
      'JSON as the AWS command line writes it',
      JSON.stringify({ Version: 1, AccessKeyId: id, SecretAccessKey: key, SessionToken: 't' }),
      { ...pair, sessionToken: 't' },
    ],
    ['JSON with an API key', '{"api_key":"k"}', { kind: 'api-key', key: 'k' }],
    ['a long-term API key', 'ABSKQmVkcm9ja0FQSUtleQ==', { kind: 'api-key' }],
    ['a short-term API key', 'bedrock-api-key-YmVk:x', { kind: 'api-key' }],
    ['any other text', 'anything', { kind: 'api-key', key: 'anything' }],
    ['broken JSON', '{"access_key_id":', { kind: 'unusable' }],
    ['JSON with half a key', JSON.stringify({ access_key_id: id }), { kind: 'unusable' }],
    ['JSON with numbers', JSON.stringify({ api_key: 7 }), { kind: 'unusable' }],
    ['an id alone', id, { kind: 'unusable' }],
  ])('a secret of %s is read', (_, secret, expected) => {
    expect(readAwsSecret(secret, {})).toMatchObject(expected)
  })

  test('the secret for an access key id alone is read from the environment', () => {
    const env = { AWS_SECRET_ACCESS_KEY: key, AWS_SESSION_TOKEN: 't' }
    expect(readAwsSecret(id, env)).toEqual({ ...pair, sessionToken: 't' })
    expect(readAwsSecret(id, { ...env, AWS_SESSION_TOKEN: '' })).toEqual(pair)
  })
})

describe('the environment', () => {
  const pair = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: key }

  test.each([
    ['nothing', {}, undefined],
    ['half a pair', { AWS_ACCESS_KEY_ID: 'test' }, undefined],
    ['empty values', { ...pair, AWS_SECRET_ACCESS_KEY: '' }, undefined],
    ['a pair', pair, { kind: 'access-key', id: 'test', secret: key, sessionToken: undefined }],
    ['a triple', { ...pair, AWS_SESSION_TOKEN: 't' }, { sessionToken: 't' }],
    ['an API key', { AWS_BEARER_TOKEN_BEDROCK: 'k' }, { kind: 'api-key', key: 'k' }],
    ['both', { ...pair, AWS_BEARER_TOKEN_BEDROCK: 'k' }, { kind: 'api-key', key: 'k' }],
  ])('an environment with %s is read', (_, env, expected) => {
    const secret = readAmbientSecret(env)
    if (expected === undefined) expect(secret).toBeUndefined()
    else expect(readAwsSecret(secret ?? '', env)).toMatchObject(expected)
  })

  test('a provider without api_key_env uses the environment', async () => {
    const config = '[[providers]]\nname = "p"\nkind = "bedrock"\n[[providers.models]]\nid = "m"'
    const { chat, upstream } = await testGateway(config, {
      env: { AWS_BEARER_TOKEN_BEDROCK: 'ambient-key', AWS_REGION: 'eu-north-1' },
    })
    upstream.next(json(answered([{ text: 'Hi' }])))
    expect((await chat(asking())).status).toBe(200)
    expect(upstream.requests[0]).toMatchObject({
      url: 'https://bedrock-runtime.eu-north-1.amazonaws.com/model/m/converse',
      headers: { authorization: 'Bearer ambient-key' },
    })
  })
})

describe('an unusable credential', () => {
  test.each([
    ['half a key', id, /an access key id alone needs AWS_SECRET_ACCESS_KEY$/],
    ['broken JSON', '{"a":', /it starts with \{ but is not a valid JSON object$/],
  ])('%s fails the request without a call, and is not shown', async (_, secret, why) => {
    const gateway = await bedrockGateway({ secret })
    const response = await waitForAnswer(gateway, gateway.chat(asking()))
    expect(response.status).toBe(502)
    const { code, message } = await readError(response)
    expect(code).toBe('LM-3006')
    expect(message).toMatch(why)
    expect(message).not.toContain(secret)
    expect(gateway.upstream.requests).toEqual([])
  })
})
