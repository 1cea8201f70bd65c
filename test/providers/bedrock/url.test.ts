import { describe, expect, test } from 'vitest'
import { json, whole } from '../../support/scripted-upstream.ts'
import { answered, asking, bedrockGateway, type Setup, streamed } from './support.ts'

const base = (url: string) => ({ settings: `base_url = "${url}"` })
const west = { env: { AWS_REGION: 'us-west-2', AWS_DEFAULT_REGION: 'us-east-2' } }
const arn = 'arn:aws:bedrock:eu-central-1:123456789012:inference-profile/eu.amazon.nova-pro-v1:0'
const aws = 'https://bedrock-runtime.'

/** Returns the upstream address without the path of the model. */
async function readAddress(setup: Setup): Promise<string> {
  const { chat, upstream } = await bedrockGateway(setup)
  upstream.next(json(answered([{ text: 'Hi' }])))
  expect((await chat(asking())).status).toBe(200)
  return upstream.requests[0]?.url.replace(/\/model\/.*/, '') ?? ''
}

test.each([
  ['the default region', {}, `${aws}us-east-1.amazonaws.com`],
  ['AWS_REGION', west, `${aws}us-west-2.amazonaws.com`],
  [
    'AWS_DEFAULT_REGION',
    { env: { AWS_DEFAULT_REGION: 'us-east-2' } },
    `${aws}us-east-2.amazonaws.com`,
  ],
  [
    'the default region if AWS_REGION is not a region',
    { env: { AWS_REGION: 'evil.test/' } },
    `${aws}us-east-1.amazonaws.com`,
  ],
  [
    'the credential',
    { ...west, secret: '{"api_key":"k","region":"ap-south-1"}' },
    `${aws}ap-south-1.amazonaws.com`,
  ],
  ['the ARN of the model', { ...west, upstreamId: arn }, `${aws}eu-central-1.amazonaws.com`],
  [
    'base_url, if it is a region',
    { ...west, upstreamId: arn, ...base('sa-east-1') },
    `${aws}sa-east-1.amazonaws.com`,
  ],
  ['a region in China', base('cn-north-1'), `${aws}cn-north-1.amazonaws.com.cn`],
  ['a sovereign region', base('eusc-de-east-1'), `${aws}eusc-de-east-1.amazonaws.eu`],
  [
    'base_url, if it is an address',
    base('https://bedrock-runtime-fips.us-gov-west-1.amazonaws.com/'),
    'https://bedrock-runtime-fips.us-gov-west-1.amazonaws.com',
  ],
  ['base_url of a proxy', base('http://localhost:4566/aws/#x'), 'http://localhost:4566/aws'],
])('the address follows from %s', async (_, setup, address) => {
  expect(await readAddress(setup)).toBe(address)
})

test.each([
  ['amazon.nova-lite-v1:0', 'amazon.nova-lite-v1%3A0'],
  ['amazon.nova-lite-v1%3A0', 'amazon.nova-lite-v1%3A0'],
  ['arn:aws:bedrock:x:1:a/b', 'arn%3Aaws%3Abedrock%3Ax%3A1%3Aa%2Fb'],
  ["it's (a) model!~._-", 'it%27s%20%28a%29%20model%21~._-'],
  ['100%', '100%25'],
])('the model id %s is encoded once', async (upstreamId, segment) => {
  const gateway = await bedrockGateway({ upstreamId, ...base('https://proxy.test') })
  gateway.upstream.next(json(answered([{ text: 'Hi' }])), streamed([]))
  await gateway.chat(asking())
  expect(gateway.upstream.requests[0]?.url).toBe(`https://proxy.test/model/${segment}/converse`)
})

test.each([
  ['eu-west-1', `${aws}eu-west-1.amazonaws.com/`],
  ['http://localhost:4566/aws', 'http://localhost:4566/'],
])('a provider at %s is probed without its credential', async (url, probed) => {
  const more = '[resilience]\nhealth_check_enabled = true'
  const { clock, gateway, upstream } = await bedrockGateway({ ...base(url), more })
  upstream.always(whole('', { status: 403 }))
  await clock.advance(0)
  expect(upstream.requests[0]).toMatchObject({ method: 'GET', url: probed })
  expect(upstream.requests[0]?.headers).not.toHaveProperty('authorization')
  await gateway.close()
})

describe('the region of an address', () => {
  const accessKey = 'AKIAIOSFODNN7EXAMPLE:wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY'
  const readScope = async (setup: Setup) => {
    const { chat, upstream } = await bedrockGateway({ secret: accessKey, ...setup })
    upstream.next(json(answered([{ text: 'Hi' }])))
    await chat(asking())
    const { authorization = '' } = upstream.requests[0]?.headers ?? {}
    return authorization.match(/Credential=[^/]+\/\d+\/([^/]+)\//)?.[1]
  }

  test.each([
    ['https://bedrock-runtime.internal.example.com', 'eu-west-1'],
    ['https://bedrock-runtime.us-gov-west-1.amazonaws.com', 'us-gov-west-1'],
    ['https://vpce-1-2.bedrock-runtime.ap-south-2.vpce.amazonaws.com', 'ap-south-2'],
  ])('requests to %s are signed for %s', async (url, region) => {
    expect(await readScope({ ...base(url), env: { AWS_REGION: 'eu-west-1' } })).toBe(region)
  })
})

describe('the warning about a missing region', () => {
  const accessKey = 'AKIAIOSFODNN7EXAMPLE:wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY'
  const rule = 'provider p: no region in base_url, an ARN, the credential or AWS_REGION: requests'
  const both = `${rule} go to us-east-1 and are signed for us-east-1`
  const proxy = base('https://bedrock-runtime.internal.example.com')
  const privateArn = 'arn:aws:bedrock:eu-central-1:1:inference-profile/x'
  const withRegion = JSON.stringify({ api_key: 'k', region: 'ap-south-1' })

  test.each<[string, Setup, readonly string[]]>([
    ['an API key', {}, [`${rule} go to us-east-1`]],
    ['an access key', { secret: accessKey }, [both]],
    [
      'an access key and an address',
      { secret: accessKey, ...proxy },
      [`${rule} are signed for us-east-1`],
    ],
    ['an API key and an address', proxy, []],
    ['a region in base_url', base('eu-west-1'), []],
    ['a region in the environment', { env: { AWS_DEFAULT_REGION: 'eu-west-1' } }, []],
    ['a region in the ARN', { upstreamId: privateArn }, []],
    ['a region in the credential', { secret: withRegion }, []],
  ])('it is logged at start where it applies: %s', async (_, setup, warnings) => {
    const { log } = await bedrockGateway(setup)
    const found = log.filter(({ level }) => level === 'warn').map(({ message }) => message)
    expect(found).toEqual(warnings)
  })
})
