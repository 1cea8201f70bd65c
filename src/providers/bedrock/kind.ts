import { UpstreamFault } from '../../core/failure.ts'
import type { StreamIdentity } from '../../core/frame.ts'
import { newCompletionId } from '../../core/ids.ts'
import type {
  Authorizer,
  ChatEndpoint,
  CredentialContext,
  DialectTarget,
  HeaderReader,
  ProviderKind,
} from '../../core/provider.ts'
import { unixSeconds } from '../../core/unix-seconds.ts'
import { memoizePerCall } from '../canonical/request.ts'
import { authorizeWithBearer } from '../shared/credentials.ts'
import { estimateTranslatedOutput } from '../shared/output-bound.ts'
import { probeRoot } from '../shared/probe.ts'
import { encodeJsonBody } from '../shared/request.ts'
import { converseAnswer } from './answer.ts'
import {
  ambientAwsSecret,
  awsSecretProblem,
  maskCredential,
  readAwsSecret,
} from './auth/credential.ts'
import { awsSignature } from './auth/signature.ts'
import { bedrockEmbed } from './embed.ts'
import { bedrockRefusal } from './errors.ts'
import { bedrockModel } from './models.ts'
import { converseRequest } from './request.ts'
import { bedrockRerank } from './rerank.ts'
import { ConverseStream } from './stream.ts'
import {
  bedrockBase,
  bedrockBaseUrl,
  bedrockRegion,
  bedrockUrl,
  hasAddress,
  modelIdIn,
  namedRegion,
} from './url.ts'

/** Amazon Bedrock, through Converse, which speaks to all of its models alike. */
export const bedrock: ProviderKind = Object.freeze({
  name: 'bedrock',
  capabilities: ['chat', 'embed', 'rerank'],
  defaultBaseUrl: bedrockBaseUrl,
  acceptsRegion: true,
  canFetchImages: false,
  createAuthorizer: authorizer,
  checkSecret: awsSecretProblem,
  findAmbientSecret: ambientAwsSecret,
  findWarning: regionWarning,
  chat: bedrockChat,
  embed: bedrockEmbed,
  rerank: bedrockRerank,
  // An address of the file is probed, and that is a URL or a region.
  probe: (baseUrl) => probeRoot(bedrockBase(baseUrl, baseUrl)),
} satisfies ProviderKind)

const eventStream = 'application/vnd.amazon.eventstream'

function bedrockChat(target: DialectTarget): ChatEndpoint {
  const { baseUrl, upstreamId, modelId, maxOutputTokens: most, clock, env, secret } = target
  const model = bedrockModel(upstreamId, modelId)
  const credential = readAwsSecret(secret ?? '', env)
  const place = { baseUrl, modelId: upstreamId, credentialRegion: credential.region, env }
  const wholeUrl = bedrockUrl(place, 'converse')
  const streamUrl = bedrockUrl(place, 'converse-stream')
  const translate = memoizePerCall((call) => converseRequest(call, { model, most }))
  const mask = (text: string) => maskCredential(text, credential)
  const identity = (header: HeaderReader): StreamIdentity => {
    const requestId = header('x-amzn-requestid')
    return {
      id: requestId ? `chatcmpl-${requestId}` : newCompletionId(),
      created: unixSeconds(clock),
      model: modelId,
    }
  }
  return {
    listUnsupported: (call) => translate(call).dropped,
    buildRequest: (call) => ({
      url: call.stream ? streamUrl : wholeUrl,
      headers: {
        'content-type': 'application/json',
        accept: call.stream ? eventStream : 'application/json',
      },
      body: encodeJsonBody(translate(call).body),
    }),
    estimateOutput: (call) =>
      estimateTranslatedOutput(call, {
        sentBound: translate(call).maxTokens,
        maxOutputTokens: most,
      }),
    parseAnswer: (body, _, header) => converseAnswer(body, identity(header)),
    createDecoder: (_, header) => new ConverseStream({ identity: identity(header), mask }),
    streamType: eventStream,
    parseError: (status, body, header) => bedrockRefusal(status, mask(body), header),
    isDoneOptional: false,
  }
}

/** A region that is guessed is wrong for most accounts, and AWS answers with an error about the key. */
function regionWarning({ baseUrl, upstreamId, env, secret }: DialectTarget): string | undefined {
  const credential = readAwsSecret(secret ?? '', env)
  const place = { baseUrl, modelId: upstreamId, credentialRegion: credential.region, env }
  if (namedRegion(place) !== undefined) return undefined
  const region = bedrockRegion(place)
  const uses = hasAddress(place) ? [] : [`go to ${region}`]
  if (credential.kind === 'access-key') uses.push(`are signed for ${region}`)
  if (uses.length === 0) return undefined
  return `no region is named in base_url, an ARN, the credential or AWS_REGION: requests ${uses.join(' and ')}`
}

/** API keys as they are; access keys by a signature of each request, which holds for five minutes. */
function authorizer(context: CredentialContext): Authorizer {
  const { baseUrl, clock, env } = context
  const credential = readAwsSecret(context.secret, env)
  switch (credential.kind) {
    case 'api-key':
      return authorizeWithBearer({ ...context, secret: credential.key })
    case 'access-key':
      return (request) =>
        awsSignature(request, {
          credential,
          region: bedrockRegion({
            baseUrl,
            modelId: modelIdIn(request.url),
            credentialRegion: credential.region,
            env,
          }),
          // Not the `bedrock-runtime` of the address.
          service: 'bedrock',
          now: clock.now(),
        })
    case 'unusable':
      return () => {
        const message = `the AWS credential is unusable: ${credential.reason}`
        throw new UpstreamFault({ kind: 'no-credential', message })
      }
    default:
      return credential satisfies never
  }
}
